"""Tokens placed at the edges of the exact threshold, where samplers differ.

Placing a token moves σ and with it the edge it was placed at. So placement iterates until the row
stands still; with exact sums that are updated by integers, a round costs microseconds even for a
row of 262,144 tokens.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np

from topnsigma_conformance.formats import Float32Array, step
from topnsigma_reference import Dialect, parse_n
from topnsigma_reference.moments import Moments, exact_moments, grid_integer
from topnsigma_reference.threshold import Threshold, exact_threshold

EDGES = ("cut", "lower", "upper", "tight-lower", "tight-upper", "between-divisors")
"""Where a token can be placed: at the first value that stays; at the ends of the acceptance
interval or of the tight band; half-way between the thresholds of the two divisors of σ."""

_MAX_ROUNDS = 24


@dataclasses.dataclass(frozen=True)
class Place:
    """Put token ``index`` at ``edge``, ``ulps`` steps of its dtype above (below, if negative)."""

    index: int
    edge: str
    ulps: int = 0


def place_tokens(
    values: Float32Array, places: tuple[Place, ...], n: object, dialect: Dialect, dtype: str
) -> Float32Array:
    """A copy of ``values`` [V] with tokens moved to the edges of its own threshold.

    Rows that have no threshold (disabled, non-finite under noop, σ = 0) come back as they are.
    Where the iteration does not settle (small V; a token that was the maximum, and comes down by a
    small part in every round), the last round is returned.
    """
    row = values.copy()
    exact_n = parse_n(n, dataclasses.replace(dialect, invalid_n="disable"))
    if not places or exact_n is None or row.size < 2:
        return row
    finite = np.isfinite(row)
    if np.isnan(row).any() or np.isposinf(row).any() or not finite.any():
        return row
    if dialect.neg_inf == "noop" and not finite.all():
        return row
    counted = row[finite] if dialect.neg_inf == "exclude" else np.where(finite, row, np.float32(0))
    if counted.size < 2:
        return row
    moments = exact_moments(counted.astype(np.float32))
    movable = [place for place in places if finite[place.index]]
    # Everything that does not move has one maximum: only the moved tokens can pass it.
    rest = np.delete(row, [place.index for place in movable])
    rest_maximum = float(rest[np.isfinite(rest)].max(initial=-np.inf))
    now = [float(row[place.index]) for place in movable]
    for _ in range(_MAX_ROUNDS):
        targets = _targets(movable, moments, max([rest_maximum, *now]), exact_n, dialect, dtype)
        if targets is None or targets == now:
            break
        moments = _moved(moments, now, targets)
        now = targets
    for place, value in zip(movable, now, strict=True):
        row[place.index] = value
    return row


def _targets(
    places: list[Place],
    moments: Moments,
    maximum: float,
    n: Fraction,
    dialect: Dialect,
    dtype: str,
) -> list[float] | None:
    own = _threshold(moments, maximum, n, dialect, dialect.sigma)
    if own is None:
        return None
    edges = {
        "cut": lambda: own.first_kept,
        "lower": lambda: own.accept.lower,
        "upper": lambda: own.accept.upper,
        "tight-lower": lambda: own.tight.lower,
        "tight-upper": lambda: own.tight.upper,
        "between-divisors": lambda: _between_divisors(own, moments, maximum, n, dialect),
    }
    # A token above the maximum would move the maximum, and the edge for ever away from it.
    return [
        min(step(float(np.float32(edges[place.edge]())), dtype, place.ulps), maximum)
        for place in places
    ]


def _between_divisors(
    own: Threshold, moments: Moments, maximum: float, n: Fraction, dialect: Dialect
) -> float:
    divisor = "population" if dialect.sigma == "sample" else "sample"
    other = _threshold(moments, maximum, n, dialect, divisor)
    return own.first_kept if other is None else (own.first_kept + other.first_kept) / 2


def _moved(moments: Moments, before: list[float], after: list[float]) -> Moments:
    old = [grid_integer(value) for value in before]
    new = [grid_integer(value) for value in after]
    return Moments(
        moments.count,
        moments.total + sum(new) - sum(old),
        moments.squares + sum(x * x for x in new) - sum(x * x for x in old),
    )


def _threshold(
    moments: Moments, maximum: float, n: Fraction, dialect: Dialect, sigma: str
) -> Threshold | None:
    variance = moments.variance(sigma)
    if variance[0] == 0:
        return None
    return exact_threshold(grid_integer(maximum), variance, n, dialect.boundary)
