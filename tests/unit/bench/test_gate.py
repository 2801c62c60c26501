"""The gate tells slow from noisy, on figures that are made up: nothing is timed here."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from bench.cases import Case
from bench.gate import Held, Seconds, hold_counters, hold_times, hold_together, passed
from bench.limits import Gates, Limit
from bench.ratios import Ratio, ratio

CASE, OTHER = Case(8, 32_000), Case(64, 32_000)
MACHINE = "a machine"
DEVICE = "cuda"
COPY = 1e-3
ROUNDS = 24


def figures(factor: float, seed: int, noise: float = 0.05) -> dict[Case, dict[str, list[float]]]:
    """Seconds of a copy, and of an operation that takes 2 * factor times as long: each round is
    slowed down as a whole now and then, and each figure has noise of its own."""
    rng = np.random.default_rng(seed)
    round_ = 1 + rng.exponential(0.3, ROUNDS)
    copy = COPY * round_ * (1 + rng.exponential(noise, ROUNDS))
    ours = COPY * 2 * factor * round_ * (1 + rng.exponential(noise, ROUNDS))
    return {CASE: {"copy": copy.tolist(), "top_n_sigma_": ours.tolist()}}


def gates(at_most: float = 6.0, measured: float | None = 2.0, against: str = "copy") -> Gates:
    recorded = {} if measured is None else {MACHINE: measured}
    limits = [Limit(DEVICE, CASE, against, at_most, recorded, "why")]
    if against != "copy":
        limits.append(Limit(DEVICE, CASE, "copy", 1e9, {}, "why"))
    return Gates(1.25, 1.1, tuple(limits), {"launches": 2}, "3.9.0", 1.1)


def both(at_most: float = 6.0, measured: float | None = 2.0) -> Gates:
    """The same limit for two cases."""
    one = gates(at_most, measured)
    (limit,) = one.limits
    return dataclasses.replace(one, limits=(limit, dataclasses.replace(limit, case=OTHER)))


def never(cases: Sequence[Case]) -> Seconds:
    raise AssertionError("nothing has to be measured again")


def held(found: Seconds, again: Seconds | None, limits: Gates | None = None) -> Held:
    results = hold_times(
        gates() if limits is None else limits,
        found,
        DEVICE,
        MACHINE,
        never if again is None else lambda cases: again,
    )
    return results[0]


@pytest.mark.parametrize("seed", range(50))
def test_what_is_as_it_was_passes_at_once(seed: int) -> None:
    assert held(figures(1.0, seed), None).passed


@pytest.mark.parametrize("seed", range(50))
def test_what_takes_a_third_longer_twice_fails(seed: int) -> None:
    result = held(figures(1.35, seed), figures(1.35, seed + 1000))
    assert not result.passed
    assert result.again is not None


def test_what_seemed_slow_and_was_not_measured_again_fails() -> None:
    limit = Limit(DEVICE, CASE, "copy", 2.5, {}, "why")
    assert not Held(limit, 2.5, Ratio(3.0, 2.9, 3.1)).passed
    assert Held(limit, 2.5, Ratio(2.0, 1.9, 2.1)).passed


def test_what_seemed_slow_once_passes() -> None:
    result = held(figures(1.5, 0), figures(1.0, 1))
    assert result.passed
    assert result.again is not None
    assert result.again.value < 2.5 < result.found.lower


def test_a_limit_is_passed_only_when_the_whole_interval_is() -> None:
    noisy = figures(1.25, 3, noise=0.5)
    found = ratio(noisy[CASE]["top_n_sigma_"], noisy[CASE]["copy"])
    assert found.lower < found.value < found.upper
    between = gates(at_most=(found.lower + found.value) / 2, measured=None)
    assert held(noisy, None, between).passed
    below = gates(at_most=found.lower * 0.99, measured=None)
    assert not held(noisy, noisy, below).passed


def test_an_unknown_machine_has_the_wide_limit() -> None:
    slow = figures(1.5, 0)
    assert not held(slow, slow).passed
    assert held(slow, None, gates(measured=None)).passed


def test_what_was_recorded_never_widens_a_limit() -> None:
    slow = figures(1.5, 0)
    assert not held(slow, slow, gates(at_most=2.5, measured=100.0)).passed


def test_a_limit_in_seconds() -> None:
    slow = figures(2.0, 0)
    assert not held(slow, slow, gates(COPY, None, "seconds")).passed
    assert held(slow, None, gates(10 * COPY, None, "seconds")).passed


def test_only_what_seemed_slow_is_measured_again() -> None:
    asked: list[Sequence[Case]] = []

    def again(cases: Sequence[Case]) -> Seconds:
        asked.append(cases)
        return figures(1.0, 1)

    found = figures(2.0, 0) | {OTHER: figures(1.0, 0)[CASE]}
    assert passed(hold_times(both(3.0, None), found, DEVICE, MACHINE, again))
    assert asked == [[CASE]]


def of_both(first: float, second: float, seed: int) -> dict[Case, dict[str, list[float]]]:
    return figures(first, seed, 0.01) | {OTHER: figures(second, seed + 1, 0.01)[CASE]}


@pytest.mark.parametrize("seed", range(20))
def test_what_slows_every_case_down_a_little_fails(seed: int) -> None:
    asked: list[Sequence[Case]] = []

    def again(cases: Sequence[Case]) -> Seconds:
        asked.append(cases)
        return of_both(1.18, 1.18, seed + 100)

    found = hold_times(both(), of_both(1.18, 1.18, seed), DEVICE, MACHINE, again)
    assert passed(found)  # each is within its own limit
    assert asked == [[CASE, OTHER]]
    together = hold_together(both(), found, DEVICE, MACHINE)
    assert together is not None
    assert not together.passed
    assert 1.1 < together.again < 1.18


def test_what_slowed_every_case_down_once_passes() -> None:
    found = hold_times(
        both(), of_both(1.18, 1.18, 0), DEVICE, MACHINE, lambda cases: of_both(1.0, 1.0, 1)
    )
    together = hold_together(both(), found, DEVICE, MACHINE)
    assert together is not None
    assert together.passed
    assert together.again < 1.0 < 1.1 < together.found


@pytest.mark.parametrize("factors", [(1.0, 1.0), (1.2, 0.95), (0.8, 0.8)])
def test_one_case_may_be_slower_than_all_together(factors: tuple[float, float]) -> None:
    found = hold_times(both(), of_both(*factors, seed=0), DEVICE, MACHINE, never)
    together = hold_together(both(), found, DEVICE, MACHINE)
    assert together is not None
    assert together.passed
    assert together.found == pytest.approx((factors[0] * factors[1]) ** 0.5, rel=0.02)


def test_all_together_are_all_that_were_recorded_here() -> None:
    slow = of_both(1.18, 1.18, 0)
    held = hold_times(both(), {CASE: slow[CASE]}, DEVICE, MACHINE, never)
    assert hold_together(both(), held, DEVICE, MACHINE) is None
    held = hold_times(both(), slow, DEVICE, "another", never)
    assert hold_together(both(), held, DEVICE, "another") is None


def test_a_case_without_a_limit_is_refused() -> None:
    found = figures(1.0, 0) | {Case(1, 32_000): figures(1.0, 0)[CASE]}
    with pytest.raises(ValueError, match="no limit against copy: enabled-float32-B1-V32000"):
        hold_times(gates(), found, DEVICE, MACHINE, never)
    with pytest.raises(ValueError, match="no limit against copy"):
        hold_times(gates(), figures(1.0, 0), "cpu", MACHINE, never)


@pytest.mark.parametrize(
    ("found", "right"),
    [
        ({"launches": 2}, True),
        ({"launches": 3}, False),
        ({"launches": 1}, False),
        ({}, False),
        ({"launches": 2, "spills": 0}, False),
    ],
)
def test_counters_are_held_to_exactly(found: dict[str, int], right: bool) -> None:
    assert passed(hold_counters(gates(), found)) is right


def test_nothing_is_not_a_pass() -> None:
    assert not passed([])


def test_the_interval_covers_the_ratio_about_as_often_as_it_says() -> None:
    covered = 0
    for seed in range(200):
        made_up = figures(1.0, seed)[CASE]
        found = ratio(made_up["top_n_sigma_"], made_up["copy"])
        assert found.lower <= found.value <= found.upper
        covered += found.lower <= 2.0 <= found.upper
    assert covered >= 180
