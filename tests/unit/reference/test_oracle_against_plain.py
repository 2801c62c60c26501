"""The fast oracle gives what the plain version gives: kept tokens, codes and both bands."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from topnsigma_reference import Dialect, Keep, Verdict, all_dialects, classify
from topnsigma_reference.moments import exact_moments
from topnsigma_reference.plain import plain_codes, plain_keep, plain_statistics, plain_ulp
from topnsigma_reference.threshold import ACCEPT_SLACK, ACCEPT_ULPS, TIGHT_SLACK, TIGHT_ULPS

BANDS = {"accept": (ACCEPT_SLACK, ACCEPT_ULPS), "tight": (TIGHT_SLACK, TIGHT_ULPS)}
FLOAT32_MAX = float(np.finfo(np.float32).max)

finite_values = st.one_of(
    st.integers(-4, 4).map(float),
    st.sampled_from([-0.0, 0.0, 1.0, 1.0 + 2**-23, 1.0 - 2**-24, FLOAT32_MAX, -FLOAT32_MAX]),
    st.integers(-9, 9).map(lambda units: units * 2.0**-149),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.floats(-30.0, 30.0, width=32),
)
finite_rows = st.lists(finite_values, min_size=1, max_size=8)
any_rows = st.lists(
    st.one_of(finite_values, finite_values, st.sampled_from([-math.inf, math.inf, math.nan])),
    min_size=1,
    max_size=8,
)
banned_rows = st.lists(st.one_of(finite_values, st.just(-math.inf)), min_size=1, max_size=8)
any_n = st.one_of(
    st.sampled_from([5e-324, 2.2e-308, 0.5, 1, 2, 3, 1.7976931348623157e308]),
    st.floats(0.1, 4.0),
    st.floats(min_value=5e-324, max_value=1.7976931348623157e308),
)
dialects = st.sampled_from(list(all_dialects()))


def binary64_root(value: Fraction) -> float:
    """√value to within an ulp or so of binary64."""
    scale = max(0, 128 - value.numerator.bit_length() + value.denominator.bit_length())
    root = Fraction(math.isqrt((value.numerator << (2 * scale)) // value.denominator), 1 << scale)
    return float(root)


@st.composite
def row_and_n(draw: st.DrawFn) -> tuple[list[float], float | int, Dialect]:
    """A row with an n of any kind, or with one that puts a token at, or next to, an edge.

    An n of (max - x) / σ in binary64 puts t within 2**-52 of x, on either side: far closer than any
    float32 could be placed.
    """
    row = draw(st.one_of(finite_rows, banned_rows, any_rows))
    dialect = draw(dialects)
    statistics = plain_statistics(row, dialect)
    if statistics is None or draw(st.booleans()):
        return row, draw(any_n), dialect
    maximum, variance = statistics
    target = Fraction(draw(st.sampled_from([x for x in row if math.isfinite(x)])))
    band, side = draw(st.sampled_from([(0, 0), (0, 0), *((s, d) for s in (1, 2) for d in (1, -1))]))
    slack, ulps = [(Fraction(0), 0), *BANDS.values()][band]
    ulp = plain_ulp(maximum, (maximum - target) ** 2)
    distance = maximum - target + side * ulps * ulp
    if distance <= 0:
        return row, draw(any_n), dialect
    n = binary64_root(distance**2 / variance) / float(1 - side * slack)
    for _ in range(draw(st.integers(0, 3))):
        n = math.nextafter(n, draw(st.sampled_from([0.0, math.inf])))
    return row, n if 0 < n < math.inf else 1.0, dialect


def codes_from_interval(verdict: Verdict, row: list[float], band: str) -> list[int]:
    """The codes of a row by its verdict's own interval."""
    interval = getattr(verdict, band)
    if interval is None:
        return [Keep.MUST_KEEP] * len(row)
    return [
        Keep.MUST_KEEP
        if x == verdict.maximum or x > interval.upper
        else Keep.MUST_DROP
        if x < interval.lower
        else Keep.MAY
        for x in row
    ]


def assert_same_as_plain(row: list[float], n: object, dialect: Dialect) -> None:
    verdict = classify(np.array(row, dtype=np.float32), n, dialect)
    assert verdict.keep.tolist() == plain_keep(row, n, dialect)
    assert verdict.codes.tolist() == plain_codes(row, n, dialect)
    assert verdict.codes.dtype == np.int8
    assert verdict.unchanged == (plain_statistics(row, dialect) is None)
    for band, (slack, ulps) in BANDS.items():
        expected = plain_codes(row, n, dialect, slack, ulps)
        assert codes_from_interval(verdict, row, band) == expected, band
    if verdict.threshold is not None:
        finite = [x for x in row if math.isfinite(x)]
        assert verdict.maximum == max(finite)
        exact_keep = [x >= verdict.threshold.first_kept for x in row]
        assert exact_keep == verdict.keep.tolist()


@settings(deadline=None, max_examples=800)
@given(row_and_n())
def test_small_rows(case: tuple[list[float], float | int, Dialect]) -> None:
    assert_same_as_plain(*case)


@settings(deadline=None, max_examples=40)
@given(row_and_n(), st.integers(9, 12))
def test_rows_past_the_length_that_is_summed_token_by_token(
    case: tuple[list[float], float | int, Dialect], copies: int
) -> None:
    row, n, dialect = case
    assert_same_as_plain((row * 70)[: 7 * copies + 2], n, dialect)


@settings(deadline=None, max_examples=100)
@given(st.binary(min_size=4 * 65, max_size=4 * 300))
def test_sums_of_any_bit_patterns(raw: bytes) -> None:
    values = np.frombuffer(raw[: len(raw) // 4 * 4], dtype=np.float32)
    values = np.where(np.isfinite(values), values, np.float32(1.0))
    integers = [int(Fraction(x) * 2**149) for x in values.tolist()]
    moments = exact_moments(values)
    assert (moments.count, moments.total) == (len(integers), sum(integers))
    assert moments.squares == sum(x * x for x in integers)


@pytest.mark.parametrize("dialect", list(all_dialects()), ids=str)
def test_every_dialect_on_rows_with_every_kind_of_token(dialect: Dialect) -> None:
    rows = [
        [3.0, 2.0, 1.0, 0.0],
        [1.0, 2.0, 2.0, 2.0, 3.0],
        [10.0, 8.0, 6.0, 6.0, 5.0],
        [10.0, 8.0, 6.0, 6.0, 5.0, -math.inf],
        [-5.0, -6.0, -9.0, -math.inf, -math.inf],
        [2.0, 2.0, -math.inf],
        [math.nan, 1.0, -math.inf],
        [math.inf, 1.0, 0.0],
        [-math.inf, -math.inf],
        [0.0, -math.inf, 0.0],
        [4.0, -math.inf],
        [7.0],
        [-math.inf],
    ]
    for row in rows:
        for n in (0.5, 1, 1.5, 2):
            assert_same_as_plain(row, n, dialect)


@pytest.mark.parametrize(
    ("boundary", "keep", "first_kept"),
    [("keep", [False, True, True], "0.0"), ("drop", [False, False, True], repr(2.0**-149))],
)
def test_a_threshold_that_is_exactly_a_logit(
    boundary: Literal["keep", "drop"], keep: list[bool], first_kept: str
) -> None:
    assert plain_statistics([-4.0, 0.0, 4.0]) == (Fraction(4), Fraction(16))
    verdict = classify(np.array([-4, 0, 4], np.float32), 1, Dialect(boundary=boundary))
    assert verdict.keep.tolist() == keep
    assert verdict.threshold is not None
    assert verdict.threshold.sigma == 4.0
    assert repr(verdict.threshold.first_kept) == first_kept
