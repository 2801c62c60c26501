"""Holds what was measured and counted against the limits."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from bench.benchmark_ids import OURS, YARDSTICK
from bench.cases import Case
from bench.limits import SECONDS, Gates, Limit
from bench.ratios import Ratio, certain, ratio

Seconds = Mapping[Case, Mapping[str, Sequence[float]]]

Remeasure = Callable[[Sequence[Case]], Seconds]


@dataclasses.dataclass(frozen=True)
class Held:
    """A case held against one limit.

    Attributes:
        limit: which one.
        at_most: it, on this machine.
        found: what was measured: a ratio, or seconds.
        again: what was measured when that was too much.
    """

    limit: Limit
    at_most: float
    found: Ratio
    again: Ratio | None = None

    @property
    def passed(self) -> bool:
        """Too much is what certainly is, twice."""
        return not (_too_much(self.found, self.at_most) and self._too_much_again)

    @property
    def _too_much_again(self) -> bool:
        return self.again is None or _too_much(self.again, self.at_most)


@dataclasses.dataclass(frozen=True)
class Together:
    """All cases at once, held against what was recorded.

    Attributes:
        at_most: how many times as long as recorded they may take.
        found: how many times as long they take at least: the geometric mean over the lower ends
            of the cases' intervals.
        again: the same, with what was measured again in its place.
    """

    at_most: float
    found: float
    again: float

    @property
    def passed(self) -> bool:
        """Too much is what is too much twice."""
        return min(self.found, self.again) <= self.at_most


@dataclasses.dataclass(frozen=True)
class Counted:
    """A counter held against what it has to be; None where there is no such counter."""

    name: str
    exactly: int | None
    found: int | None

    @property
    def passed(self) -> bool:
        """Fewer is not better: it is another operation than the one that was recorded."""
        return self.exactly == self.found


def hold_times(
    gates: Gates, seconds: Seconds, device: str, machine: str, remeasure: Remeasure
) -> list[Held]:
    """Hold every measured case against its limits; measure those again that seem too slow.

    Raises:
        ValueError: a case has no limit against the yardstick.
    """
    limits = [limit for limit in gates.limits if limit.device == device and limit.case in seconds]
    limited = {limit.case for limit in limits if limit.against == YARDSTICK}
    if unlimited := [str(case) for case in seconds if case not in limited]:
        raise ValueError(f"no limit against {YARDSTICK}: {', '.join(unlimited)}")
    held = [
        Held(limit, limit.on(machine, gates.margin), _found(limit, seconds))
        for limit in limits
        if limit.against == SECONDS or limit.against in seconds[limit.case]
    ]
    suspects = {each.limit.case: None for each in held if _too_much(each.found, each.at_most)}
    together = hold_together(gates, held, device, machine)
    if together is not None and not together.passed:
        suspects = {each.limit.case: None for each in held}
    if not suspects:
        return held
    again = remeasure(list(suspects))
    return [
        dataclasses.replace(each, again=_found(each.limit, again))
        if each.limit.case in again
        else each
        for each in held
    ]


def hold_together(gates: Gates, held: Sequence[Held], device: str, machine: str) -> Together | None:
    """Hold all cases at once; None if there is one that was recorded on this machine and not
    measured, or nothing was recorded."""
    ours = [limit for limit in gates.limits if limit.device == device]
    recorded = [limit for limit in ours if limit.recorded(machine) is not None]
    factors = [
        (each.found.lower / before, (each.again or each.found).lower / before)
        for each in held
        if (before := each.limit.recorded(machine)) is not None
    ]
    if not factors or len(factors) < len(recorded):
        return None
    found, again = map(statistics.geometric_mean, zip(*factors, strict=True))
    return Together(gates.together, found, again)


def hold_counters(gates: Gates, found: Mapping[str, int]) -> list[Counted]:
    """Hold every counter against what was recorded: those recorded, and those found."""
    names = [*gates.counters, *(name for name in found if name not in gates.counters)]
    return [Counted(name, gates.counters.get(name), found.get(name)) for name in names]


def passed(results: Iterable[Held | Together | Counted]) -> bool:
    """Whether all is as it has to be, and there is something."""
    verdicts = [result.passed for result in results]
    return bool(verdicts) and all(verdicts)


def _found(limit: Limit, seconds: Seconds) -> Ratio:
    figures = seconds[limit.case]
    if limit.against == SECONDS:
        return certain(figures[OURS])
    return ratio(figures[OURS], figures[limit.against])


def _too_much(found: Ratio, at_most: float) -> bool:
    return found.lower > at_most
