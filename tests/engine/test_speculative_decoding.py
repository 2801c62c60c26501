"""Drafted tokens: several rows a request on V2, and on V1 a refusal that says why."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from engine import engines
from engine.engines import Request
from engine.processors import params

NGRAM = {
    "method": "ngram",
    "num_speculative_tokens": 3,
    "prompt_lookup_max": 3,
    "prompt_lookup_min": 1,
}


@pytest.mark.runner("V2")
@pytest.mark.parametrize("policy", ["noop", "exclude"])
def test_every_row_of_a_request_is_truncated(tiny_model: Path, policy: str) -> None:
    llm, recorder = engines.start_recording(tiny_model, speculative_config=NGRAM)
    recorder.most_rows_of_a_request = 0
    requests, settings = [], {}
    # A tiny n leaves one token a row: the text falls into a loop, and drafts are accepted.
    for index, n in enumerate([1e-9, 0.4, None, 1.0, 1e-9]):
        options: dict[str, Any] = {"seed": index, "max_tokens": 24, "ignore_eos": True}
        request = Request(
            f"request{index}",
            [5, 6, 7, 8, 5, 6, 7, 8, 5, 6],
            params(n, policy, **options),
            arrives=2 * index,
        )
        requests.append(request)
        settings[request.name] = None if n is None else (n, policy)
    tokens = engines.run(llm, requests)
    assert recorder.verify(tokens, settings) == 4 * 24
    assert recorder.most_rows_of_a_request == 4


@pytest.mark.runner("V1")
def test_the_refusal_is_clear(tiny_model: Path) -> None:
    # In a process of its own: an engine that fails to start takes others down with it.
    code = f"""
import sys
from vllm import LLM
try:
    LLM(model={str(tiny_model)!r}, enforce_eager=True, max_model_len=64,
        speculative_config={NGRAM!r},
        logits_processors=["topnsigma_processor.vllm_plugin:TopNSigma"])
except ValueError as error:
    print("refused:", error)
"""
    command = [sys.executable, "-c", code]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    (line,) = [line for line in finished.stdout.splitlines() if line.startswith("refused:")]
    assert "logits processors" in line
    assert "speculative decoding" in line
