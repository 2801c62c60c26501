"""Two ranks sample the tokens of one: each of them truncates the same logits for itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from engine import engines
from engine.engines import Request
from engine.processors import params

NS = [0.3, None, 1.0, 2.0, 1e-9]

SCRIPT = """
import json, sys
from vllm import LLM, SamplingParams

if __name__ == "__main__":
    model, ns = sys.argv[1], json.loads(sys.argv[2])
    llm = LLM(
        model=model, tensor_parallel_size=2, enforce_eager=True, dtype="float32",
        max_model_len=128, max_num_seqs=8,
        logits_processors=["topnsigma_processor.vllm_plugin:TopNSigma"],
    )
    requests = [
        SamplingParams(
            temperature=1.0, seed=index, max_tokens=6, ignore_eos=True,
            extra_args=None if n is None else {"top_n_sigma": n},
        )
        for index, n in enumerate(ns)
    ]
    prompts = [{"prompt_token_ids": [9, 8, 7, index]} for index in range(len(requests))]
    outputs = llm.generate(prompts, requests, use_tqdm=False)
    print("TOKENS", json.dumps([list(output.outputs[0].token_ids) for output in outputs]))
"""


def _tokens_of_two_ranks(model: Path, script: Path) -> list[list[int]]:
    environment = os.environ | {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "0|1",
    }
    command = [sys.executable, str(script), str(model), json.dumps(NS)]
    finished = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    lines = [line for line in finished.stdout.splitlines() if line.startswith("TOKENS ")]
    if len(lines) != 1:
        pytest.fail(f"{finished.stdout[-2000:]}\n{finished.stderr[-4000:]}")
    tokens: list[list[int]] = json.loads(lines[0].removeprefix("TOKENS "))
    return tokens


@pytest.mark.long_on_v2
def test_two_ranks_sample_the_tokens_of_one(tiny_model: Path, tmp_path: Path) -> None:
    script = tmp_path / "generate.py"
    script.write_text(SCRIPT)
    llm, _ = engines.start_recording(tiny_model)
    requests = [
        Request(str(index), [9, 8, 7, index], params(n, seed=index, max_tokens=6, ignore_eos=True))
        for index, n in enumerate(NS)
    ]
    found = engines.run(llm, requests)
    one = [found[str(index)] for index in range(len(NS))]
    assert [len(tokens) for tokens in one] == [6] * 5
    assert _tokens_of_two_ranks(tiny_model, script) == one
