"""Which requests are warned about: those with a feature that is sure to put -inf into rows."""

import math
from types import SimpleNamespace
from typing import Any

import pytest

from topnsigma_processor.masking_features import masking_features


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, []),
        ({"structured_outputs": None, "min_tokens": 0, "bad_words": [], "logit_bias": None}, []),
        ({"structured_outputs": object()}, ["structured output"]),
        ({"guided_decoding": object()}, ["structured output"]),
        ({"min_tokens": 3, "all_stop_token_ids": {7}}, ["min_tokens"]),
        ({"min_tokens": 3, "all_stop_token_ids": set()}, []),
        ({"allowed_token_ids": [1, 2]}, ["allowed_token_ids"]),
        ({"bad_words": ["no"]}, ["bad_words"]),
        ({"logit_bias": {5: -100.0}}, []),
        ({"logit_bias": {5: -math.inf}}, ["logit_bias"]),
        (
            {"structured_outputs": object(), "bad_words": ["no"]},
            ["structured output", "bad_words"],
        ),
    ],
)
def test_features(attributes: dict[str, Any], expected: list[str]) -> None:
    assert masking_features(SimpleNamespace(**attributes)) == expected
