"""Two ranks sample the tokens of one: each of them truncates the same logits for itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import json, sys
from vllm import LLM, SamplingParams

if __name__ == "__main__":
    model, ranks = sys.argv[1], int(sys.argv[2])
    llm = LLM(
        model=model, tensor_parallel_size=ranks, enforce_eager=True, dtype="float32",
        max_model_len=128, max_num_seqs=8,
        logits_processors=["topnsigma_processor.vllm_plugin:TopNSigma"],
    )
    requests = [
        SamplingParams(
            temperature=1.0, seed=index, max_tokens=6, ignore_eos=True,
            extra_args=None if n is None else {"top_n_sigma": n},
        )
        for index, n in enumerate([0.3, None, 1.0, 2.0, 1e-9])
    ]
    prompts = [{"prompt_token_ids": [9, 8, 7, index]} for index in range(len(requests))]
    outputs = llm.generate(prompts, requests, use_tqdm=False)
    print("TOKENS", json.dumps([list(output.outputs[0].token_ids) for output in outputs]))
"""


def _tokens(model: Path, script: Path, ranks: int) -> list[list[int]]:
    environment = os.environ | {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "|".join("01"[:ranks]),
    }
    command = [sys.executable, str(script), str(model), str(ranks)]
    finished = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    lines = [line for line in finished.stdout.splitlines() if line.startswith("TOKENS ")]
    if len(lines) != 1:
        pytest.fail(f"{ranks} ranks: {finished.stdout[-2000:]}\n{finished.stderr[-4000:]}")
    tokens: list[list[int]] = json.loads(lines[0].removeprefix("TOKENS "))
    return tokens


def test_two_ranks_sample_the_tokens_of_one(tiny_model: Path, tmp_path: Path) -> None:
    script = tmp_path / "generate.py"
    script.write_text(SCRIPT)
    one, two = (_tokens(tiny_model, script, ranks) for ranks in (1, 2))
    assert [len(tokens) for tokens in one] == [6] * 5
    assert two == one
