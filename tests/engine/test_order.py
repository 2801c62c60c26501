"""Where in vLLM's chain of filters top-nσ stands, on each runner."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine import engines, oracle
from engine.engines import Request
from engine.processors import params
from engine.recording import Recording
from vllm import LLM

PROMPT = [10, 20, 30, 40]


@pytest.fixture(scope="module")
def engine(tiny_model: Path) -> tuple[LLM, Recording]:
    return engines.start_recording(tiny_model)


def _seen(engine: tuple[LLM, Recording], **options: Any) -> oracle.Array:
    """The row that the processor was handed for the first token."""
    llm, recorder = engine
    recorder.rows.clear()
    request = params(1.0, seed=3, max_tokens=1, **options)
    engines.run(llm, [Request("one", PROMPT, request)])
    return recorder.rows_of("one")[0].before


@pytest.mark.parametrize(
    "filter_after",
    [
        {"temperature": 0.5},
        {"temperature": 2.0},
        {"min_p": 0.5},
        {"top_k": 3},
        {"top_p": 0.2},
    ],
)
def test_before_temperature_min_p_top_k_and_top_p(
    engine: tuple[LLM, Recording], filter_after: dict[str, Any]
) -> None:
    assert np.array_equal(_seen(engine, **filter_after), _seen(engine))


@pytest.mark.parametrize("penalty", ["repetition_penalty", "frequency_penalty", "presence_penalty"])
def test_before_penalties_on_v1_and_after_them_on_v2(
    engine: tuple[LLM, Recording], runner: str, penalty: str
) -> None:
    llm, recorder = engine

    def second_row(**options: Any) -> tuple[oracle.Array, list[int]]:
        recorder.rows.clear()
        # One token can be the first, so that the second is sampled after the same text.
        request = params(1e-9, seed=3, max_tokens=2, ignore_eos=True, **options)
        tokens = engines.run(llm, [Request("one", PROMPT, request)])["one"]
        return recorder.rows_of("one")[1].before, tokens

    bare, tokens = second_row()
    penalised, tokens_penalised = second_row(**{penalty: 1.5})
    assert tokens[0] == tokens_penalised[0]
    changed = set(np.flatnonzero(bare != penalised).tolist())
    if runner == "V1":
        assert changed == set()
    else:
        seen = {tokens[0]} | (set(PROMPT) if penalty == "repetition_penalty" else set())
        assert changed == seen


@pytest.mark.parametrize(
    ("feature", "options"),
    [
        ("logit_bias", {"logit_bias": {7: 5.0}}),
        ("allowed_token_ids", {"allowed_token_ids": [1, 2, 3, 4]}),
        ("min_tokens", {"min_tokens": 1, "stop_token_ids": [9]}),
        ("bad_words", {"bad_words": ["a"]}),
    ],
)
def test_after_bias_and_bans(
    engine: tuple[LLM, Recording], feature: str, options: dict[str, Any]
) -> None:
    bare, changed = _seen(engine), _seen(engine, **options)
    if feature == "logit_bias":
        assert np.flatnonzero(bare != changed).tolist() == [7]
    else:
        assert np.isneginf(changed).any()
        finite = np.isfinite(changed)
        assert np.array_equal(bare[finite], changed[finite])
