"""Grammars ban nearly every token: the literal rule never truncates there, "exclude" does."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from engine import engines
from engine.engines import Request
from engine.features import JSON, REGEX
from engine.processors import params
from vllm.sampling_params import StructuredOutputsParams

PROMPT = [40, 41, 42]


def _generate(tiny_model: Path, grammar: dict[str, Any], n: float | None, policy: str) -> str:
    # A random model would fill its tokens with the blanks that JSON allows between values.
    compact = {"backend": "xgrammar", "disable_any_whitespace": True}
    llm, recorder = engines.start_recording(tiny_model, structured_outputs_config=compact)
    request = params(
        n,
        policy,
        temperature=2.0,
        seed=1,
        max_tokens=60,
        structured_outputs=StructuredOutputsParams(**grammar),
    )
    tokens = engines.run(llm, [Request("one", PROMPT, request)])
    checked = recorder.verify(tokens, {"one": None if n is None else (n, policy)})
    assert n is None or checked == len(tokens["one"]) > 3
    text: str = llm.get_tokenizer().decode(tokens["one"], skip_special_tokens=True)
    return text


@pytest.mark.parametrize("grammar", [{"json": JSON}, {"regex": REGEX}], ids=["json", "regex"])
def test_at_temperature_two(tiny_model: Path, grammar: dict[str, Any]) -> None:
    without = _generate(tiny_model, grammar, None, "noop")
    noop = _generate(tiny_model, grammar, 0.5, "noop")
    exclude = _generate(tiny_model, grammar, 0.5, "exclude")
    assert noop == without
    assert exclude != without
    for text in (without, noop, exclude):
        if "json" in grammar:
            assert set(json.loads(text, strict=False)) == {"name", "age"}
        else:
            assert re.fullmatch(REGEX, text)
