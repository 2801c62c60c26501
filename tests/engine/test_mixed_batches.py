"""Every token of mixed batches is in the exact kept set of the logits that it was sampled from."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine import engines
from engine.engines import Request
from engine.processors import params
from engine.recording import Recording
from vllm import SamplingParams

CHOICES: tuple[tuple[float, str] | None, ...] = (
    (0.3, "noop"),
    (1.0, "noop"),
    (1.0, "exclude"),
    (2.0, "noop"),
    (7.5, "exclude"),
    None,
    None,
)


def _requests(
    count: int, seed: int, longest: int = 24
) -> tuple[list[Request], dict[str, tuple[float, str] | None]]:
    """Requests of every kind, arriving over many steps, some of them aborted on the way."""
    rng = random.Random(seed)
    requests, settings = [], {}
    for index in range(count):
        setting = CHOICES[index % len(CHOICES)]
        greedy = index % 5 == 4
        options: dict[str, Any] = {
            "temperature": 0.0 if greedy else rng.choice([0.6, 1.0, 2.0]),
            "seed": index,
            "max_tokens": rng.randint(1, longest),
            "ignore_eos": True,
        }
        n, policy = setting or (None, None)
        request = Request(
            name=f"request{index}",
            prompt=[rng.randrange(256) for _ in range(rng.randint(1, 20))],
            params=params(n, policy, **options),
            arrives=rng.randrange(2 * count),
            leaves=rng.randrange(2 * count, 3 * count) if index % 6 == 3 else None,
        )
        requests.append(request)
        settings[request.name] = None if greedy else setting
    return requests, settings


def _without_top_n_sigma(requests: list[Request]) -> list[Request]:
    """The same requests, none of which opts in."""
    bare = []
    for request in requests:
        params: SamplingParams = request.params.clone()
        params.extra_args = None
        bare.append(Request(request.name, request.prompt, params, request.arrives, request.leaves))
    return bare


def test_every_token_is_in_the_kept_set_and_others_notice_nothing(
    tiny_model: Path,
) -> None:
    llm, recorder = engines.start_recording(tiny_model)
    plain, _ = engines.start(tiny_model, record=False)
    requests, settings = _requests(28, seed=1)
    tokens = engines.run(llm, requests)
    assert recorder.verify(tokens, settings) > 100
    untouched = engines.run(plain, _without_top_n_sigma(requests))
    aborted = {request.name for request in requests if request.leaves is not None}
    for name, setting in settings.items():
        if setting is None:
            # An aborted request may have been told one token more or less.
            shared = min(len(tokens[name]), len(untouched[name]))
            assert tokens[name][:shared] == untouched[name][:shared], name
            assert name in aborted or len(tokens[name]) == len(untouched[name])
    # Where top-nσ is on it makes a difference, or all of this would prove nothing.
    assert sum(tokens[name] != untouched[name] for name in settings if settings[name]) > 5


def test_requests_that_are_preempted_and_come_back(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache too small for all requests: they are thrown out and come back, in other rows."""
    llm, recorder = engines.start_recording(tiny_model, num_gpu_blocks_override=6)
    preempted = []
    scheduler = engines.scheduler(llm)
    preempt = scheduler._preempt_request

    def counting(request: Any, *arguments: Any, **named: Any) -> None:
        preempted.append(request.request_id)
        preempt(request, *arguments, **named)

    monkeypatch.setattr(scheduler, "_preempt_request", counting)
    requests, settings = _requests(21, seed=2, longest=40)
    tokens = engines.run(llm, requests)
    assert len(preempted) > 3
    assert recorder.verify(tokens, settings) > 100


def test_long_prompts_in_chunks(tiny_model: Path) -> None:
    llm, recorder = engines.start_recording(
        tiny_model, max_num_batched_tokens=16, enable_chunked_prefill=True
    )
    rng = random.Random(3)
    requests = [
        Request(
            f"request{index}",
            [rng.randrange(256) for _ in range(70)],
            # No seed: V1 on a CPU can't rewind a request's generator after a part of a prompt.
            params(n, max_tokens=8, ignore_eos=True),
            arrives=index,
        )
        for index, n in enumerate([1.0, None, 0.5, 2.0, None])
    ]
    settings = {f"request{i}": (n, "noop") for i, n in ((0, 1.0), (2, 0.5), (3, 2.0))}
    tokens = engines.run(llm, requests)
    every = {request.name: settings.get(request.name) for request in requests}
    assert recorder.verify(tokens, every) == 24


def test_named_twice_it_truncates_once(tiny_model: Path) -> None:
    from topnsigma_processor.vllm_plugin import TopNSigma

    llm, recorder = engines.start_recording(tiny_model, logits_processors=[TopNSigma, Recording])
    request = params(1.0, "exclude", seed=0, max_tokens=8, ignore_eos=True)
    tokens = engines.run(llm, [Request("twice", [1, 2, 3], request)])
    # What the first has left the second leaves as it is.
    for row in recorder.rows_of("twice").values():
        assert np.isneginf(row.before).any()
        assert np.array_equal(row.before, row.after)
    alone, recorder = engines.start_recording(tiny_model)
    assert tokens == engines.run(alone, [Request("twice", [1, 2, 3], request)])
