"""SmolLM2 at temperature 2: with n = 1 it says what it finds likely, and without it does not."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from engine import engines, language_model
from engine.engines import Request
from engine.processors import params
from engine.recording import Recording
from vllm import LLM

PROMPTS = (
    "The capital of France is",
    "The three primary colours are red,",
    "1, 2, 3, 4, 5, 6,",
)
TOKENS = 6


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return language_model.build(tmp_path_factory.mktemp("smollm2"))


@pytest.fixture(scope="module")
def engine(model: Path) -> tuple[LLM, Recording]:
    return engines.start_recording(model, max_model_len=96, max_num_seqs=6)


@pytest.mark.long_on_v2
def test_likely_text_at_temperature_two(engine: tuple[LLM, Recording]) -> None:
    llm, recorder = engine
    requests, settings = [], {}
    for index, prompt in enumerate(PROMPTS):
        for name, n in ((f"with{index}", 1.0), (f"without{index}", None)):
            options: dict[str, Any] = {
                "temperature": 2.0,
                "seed": index,
                "max_tokens": TOKENS,
                "logprobs": 0,
            }
            request = params(n, ignore_eos=True, **options)
            requests.append(Request(name, llm.get_tokenizer().encode(prompt), request))
            settings[name] = None if n is None else (n, "noop")
    tokens, logprobs = engines.run_with_logprobs(llm, requests)
    assert recorder.verify(tokens, settings) == TOKENS * len(PROMPTS)
    # Raw logprobs: those of the model at temperature 1, before any filter, in nats a token. A token
    # drawn blindly from this vocabulary has about -15.
    mean = {name: sum(values) / TOKENS for name, values in logprobs.items()}
    for index in range(len(PROMPTS)):
        assert mean[f"with{index}"] > -4
        assert mean[f"without{index}"] < mean[f"with{index}"] - 3


@pytest.mark.long_on_v2
def test_the_offline_example(model: Path) -> None:
    script = Path(__file__).parents[2] / "examples" / "offline.py"
    # On V2 this vocabulary takes most of a second a token, in the interpreter.
    command = [sys.executable, str(script), "--model", str(model), "--max-tokens", "4"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    lines = [line for line in finished.stdout.splitlines() if line.startswith("n = ")]
    assert [line.split(":")[0] for line in lines] == ["n = 0.5", "n = 1.0", "n = 2.0", "n = None"]
    assert "Paris" in lines[0]
