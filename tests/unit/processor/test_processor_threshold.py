"""The scalars: t in float64, and the largest number of a dtype below it."""

import itertools
import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from topnsigma_processor.threshold import largest_below, threshold

SIXTEEN = [torch.float16, torch.bfloat16]
positive = st.floats(min_value=5e-324, max_value=1.7e308)


@pytest.mark.parametrize("dtype", SIXTEEN)
def test_largest_below_over_all_16_bit_numbers(dtype: torch.dtype) -> None:
    bits = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16)
    numbers = bits.view(dtype).double()
    ordered = sorted(set(numbers[numbers.isfinite()].tolist()))
    for lower, upper in itertools.pairwise(ordered):
        for t in (math.nextafter(lower, math.inf), (lower + upper) / 2, upper):
            assert largest_below(t, dtype) == lower
    assert largest_below(ordered[0], dtype) is None
    assert largest_below(math.nextafter(ordered[0], -math.inf), dtype) is None
    assert largest_below(ordered[0] * 4, dtype) is None


@pytest.mark.parametrize("dtype", [*SIXTEEN, torch.float32, torch.float64])
@settings(deadline=None)
@given(t=st.floats(allow_nan=False, allow_infinity=False))
def test_largest_below_has_no_number_between_it_and_t(dtype: torch.dtype, t: float) -> None:
    info = torch.finfo(dtype)
    t = min(t, info.max)
    below = largest_below(t, dtype)
    if below is None:
        assert t <= info.min
        return
    assert below < t
    number = torch.tensor(below, dtype=dtype)
    assert number.item() == below
    integer = {2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    if below == 0:
        after = torch.tensor(1, dtype=integer).view(dtype).item()
    else:
        after = (number.view(integer) + (1 if below > 0 else -1)).view(dtype).item()
    assert after >= t


def test_largest_below_infinity_is_none() -> None:
    assert all(largest_below(-math.inf, dtype) is None for dtype in [*SIXTEEN, torch.float64])


def nearest(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.copysign(math.inf, x)


@settings(deadline=None, max_examples=300)
@given(
    maximum=st.floats(min_value=-1.7e308, max_value=1.7e308),
    n=positive,
    sigma=st.floats(min_value=2.0**-70, max_value=2.0),
    exponent=st.integers(-1073, 1024),
)
def test_threshold_is_float64_accurate(
    maximum: float, n: float, sigma: float, exponent: int
) -> None:
    distance = Fraction(n) * Fraction(sigma) * Fraction(2) ** exponent
    exact = Fraction(maximum) - distance
    t = threshold(maximum, n, sigma, exponent)
    assert t <= maximum
    if math.isinf(t):
        assert exact < -Fraction(1.79e308)
        return
    smallest = Fraction(5e-324)
    slack = max(distance, abs(exact), smallest) * Fraction(2) ** -51 + smallest
    assert abs(Fraction(t) - exact) <= slack


def test_threshold_where_the_distance_alone_overflows() -> None:
    exact = float(Fraction(1.7e308) - Fraction(1.2) * 2**1024)
    assert threshold(1.7e308, 1.0, 1.2, 1024) == pytest.approx(exact, rel=1e-14)
    assert threshold(1.0, 1.7e308, 1.0, 1024) == -math.inf
