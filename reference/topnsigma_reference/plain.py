"""The specification in plain fractions: slow, short, and meant to be read beside SPEC.md.

Nothing is shared with the fast oracle but the dialect and the parsing of n, so that a property test
can hold one to the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from topnsigma_reference.dialect import RFC, Dialect
from topnsigma_reference.parameter import parse_n


def plain_statistics(
    row: Sequence[float], dialect: Dialect = RFC
) -> tuple[Fraction, Fraction] | None:
    """(maximum, σ²) of a row, or None when TNS-3 or TNS-4 leaves it alone."""
    if any(math.isnan(x) or x == math.inf for x in row):
        return None
    if -math.inf in row and dialect.neg_inf == "noop":
        return None
    finite = [Fraction(x) for x in row if x != -math.inf]
    zeros = [Fraction(0)] * (len(row) - len(finite) if dialect.neg_inf == "zero" else 0)
    counted = finite + zeros
    if not finite or len(counted) < 2:
        return None
    mean = sum(counted) / Fraction(len(counted))
    divisor = len(counted) - 1 if dialect.sigma == "sample" else len(counted)
    variance = sum((x - mean) ** 2 for x in counted) / Fraction(divisor)
    return (max(finite), variance) if variance > 0 else None


def plain_keep(row: Sequence[float], n: object, dialect: Dialect = RFC) -> list[bool]:
    """Which tokens of a row of float values stay (TNS-1 … TNS-7).

    Raises:
        ValueError: n is outside the domain and the dialect rejects it (TNS-1).
    """
    exact_n = parse_n(n, dialect)
    statistics = plain_statistics(row, dialect)
    if exact_n is None or statistics is None:
        return [True] * len(row)
    maximum, variance = statistics

    def stays(x: float) -> bool:
        if x == -math.inf:
            return False
        distance_squared, reach_squared = (maximum - Fraction(x)) ** 2, exact_n**2 * variance
        return distance_squared < reach_squared or (
            distance_squared == reach_squared and dialect.boundary == "keep"
        )

    return [stays(x) for x in row]


def plain_codes(
    row: Sequence[float],
    n: object,
    dialect: Dialect = RFC,
    slack: Fraction = Fraction(1, 2**15),
    ulps: int = 4,
) -> list[int]:
    """Per token 2 (must stay), 1 (may) or 0 (must be masked): TNS-9.

    The interval around t has half-width slack·n·σ + ulps·ulp(max(|max|, |t|)); the defaults are
    those of the acceptance interval.

    Raises:
        ValueError: n is outside the domain and the dialect rejects it (TNS-1).
    """
    exact_n = parse_n(n, dialect)
    statistics = plain_statistics(row, dialect)
    if exact_n is None or statistics is None:
        return [2] * len(row)
    maximum, variance = statistics
    margin = ulps * plain_ulp(maximum, exact_n**2 * variance)

    def code(x: float) -> int:
        if x == -math.inf:
            return 0
        distance = maximum - Fraction(x)
        if distance == 0 or (distance + margin) ** 2 < (exact_n * (1 - slack)) ** 2 * variance:
            return 2
        if distance > margin and (distance - margin) ** 2 > (exact_n * (1 + slack)) ** 2 * variance:
            return 0
        return 1

    return [code(x) for x in row]


def plain_ulp(maximum: Fraction, reach_squared: Fraction) -> Fraction:
    """float32 ulp of the larger of |maximum| and |maximum - √reach_squared|."""

    def reached(power: Fraction) -> bool:
        above = maximum >= power and reach_squared <= (maximum - power) ** 2
        below = maximum <= -power or reach_squared >= (maximum + power) ** 2
        return abs(maximum) >= power or above or below

    exponent = next((e for e in range(127, -126, -1) if reached(Fraction(2) ** e)), -126)
    return Fraction(2) ** (exponent - 23)
