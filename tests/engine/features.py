"""vLLM's sampling features, and what they do to the rows that top-nσ sees."""

import dataclasses
import json
from typing import Any

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 6},
        "age": {"type": "integer", "minimum": 0, "maximum": 99},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
JSON = json.dumps(SCHEMA)
REGEX = "[a-z]{4,9}"
MIN_TOKENS = 4


@dataclasses.dataclass(frozen=True)
class Feature:
    """A feature of a request.

    Attributes:
        options: arguments of SamplingParams that switch it on.
        bans: for how many of the first tokens rows hold -inf because of it; None: for all.
    """

    options: dict[str, Any]
    bans: int | None = 0

    def bans_at(self, token: int) -> bool:
        return self.bans is None or token < self.bans


FEATURES = {
    "none": Feature({}),
    "temperature": Feature({"temperature": 2.0}),
    "top_k": Feature({"top_k": 2}),
    "top_p": Feature({"top_p": 0.5}),
    "min_p": Feature({"min_p": 0.3}),
    "repetition_penalty": Feature({"repetition_penalty": 1.3}),
    "presence_penalty": Feature({"presence_penalty": 1.5}),
    "frequency_penalty": Feature({"frequency_penalty": 1.5}),
    "logit_bias": Feature({"logit_bias": {65: 3.0, 66: -50.0}}),
    "stop_token_ids": Feature({"stop_token_ids": [300, 301]}),
    "logprobs": Feature({"logprobs": 5}),
    "min_tokens": Feature({"min_tokens": MIN_TOKENS, "stop_token_ids": [300]}, MIN_TOKENS),
    "allowed_token_ids": Feature({"allowed_token_ids": list(range(60, 90))}, None),
    "bad_words": Feature({"bad_words": ["a"]}, None),
}
