"""What may go wrong around the processor in a real vLLM, and what then happens.

Bad values: test_compatibility.py and test_server.py. Compiler and kernels: tests/unit/kernel. How
the engine's process is started: test_process_boundary.py.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from engine import engines
from engine.engines import Request
from engine.processors import params
from engine.recording import Recording
from vllm import LLM

from topnsigma_processor.vllm_plugin import TopNSigma

PROMPT = [1, 2, 3]
N = 1.0


class Copying(TopNSigma):
    """Somebody's processor that hands on a copy. It is no `TopNSigma` but in its interfaces."""

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        return logits.clone()


NAMED_TWICE: dict[str, list[Any]] = {
    "next to one another": [TopNSigma, Recording],
    "with a copy in between": [TopNSigma, Copying, Recording],
    "three times": [TopNSigma, TopNSigma, Copying, Recording],
}


def _tokens(llm: LLM, policy: str, prompt: list[int] = PROMPT) -> list[int]:
    request = params(N, policy, seed=0, max_tokens=8, ignore_eos=True)
    return engines.run(llm, [Request("one", prompt, request)])["one"]


@pytest.mark.parametrize("policy", ["noop", "exclude"])
@pytest.mark.parametrize("name", NAMED_TWICE)
def test_named_twice_it_truncates_once(tiny_model: Path, name: str, policy: str) -> None:
    llm, recorder = engines.start_recording(tiny_model, logits_processors=NAMED_TWICE[name])
    tokens = _tokens(llm, policy)
    rows = recorder.rows_of("one")
    assert len(rows) == 8
    # What the first has left the others leave as it is.
    for row in rows.values():
        assert np.isneginf(row.before).any()
        assert np.array_equal(row.before, row.after)
    alone, _ = engines.start_recording(tiny_model)
    assert tokens == _tokens(alone, policy)


def test_named_twice_by_its_name(tiny_model: Path) -> None:
    name = "topnsigma_processor.vllm_plugin:TopNSigma"
    llm, _ = engines.start(tiny_model, record=False, logits_processors=[name, name])
    alone, _ = engines.start_recording(tiny_model)
    assert _tokens(llm, "exclude") == _tokens(alone, "exclude")


def test_engines_in_one_process_that_step_in_turn(tiny_model: Path) -> None:
    """Each has its own requests in its own slots, and its own policy of the server."""
    started = [
        engines.start_recording(
            tiny_model, additional_config={"top_n_sigma": {"neg_inf": policy}}, max_num_seqs=slots
        )
        for policy, slots in (("noop", 2), ("exclude", 3))
    ]
    settings = {"a": 0.5, "b": None, "c": 2.0, "d": 1.0, "e": 0.3}
    tokens: list[dict[str, list[int]]] = [{}, {}]
    for index, (llm, _) in enumerate(started):
        for name, n in settings.items():
            request = params(
                None if n is None else n + index, seed=index, max_tokens=6, ignore_eos=True,
                allowed_token_ids=list(range(60, 120)) if name in "ad" else None,
            )  # fmt: skip
            prompt: Any = {"prompt_token_ids": [*PROMPT, index]}
            llm.llm_engine.add_request(name, prompt, request)
    while any(llm.llm_engine.has_unfinished_requests() for llm, _ in started):
        for index, (llm, _) in enumerate(started):
            outputs: list[Any] = list(llm.llm_engine.step())
            for output in outputs:
                tokens[index][output.request_id] = list(output.outputs[0].token_ids)
    for index, policy in enumerate(("noop", "exclude")):
        wanted = {name: None if n is None else (n + index, policy) for name, n in settings.items()}
        assert started[index][1].verify(tokens[index], wanted) == 4 * 6
