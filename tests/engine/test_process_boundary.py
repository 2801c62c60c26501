"""Requests on their way to the engine's process: what was admitted arrives there, and works."""

import enum
import json
import os
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine import engines, oracle, processors
from engine.engines import Request
from engine.processors import v1
from vllm import SamplingParams
from vllm.v1.sample.logits_processor import BatchUpdate
from vllm.v1.serial_utils import MsgpackDecoder, MsgpackEncoder

from topnsigma_processor.vllm_plugin import TopNSigma


class OwnFloat(float):
    pass


class OwnText(str):
    pass


class Policy(enum.StrEnum):
    EXCLUDE = "exclude"


NUMBERS = {
    "float": 1.0,
    "int": 1,
    "numpy float64": np.float64(1),
    "numpy float32": np.float32(1),
    "numpy int64": np.int64(1),
    "fraction": Fraction(1),
    "class of its own": OwnFloat(1),
}
POLICIES = [None, "exclude", OwnText("exclude"), np.str_("exclude"), Policy.EXCLUDE]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("sent_by", ["msgspec", "pickle"])
def test_what_was_admitted_arrives(number: str, policy: Any, sent_by: str) -> None:
    given = {"top_n_sigma": NUMBERS[number], "top_n_sigma_neg_inf": policy, "other": [1, "x"]}
    before = dict(given)
    request = SamplingParams(extra_args=given)
    TopNSigma.validate_params(request)
    assert given == before
    assert {key: type(value) for key, value in given.items()} == {
        key: type(value) for key, value in before.items()
    }
    arrived: SamplingParams
    if sent_by == "msgspec":
        arrived = MsgpackDecoder(SamplingParams).decode(MsgpackEncoder().encode(request))
    else:
        arrived = pickle.loads(pickle.dumps(request))
    wanted = None if policy is None else "exclude"
    extra_args = arrived.extra_args
    assert extra_args == {"top_n_sigma": 1.0, "top_n_sigma_neg_inf": wanted, "other": [1, "x"]}
    assert type(extra_args["top_n_sigma"]) is float
    processor = v1()
    added: list[Any] = [(0, arrived, [1], [])]
    processor.update_state(BatchUpdate(batch_size=1, removed=[], added=added, moved=[]))
    rows = processors.logits(1, banned=3)
    want = oracle.expected(rows, [(1.0, wanted or "noop")])
    assert oracle.same_bits(processor.apply(rows), want)


def test_what_is_plain_stays_the_same_object() -> None:
    for given in (None, {}, {"top_n_sigma": 1.0, "top_n_sigma_neg_inf": "noop"}, {"other": 1}):
        request = SamplingParams(extra_args=given)
        TopNSigma.validate_params(request)
        assert request.extra_args is given


SCRIPT = """
import json, sys
from fractions import Fraction

import numpy as np
from vllm import LLM, SamplingParams

def generate(llm, n, policy="exclude"):
    extra_args = {"top_n_sigma": n, "top_n_sigma_neg_inf": policy}
    params = SamplingParams(
        temperature=1.0, seed=1, max_tokens=6, ignore_eos=True, extra_args=extra_args
    )
    try:
        outputs = llm.generate([{"prompt_token_ids": [9, 8, 7]}], [params], use_tqdm=False)
    except Exception as error:
        return [type(error).__name__, str(error)]
    return list(outputs[0].outputs[0].token_ids)

if __name__ == "__main__":
    llm = LLM(
        model=sys.argv[1], enforce_eager=True, dtype="float32", max_model_len=128, max_num_seqs=8,
        seed=0, block_size=32, num_gpu_blocks_override=64,
        logits_processors=["topnsigma_processor.vllm_plugin:TopNSigma"],
    )
    plain = generate(llm, 0.5)
    alike = [
        generate(llm, np.float64(0.5)), generate(llm, np.float16(0.5), np.str_("exclude")),
        generate(llm, Fraction(1, 2)),
    ]
    bad = [generate(llm, n) for n in (np.array(0.5), np.float32("nan"), [0.5], object(), "0.5")]
    result = {"plain": plain, "alike": alike, "bad": bad, "again": generate(llm, 0.5)}
    print("RESULT", json.dumps(result))
"""


@pytest.mark.parametrize("method", [pytest.param("fork", marks=pytest.mark.long_on_v2), "spawn"])
def test_an_engine_in_a_process_of_its_own(tiny_model: Path, tmp_path: Path, method: str) -> None:
    script = tmp_path / "generate.py"
    script.write_text(SCRIPT)
    environment = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "1",
        "VLLM_WORKER_MULTIPROCESSING_METHOD": method,
        # A folder that can't be made: on a CPU nothing is compiled.
        "TRITON_CACHE_DIR": "/dev/null/cache",
    }
    finished = subprocess.run(
        [sys.executable, str(script), str(tiny_model)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    lines = [line for line in finished.stdout.splitlines() if line.startswith("RESULT ")]
    if len(lines) != 1:
        pytest.fail(f"{finished.stdout[-2000:]}\n{finished.stderr[-4000:]}")
    result = json.loads(lines[0].removeprefix("RESULT "))
    llm, _ = engines.start_recording(tiny_model)
    request = processors.params(0.5, "exclude", seed=1, max_tokens=6, ignore_eos=True)
    here = engines.run(llm, [Request("one", [9, 8, 7], request)])["one"]
    assert len(here) == 6
    assert result["plain"] == here
    assert result["alike"] == [result["plain"]] * 3
    assert result["again"] == result["plain"]
    for kind, message in result["bad"]:
        # What vLLM makes of a ValueError; its server answers it with 400.
        assert kind == "VLLMValidationError"
        assert "top_n_sigma must be a finite real number > 0" in message
