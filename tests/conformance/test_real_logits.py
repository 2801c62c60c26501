"""Processor, llama.cpp and reference on next-token rows of SmolLM2."""

from collections.abc import Callable

import numpy as np
import real_logits
import smollm2

TOKENS = 64


def test_no_disagreement_outside_the_interval(
    record_property: Callable[[str, object], None],
) -> None:
    tally = real_logits.run(TOKENS)
    record_property("real_logits", str(tally))
    assert tally.rows == TOKENS * len(smollm2.PROMPTS)
    assert len(smollm2.PROMPTS) >= 16
    assert tally.comparisons == tally.rows * len(real_logits.N_VALUES)
    assert tally.wrong == []


def test_rows_come_from_a_language_model() -> None:
    model = smollm2.load()
    ((_, logits),) = smollm2.rows(["The capital of France is"], tokens=8, model=model)
    assert logits.shape == (8, 49_152)
    assert logits.dtype == np.float32
    assert np.isfinite(logits).all()
    assert model.tokenizer.ids["ĠParis"] in logits.argmax(axis=1)
