"""The ends of both bands are the last float32 values that may go either way, and n·σ is exact."""

from __future__ import annotations

import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, example, given, settings

from topnsigma_reference import RFC, Interval, Threshold, classify, parse_n
from topnsigma_reference.plain import plain_statistics, plain_ulp
from topnsigma_reference.threshold import exact_threshold, float32_at_least, float32_at_most

FLOAT32_MAX = float(np.finfo(np.float32).max)
GRID = Fraction(1, 2**149)

finite_float32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
rows = st.one_of(
    st.lists(st.integers(-8, 8).map(float), min_size=2, max_size=8),
    st.lists(finite_float32, min_size=2, max_size=8),
    st.lists(st.integers(-9, 9).map(lambda k: k * 2.0**-149), min_size=2, max_size=8),
    st.lists(st.floats(-(2.0**-120), 2.0**-120, width=32), min_size=2, max_size=8),
)
any_n = st.one_of(
    st.floats(0.01, 8.0),
    st.floats(min_value=5e-324, max_value=1.7976931348623157e308),
)


def neighbour(value: float, towards: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.nextafter(np.float32(value), np.float32(towards)))


def position(
    x: float, maximum: Fraction, reach_squared: Fraction, slack: Fraction, margin: Fraction
) -> int:
    """-1 below, 0 inside, 1 above the band around t = maximum - √reach_squared (SPEC.md, TNS-9)."""
    distance = maximum - Fraction(x)
    if distance + margin < 0 or (distance + margin) ** 2 < (1 - slack) ** 2 * reach_squared:
        return 1
    if distance > margin and (distance - margin) ** 2 > (1 + slack) ** 2 * reach_squared:
        return -1
    return 0


@settings(deadline=None, max_examples=400)
@given(rows, any_n)
def test_ends_are_the_outermost_values_of_the_band(row: list[float], n: float) -> None:
    statistics = plain_statistics(row)
    assume(statistics is not None)
    assert statistics is not None
    maximum, reach_squared = statistics[0], Fraction(n) ** 2 * statistics[1]
    verdict = classify(np.array(row, dtype=np.float32), n)
    ulp = plain_ulp(maximum, reach_squared)
    bands = (
        (verdict.accept, Fraction(1, 2**15), 4 * ulp),
        (verdict.tight, Fraction(2, 10**6), 2 * ulp),
    )
    for interval, slack, margin in bands:
        assert interval is not None
        lower, upper = interval.lower, interval.upper
        for value in (lower, upper):
            assert value in (-math.inf, math.inf) or value == float(np.float32(value))
        below = neighbour(lower, -math.inf)
        above = neighbour(upper, math.inf)
        if math.isfinite(below):
            assert position(below, maximum, reach_squared, slack, margin) == -1
        if math.isfinite(above):
            assert position(above, maximum, reach_squared, slack, margin) == 1
        if lower <= upper:
            assert position(lower, maximum, reach_squared, slack, margin) == 0
            assert position(upper, maximum, reach_squared, slack, margin) == 0
        else:
            assert below <= upper


def test_a_threshold_below_every_float_has_empty_bands() -> None:
    verdict = classify(np.array([3e38, -3e38], np.float32), 1e300)
    assert verdict.accept == Interval(-FLOAT32_MAX, -math.inf)
    assert -FLOAT32_MAX not in verdict.accept
    assert verdict.cut is not None
    assert verdict.cut < -1e300
    assert verdict.keep.all()
    assert (verdict.codes == 2).all()


def test_a_threshold_below_binary64_is_shown_as_minus_infinity() -> None:
    verdict = classify(np.array([3e38, -3e38], np.float32), 1.7e308)
    assert verdict.cut == -math.inf
    assert verdict.keep.all()


def test_the_tight_band_lies_inside_the_acceptance_interval() -> None:
    for n in (1e-50, 0.3, 1.0, 7.0):
        verdict = classify(np.array([10, 8, 6, 6, 5], np.float32), n)
        assert verdict.accept is not None
        assert verdict.tight is not None
        assert verdict.accept.lower <= verdict.tight.lower <= verdict.tight.upper
        assert verdict.tight.upper <= verdict.accept.upper


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        # The binade of t decides where it is farther from 0 than the maximum, and only then.
        ([0.0, -8.0], Fraction(1, 2**20)),
        ([1.0, -7.0], Fraction(1, 2**21)),
        ([8.0, 0.0], Fraction(1, 2**20)),
        ([2.0**-130, 0.0], Fraction(1, 2**149)),
        ([2.0**-125, 0.0], Fraction(1, 2**148)),
        ([FLOAT32_MAX, -FLOAT32_MAX], Fraction(2**104)),
        ([0.0, -FLOAT32_MAX], Fraction(2**104)),
    ],
)
def test_ulp_of_the_larger_of_maximum_and_threshold(row: list[float], expected: Fraction) -> None:
    # For two tokens σ·√2 is their distance: t is just below the smaller one.
    n = math.nextafter(math.sqrt(2.0), 2.0)
    threshold = classify(np.array(row, np.float32), n).threshold
    assert threshold is not None
    assert threshold.ulp * GRID == expected


def test_ulp_of_thresholds_beyond_float32_is_that_of_the_largest() -> None:
    threshold = classify(np.array([0, -FLOAT32_MAX], np.float32), 2.0).threshold
    assert threshold is not None
    assert threshold.cut < -(2.0**128)
    assert threshold.ulp * GRID == 2**104


@pytest.mark.parametrize(("shrink", "expected"), [(2.0**-30, 1), (-(2.0**-30), 2)])
def test_ulp_of_a_threshold_less_than_a_grid_unit_from_a_binade(
    shrink: float, expected: int
) -> None:
    n = math.sqrt(2.0) * (1.0 - shrink)
    threshold = classify(np.array([0, -(2.0**-125)], np.float32), n).threshold
    assert threshold is not None
    assert threshold.ulp == expected


def test_bands_around_a_threshold_of_zero() -> None:
    # Near 0 floats are dense: a band that is wide or narrow by one part in a million shows.
    verdict = classify(np.array([-4, 0, 4], np.float32), 1)
    for interval, exact in (
        (verdict.accept, 4 * Fraction(1, 2**15) + 4 * Fraction(1, 2**21)),
        (verdict.tight, 4 * Fraction(2, 10**6) + 2 * Fraction(1, 2**21)),
    ):
        assert interval is not None
        assert interval.lower == -interval.upper
        assert Fraction(interval.upper) <= exact < Fraction(neighbour(interval.upper, 1.0))


@settings(deadline=None)
@example(2**277)
@example(2**277 - 1)
@example(2**278)
@example(-(2**277))
@example(-(2**277) + 1)
@example(-(2**24) - 1)
@given(st.one_of(st.integers(-(2**300), 2**300), st.integers(-(2**30), 2**30)))
def test_rounding_grid_integers_to_float32(integer: int) -> None:
    exact = integer * GRID
    low, high = float32_at_most(integer), float32_at_least(integer)
    if math.isfinite(low):
        assert Fraction(low) <= exact
        assert low == FLOAT32_MAX or Fraction(neighbour(low, math.inf)) > exact
    else:
        assert low == -math.inf
        assert exact < -Fraction(FLOAT32_MAX)
    if math.isfinite(high):
        assert Fraction(high) >= exact
        assert high == -FLOAT32_MAX or Fraction(neighbour(high, -math.inf)) < exact
    else:
        assert high == math.inf
        assert exact > Fraction(FLOAT32_MAX)


def test_no_negative_zero_comes_out_of_rounding() -> None:
    assert [repr(float32_at_least(0)), repr(float32_at_most(0))] == ["0.0", "0.0"]


@pytest.mark.parametrize(("n", "variance"), [(0, (1, 1)), (-1, (1, 1)), (1, (0, 1))])
def test_no_threshold_without_n_and_variance(n: int, variance: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="n > 0 and a variance > 0"):
        exact_threshold(0, variance, Fraction(n), "keep")


def test_a_threshold_is_shown_without_its_big_integers() -> None:
    verdict = classify(np.array([10, 8, 6, 6, 5], np.float32), 1.0)
    assert isinstance(verdict.threshold, Threshold)
    assert len(repr(verdict.threshold)) < 160
    assert "cut=8.0, first_kept=8.0" in repr(verdict.threshold)


@settings(deadline=None)
@given(
    st.lists(finite_float32, min_size=2, max_size=8),
    st.floats(4.0, 1.7976931348623157e308),
)
def test_large_n_keeps_every_token(row: list[float], n: float) -> None:
    # SPEC.md, TNS-1: a row spans at most √(2(V-1))·σ, which is below 4σ up to V = 8.
    assert classify(np.array(row, np.float32), n).keep.all()


def test_n_beyond_float32_is_not_rounded_to_zero_or_infinity() -> None:
    row = np.array([3.0, 3.0 - 2**-20, 0.0], np.float32)
    assert parse_n(1e-50, RFC) == Fraction(1e-50)
    assert classify(row, 1e-50).keep.tolist() == [True, False, False]
    assert classify(row, 1e300).keep.tolist() == [True, True, True]
