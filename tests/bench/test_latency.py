"""Latency of `top_n_sigma_` and of what it is held to. Run by `python -m bench`, which judges it.

Nothing is asserted here: a benchmark says how long something took.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from bench.benchmark_ids import cases_of, contenders_of
from bench.cases import Case
from bench.interleaved import Measured, measure
from bench.machine import THREADS
from bench.virtual_clock import VirtualClock

CLOCK = VirtualClock()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    option = metafunc.config.getoption
    cases = cases_of(option("--bench-grid"), option("--bench-cases"))
    pairs = [
        pytest.param(case, contender, id=f"{case}-{contender}")
        for case in cases
        for contender in contenders_of(case, option("--bench-device"))
    ]
    metafunc.parametrize(("case", "contender"), pairs)


@pytest.fixture(scope="module", autouse=True)
def _threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    yield
    torch.set_num_threads(before)


@functools.lru_cache(maxsize=1)
def _measured(case: Case, device: str, rounds: int) -> Measured:
    """All contenders of a case, measured in turn when the first of them is asked for."""
    return measure(case, torch.device(device), rounds)


@pytest.mark.benchmark(timer=CLOCK)
def test_latency(
    benchmark: Any, request: pytest.FixtureRequest, case: Case, contender: str
) -> None:
    rounds = request.config.getoption("--bench-rounds")
    device = request.config.getoption("--bench-device")
    measured = _measured(case, device, rounds)
    figures = iter(measured.seconds[contender])
    benchmark.group = str(case)
    benchmark.extra_info |= {
        "device": device,
        "bytes": case.bytes_moved,
        "host_seconds": measured.host_seconds.get(contender, []),
        "peak_bytes": measured.peak_bytes.get(contender),
    }
    benchmark.pedantic(
        lambda: CLOCK.advance(next(figures)), setup=CLOCK.reset, rounds=rounds, iterations=1
    )
