"""The process of one engine: a real vLLM that admits requests and steps, each time it is asked.

    python -m bench.engine_worker MODEL LENGTH CONFIGURATION

MODEL is a folder, LENGTH how many tokens a request may have with its prompt, CONFIGURATION one of
`bench.engine_steps`. Reads commands, a line each, and answers each with a line of JSON:

    machine                 see `bench.machine`
    pin CORE                let all threads run there and nowhere else: null
    admit BATCH TOKENS      abort what runs, and run BATCH requests of TOKENS tokens until each
                            decodes: null
    probe                   step once and look at what the processor does: {"loaded": …, "calls": …,
                            "masked_rows": …}
    step                    step once: {"cpu": seconds, "wall": seconds}

`bench.engine_steps` starts it, with the environment that it needs.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import vllm
from bench.engine_steps import BATCHES, CONFIGURATIONS, LONGEST_PROMPT, Configuration
from bench.machine import describe
from engine import engines
from engine.processors import params
from smollm2 import PROMPTS

from topnsigma_processor.vllm_plugin import TopNSigma

BLOCK = 32


class NotDecodingError(RuntimeError):
    """A step did something else than to give each request its next token."""


class Engine:
    """A vLLM in this process, and the requests that run in it.

    Args:
        model: a folder.
        length: tokens that a request may have with its prompt.
        configuration: what is loaded, and what requests ask of it.
    """

    def __init__(self, model: Path, length: int, configuration: Configuration) -> None:
        blocks = -(-length // BLOCK)
        self._n = configuration.n
        self._llm, _ = engines.start(
            model,
            record=False,
            logits_processors=[configuration.processor] if configuration.processor else None,
            max_model_len=blocks * BLOCK,
            max_num_seqs=max(BATCHES),
            block_size=BLOCK,
            # One block is vLLM's own.
            num_gpu_blocks_override=max(BATCHES) * blocks + 1,
        )
        loaded = engines.model_runner(self._llm).input_batch.logitsprocs
        self._processors = [
            each for each in loaded.non_argmax_invariant if isinstance(each, TopNSigma)
        ]
        self._admitted = itertools.count()
        self._lengths: dict[str, int] = {}

    def admit(self, batch: int, tokens: int) -> None:
        """Let `batch` requests run, and no others, until each has its first token.

        Raises:
            NotDecodingError: they do not, after as many steps as a prompt has tokens.
        """
        engine = self._llm.llm_engine
        engine.abort_request(list(self._lengths))
        self._lengths.clear()
        tokenizer: Any = self._llm.get_tokenizer()
        for text in PROMPTS[:batch]:
            name = f"request {next(self._admitted)}"
            prompt: Any = {"prompt_token_ids": tokenizer.encode(text)[:LONGEST_PROMPT]}
            request = params(self._n, ignore_eos=True, max_tokens=tokens)
            engine.add_request(name, prompt, request)
            self._lengths[name] = 0
        for _ in range(LONGEST_PROMPT):
            self._count(engine.step())
            if all(self._lengths.values()):
                return
        raise NotDecodingError(f"tokens of the requests after the prompts: {self._lengths}")

    def probe(self) -> dict[str, int]:
        """Step once, and count: processors of ours, their calls, and rows that they masked in."""
        found = {"loaded": len(self._processors), "calls": 0, "masked_rows": 0}

        def counting(
            apply: Callable[..., torch.Tensor], logits: torch.Tensor, *rest: Any
        ) -> torch.Tensor:
            before = logits.isneginf().sum(-1)
            result = apply(logits, *rest)
            found["calls"] += 1
            found["masked_rows"] += int((result.isneginf().sum(-1) > before).sum())
            return result

        with ExitStack() as stack:
            for each in self._processors:
                counter = functools.partial(counting, each.apply)
                stack.enter_context(mock.patch.object(each, "apply", counter))
            self.step()
        return found

    def step(self) -> dict[str, float]:
        """Seconds of one step, over all threads of this process and as they pass.

        Raises:
            NotDecodingError: a request did not get exactly one token.
        """
        before = dict(self._lengths)
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        outputs = self._llm.llm_engine.step()
        cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
        self._count(outputs)
        if any(self._lengths[name] != length + 1 for name, length in before.items()):
            raise NotDecodingError(f"tokens before a step: {before}, and after: {self._lengths}")
        return {"cpu": cpu / 1e9, "wall": wall / 1e9}

    def _count(self, outputs: list[Any]) -> None:
        for output in outputs:
            self._lengths[output.request_id] = len(output.outputs[0].token_ids)


def pin(core: int) -> None:
    """Let all threads of this process run on one core only."""
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(thread.name), {core})


def main() -> int:
    """Answer until there is nothing left to read."""
    # vLLM, and what it loads, may print: answers have a way out of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    model, length, name = sys.argv[1:]
    engine = Engine(Path(model), int(length), CONFIGURATIONS[name])
    commands: dict[str, Callable[..., Any]] = {
        "machine": lambda: describe(torch.device("cpu")) | {"vllm": vllm.__version__},
        "pin": pin,
        "admit": engine.admit,
        "probe": engine.probe,
        "step": engine.step,
    }
    for line in sys.stdin:
        command, *arguments = line.split()
        answer = commands[command](*map(int, arguments))
        print(json.dumps(answer), file=answers, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
