"""Measure several operations in turn, in random balanced order, each on restored logits.

A row that was masked holds -inf, and a sampler may leave such a row alone: whoever times an
in-place sampler twice on the same buffer times another path. So a buffer is restored before each
measurement, and one that is not as it was makes the measurement fail.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
import time
from collections.abc import Iterator, Mapping
from typing import Protocol

import torch
from bench.cases import Case
from bench.contenders import Step, of


class NotRestoredError(RuntimeError):
    """What would have been timed are not the logits of the case."""


class Stopwatch(Protocol):
    """Times one step."""

    def restore(self) -> None:
        """Put the case's logits back into what the next measurement works on."""

    def restored(self) -> bool:
        """Whether they are there, bit for bit."""

    def seconds(self) -> float:
        """Run the step once and return what it took."""


@dataclasses.dataclass(frozen=True)
class Measured:
    """What the contenders of one case took.

    Attributes:
        seconds: contender to one figure a round; those of one round were measured together.
        host_seconds: the same of the host's part of a call, where a device does the work.
        peak_bytes: contender to the most memory that it had allocated on the device at once,
            beyond what lay ready; empty on a CPU.
    """

    seconds: dict[str, list[float]]
    host_seconds: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    peak_bytes: dict[str, int] = dataclasses.field(default_factory=dict)


class CpuStopwatch:
    """Processor time of one call, over all threads of this process.

    Not the time that passes: on a machine that does other things too, a call of ten milliseconds
    is interrupted and a call of one is not, and no ratio of the two would hold.

    Args:
        step: what is timed.
        source: the case's logits.
        buffers: of its shape, taken in turn and shared with the other contenders, so that none
            finds in the cache what another does not.
    """

    def __init__(self, step: Step, source: torch.Tensor, buffers: Iterator[torch.Tensor]) -> None:
        self._step, self._source, self._buffers = step, source, buffers
        self._logits = source

    def restore(self) -> None:
        self._logits = next(self._buffers)
        self._logits.copy_(self._source)

    def restored(self) -> bool:
        return torch.equal(self._logits, self._source) and self._logits is not self._source

    def seconds(self) -> float:
        start = time.process_time_ns()
        self._step(self._logits)
        return (time.process_time_ns() - start) / 1e9


WARM_UP = 2
"""Rounds that are thrown away."""


def measure(
    case: Case, device: torch.device, rounds: int, contenders: Mapping[str, Step] | None = None
) -> Measured:
    """Measure the contenders of a case: all of them in each of `rounds` rounds.

    Raises:
        NotRestoredError: the buffer of a measurement was not as it had to be.
    """
    steps = of(case, device) if contenders is None else contenders
    source = case.logits(device)
    if device.type == "cpu":
        buffers = rotating(source)
        watches: dict[str, Stopwatch] = {
            name: CpuStopwatch(step, source, buffers) for name, step in steps.items()
        }
        with torch.inference_mode():
            return Measured(in_turn(watches, rounds, seed=case.batch))
    from bench.gpu_stopwatch import stopwatches

    with torch.inference_mode():
        timers = stopwatches(steps, source)
        return Measured(
            in_turn(timers, rounds, seed=case.batch),
            {name: timer.host_seconds[WARM_UP:] for name, timer in timers.items()},
            {name: timer.peak_bytes for name, timer in timers.items()},
        )


def in_turn(watches: Mapping[str, Stopwatch], rounds: int, seed: int) -> dict[str, list[float]]:
    """Seconds by name, one a round. In two rounds that follow, each has each place from either
    end once: the second goes through the first's order backwards.

    Raises:
        NotRestoredError: the buffer of a measurement was not as it had to be.
    """
    chance = random.Random(seed)
    seconds: dict[str, list[float]] = {name: [] for name in watches}
    order = list(watches)
    for turn in range(-WARM_UP, rounds):
        order.reverse()
        if turn % 2 == 0:
            chance.shuffle(order)
        for name in order:
            watch = watches[name]
            watch.restore()
            if not watch.restored():
                raise NotRestoredError(f"{name}: the logits were not restored before round {turn}")
            elapsed = watch.seconds()
            if turn >= 0:
                seconds[name].append(elapsed)
    return seconds


def rotating(source: torch.Tensor) -> Iterator[torch.Tensor]:
    """Buffers of a tensor's shape, one after the other, for ever."""
    return itertools.cycle([torch.empty_like(source) for _ in range(3)])
