"""Rows of real vocabulary sizes against sums and comparisons in Python integers, token by token."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from topnsigma_reference import Dialect, Keep, Verdict, classify, top_n_sigma
from topnsigma_reference.moments import Moments, exact_moments
from topnsigma_reference.plain import plain_ulp


def expected_codes_and_keep(
    values: np.ndarray, n: float, dialect: Dialect
) -> tuple[list[int], list[bool]]:
    """TNS-5 and TNS-9 of a row of finite values, from the inequality of SPEC.md."""
    units = [int(math.ldexp(value, 149)) for value in values.tolist()]
    size = len(units)
    maximum, total, squares = max(units), sum(units), sum(x * x for x in units)
    divisor = size - 1 if dialect.sigma == "sample" else size
    p, q = n.as_integer_ratio()
    left, right = q * q * size * divisor, p * p * (size * squares - total * total)
    reach_squared = Fraction(right, left * 2**298)
    margin = int(4 * plain_ulp(Fraction(maximum, 2**149), reach_squared) * 2**149)
    wide, narrow = right * (2**15 + 1) ** 2, right * (2**15 - 1) ** 2
    codes, keep = [], []
    for x in units:
        distance = maximum - x
        square = distance * distance * left
        keep.append(square <= right if dialect.boundary == "keep" else square < right)
        if distance == 0 or (distance + margin) ** 2 * left << 30 < narrow:
            codes.append(int(Keep.MUST_KEEP))
        elif distance > margin and (distance - margin) ** 2 * left << 30 > wide:
            codes.append(int(Keep.MUST_DROP))
        else:
            codes.append(int(Keep.MAY))
    return codes, keep


def with_tokens_at_the_edges(values: np.ndarray, n: float, dialect: Dialect) -> np.ndarray:
    """A copy with tokens on, just above and just below the cut and the ends of the interval."""
    row = values.copy()
    for _ in range(4):
        verdict = classify(row, n, dialect)
        assert verdict.threshold is not None
        edges = [verdict.threshold.first_kept]
        edges += [verdict.threshold.accept.lower, verdict.threshold.accept.upper]
        centre = np.array(edges, dtype=np.float32)
        around = [centre, np.nextafter(centre, np.float32(np.inf))]
        around.append(np.nextafter(centre, np.float32(-np.inf)))
        row[5:14] = np.concatenate(around)
    return row


def model_like(size: int) -> np.ndarray:
    rng = np.random.default_rng(size)
    row = rng.normal(-2, 2.5, size)
    row[rng.choice(size, 40)] += 12
    return row.astype(np.float32)


def every_magnitude(size: int) -> np.ndarray:
    bits = np.random.default_rng(size).integers(0, 1 << 32, size, dtype=np.uint32)
    values = bits.view(np.float32)
    return np.where(np.isfinite(values), values, np.float32(0.0))


ROWS = [
    pytest.param(model_like(151_936), 1.5, Dialect(), id="model-like-151936"),
    pytest.param(model_like(262_144), 2.0, Dialect(sigma="population"), id="model-like-262144"),
    pytest.param(every_magnitude(151_936), 1.0, Dialect(boundary="drop"), id="all-bits-151936"),
]


@pytest.mark.parametrize(("values", "n", "dialect"), ROWS)
def test_large_row(values: np.ndarray, n: float, dialect: Dialect) -> None:
    row = with_tokens_at_the_edges(values, n, dialect)
    verdict: Verdict = classify(row, n, dialect)
    codes, keep = expected_codes_and_keep(row, n, dialect)
    assert verdict.codes.tolist() == codes
    assert verdict.keep.tolist() == keep
    assert set(codes) == {Keep.MUST_DROP, Keep.MAY, Keep.MUST_KEEP}
    assert (top_n_sigma(row, n, dialect) == row).tolist() == keep


@pytest.mark.parametrize(
    "row",
    [
        model_like(262_144),
        every_magnitude(262_144),
        np.full(262_144, 2.0 - 2.0**-23, dtype=np.float32),
    ],
    ids=["model-like", "all-bits", "all-mantissa-bits-set"],
)
def test_sums_of_large_rows(row: np.ndarray) -> None:
    # An error in the last bits of a sum would move no cut of the rows above.
    units = [int(math.ldexp(value, 149)) for value in row.tolist()]
    assert exact_moments(row) == Moments(len(units), sum(units), sum(x * x for x in units))


def test_one_token_of_many_moves_the_sums() -> None:
    row = np.zeros(262_144, dtype=np.float32)
    row[-1] = -(2.0**-149)
    verdict = classify(row, 1)
    assert verdict.rule == "TNS-5"
    assert verdict.keep.tolist() == [True] * 262_143 + [False]


def test_too_many_tokens_are_refused() -> None:
    row = np.broadcast_to(np.float32(1.0), (1 << 28) + 1)
    with pytest.raises(ValueError, match="at most 268435456 tokens; got 268435457"):
        exact_moments(row)
