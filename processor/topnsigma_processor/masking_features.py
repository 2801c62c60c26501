"""Which features of a request put -inf into its logits before top-nσ sees them."""

import math
from collections.abc import Mapping


def masking_features(params: object) -> list[str]:
    """Name the features of a request's `SamplingParams` that are sure to ban tokens.

    Bans from elsewhere (other logits processors, the model itself) can't be foreseen. Attributes
    are looked up one by one because their set differs between versions of vLLM. Never raises.
    """
    found = []
    # vLLM 0.11 calls the first of these guided_decoding.
    for attribute, feature in (
        ("structured_outputs", "structured output"),
        ("guided_decoding", "structured output"),
    ):
        if getattr(params, attribute, None) is not None:
            found.append(feature)
    # What min_tokens bans are the tokens that would end the text.
    if getattr(params, "min_tokens", 0) and getattr(params, "all_stop_token_ids", None):
        found.append("min_tokens")
    for attribute in ("allowed_token_ids", "bad_words"):
        if getattr(params, attribute, None):
            found.append(attribute)
    # from_optional() (the HTTP server) clamps a bias to ±100; SamplingParams() does not.
    bias = getattr(params, "logit_bias", None)
    if isinstance(bias, Mapping) and any(value == -math.inf for value in bias.values()):
        found.append("logit_bias")
    return found
