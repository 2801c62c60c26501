"""Engines in this process, and requests that come and go while they run."""

import dataclasses
import itertools
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from engine.recording import Recording
from vllm import LLM, SamplingParams

# Not a number of steps: while a grammar is compiled an engine steps on without a result.
ENDS_WITHIN = 300.0


@dataclasses.dataclass(frozen=True)
class Request:
    """A request that is added before step ``arrives``, and aborted before step ``leaves``."""

    name: str
    prompt: Sequence[int]
    params: SamplingParams
    arrives: int = 0
    leaves: int | None = None


_running: dict[str, tuple[LLM, Recording | None]] = {}


def start(model: Path, *, record: bool = True, **arguments: Any) -> tuple[LLM, Recording | None]:
    """An engine with the recording processor, nothing recorded yet; or with no processor.

    Engines are kept and used again: to end one would take down what it shares with the others in
    this process.
    """
    key = repr((record, sorted(arguments.items())))
    if key not in _running:
        _running[key] = _started(model, record, arguments)
    llm, recorder = _running[key]
    if recorder is not None:
        recorder.rows.clear()
    return llm, recorder


def start_recording(model: Path, **arguments: Any) -> tuple[LLM, Recording]:
    """As `start`, for engines that record."""
    llm, recorder = start(model, **arguments)
    assert recorder is not None
    return llm, recorder


def _started(model: Path, record: bool, arguments: dict[str, Any]) -> tuple[LLM, Recording | None]:
    defaults: dict[str, Any] = {
        "enforce_eager": True,
        "dtype": "float32",
        "max_model_len": 128,
        "max_num_seqs": 8,
        "seed": 0,
        "block_size": 32,
        "num_gpu_blocks_override": 64,
        "logits_processors": [Recording] if record else None,
    }
    llm = LLM(model=str(model), **(defaults | arguments))
    if not record:
        return llm, None
    recorder = Recording.latest
    recorder.model_runner = model_runner(llm)
    return llm, recorder


def model_runner(llm: LLM) -> Any:
    """The model runner of an engine in this process."""
    executor: Any = llm.llm_engine.model_executor
    worker = executor.driver_worker
    return getattr(worker, "worker", worker).model_runner


def scheduler(llm: LLM) -> Any:
    """The scheduler of an engine in this process."""
    client: Any = llm.llm_engine.engine_core
    return client.engine_core.scheduler


def run(llm: LLM, requests: Iterable[Request]) -> dict[str, list[int]]:
    """Run all requests to their end and return the tokens that each generated.

    The texts of a request with n > 1 appear as vLLM names them: "0_name", "1_name", …
    """
    return run_with_logprobs(llm, requests)[0]


def run_with_logprobs(
    llm: LLM, requests: Iterable[Request]
) -> tuple[dict[str, list[int]], dict[str, list[float]]]:
    """As `run`; and the logprobs of the tokens, for the requests that asked for them."""
    engine, waiting = llm.llm_engine, list(requests)
    several = {request.name for request in waiting if request.params.n > 1}
    leaving = [request for request in waiting if request.leaves is not None]
    tokens: dict[str, list[int]] = {r.name: [] for r in waiting if r.name not in several}
    logprobs: dict[str, list[float]] = {}
    end = time.monotonic() + ENDS_WITHIN
    for step in itertools.takewhile(lambda _: time.monotonic() < end, itertools.count()):
        for request in [request for request in waiting if request.arrives <= step]:
            prompt: Any = {"prompt_token_ids": list(request.prompt)}
            engine.add_request(request.name, prompt, request.params.clone())
            waiting.remove(request)
        for request in [request for request in leaving if request.leaves == step]:
            engine.abort_request([request.name])
        if not waiting and not engine.has_unfinished_requests():
            return tokens, logprobs
        outputs: list[Any] = list(engine.step())
        for output in outputs:
            for text in output.outputs:
                prefix = f"{text.index}_" if output.request_id in several else ""
                name = prefix + output.request_id
                tokens[name] = list(text.token_ids)
                logprobs[name] = [
                    entry[token].logprob
                    for token, entry in zip(text.token_ids, text.logprobs or [], strict=False)
                ]
    raise AssertionError(f"requests were still running after {ENDS_WITHIN} s")
