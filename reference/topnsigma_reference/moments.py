"""Exact sums over a row: every finite float32 is an integer multiple of 2**-149."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from topnsigma_reference.float_format import Float32Array

UNIT_EXPONENT = -149
"""Everything in this package that is called an integer of the grid counts units of 2**-149."""

MAX_TOKENS = 1 << 28
"""Up to this many tokens the float64 accumulators below hold integers under 2**53: exact."""

_FEW_TOKENS = 64


@dataclasses.dataclass(frozen=True)
class Moments:
    """Exact sums over the values that count towards σ, in units of 2**-149 (and its square)."""

    count: int
    total: int
    squares: int

    def variance(self, sigma: str) -> tuple[int, int]:
        """The variance as an exact ratio (numerator, denominator > 0), in squared grid units.

        Args:
            sigma: ``sample`` (divisor count-1; count must be at least 2) or ``population``.
        """
        divisor = self.count - 1 if sigma == "sample" else self.count
        return self.count * self.squares - self.total**2, self.count * divisor


def grid_integer(value: float) -> int:
    """A finite float32 ``value`` as an integer of the grid."""
    # The largest float32 becomes 2**277: far inside binary64, so scaling is exact.
    return int(math.ldexp(value, -UNIT_EXPONENT))


def exact_moments(values: Float32Array) -> Moments:
    """Exact Σx and Σx² of finite float32 ``values`` [V].

    Raises:
        ValueError: more than 2**28 values.
    """
    if values.size <= _FEW_TOKENS:
        # Same sums; below this length the fixed cost of the other way is several times larger.
        integers = [grid_integer(value) for value in values.tolist()]
        return Moments(len(integers), sum(integers), sum(x * x for x in integers))
    if values.size > MAX_TOKENS:
        raise ValueError(f"a row has at most {MAX_TOKENS} tokens; got {values.size}")
    return _moments_by_exponent(values)


def _moments_by_exponent(values: Float32Array) -> Moments:
    """:func:`exact_moments` with a few hundred big-integer operations whatever the length.

    A value is mantissa * 2**shift on the grid; mantissas are summed per shift, in float64. A
    squared mantissa has 48 bits: it is summed in three parts of at most 24, so that the sums of
    2**28 tokens stay below 2**53.
    """
    bits = values.view(np.uint32)
    biased = ((bits >> np.uint32(23)) & np.uint32(0xFF)).astype(np.int64)
    mantissa = (
        (bits & np.uint32(0x7FFFFF)) | ((biased > 0).astype(np.uint32) << np.uint32(23))
    ).astype(np.float64)
    shift = np.maximum(biased - 1, 0)
    high = np.floor(mantissa / 4096.0)
    low = mantissa - high * 4096.0
    sums = np.bincount(shift, weights=np.copysign(mantissa, values))
    high_high = np.bincount(shift, weights=high * high)
    high_low = np.bincount(shift, weights=high * low)
    low_low = np.bincount(shift, weights=low * low)
    total = squares = 0
    for exponent in np.flatnonzero(high_high + high_low + low_low).tolist():
        total += int(sums[exponent]) << exponent
        square = (int(high_high[exponent]) << 24) + (int(high_low[exponent]) << 13)
        squares += (square + int(low_low[exponent])) << (2 * exponent)
    return Moments(values.size, total, squares)


def floor_root(numerator: int, denominator: int) -> tuple[int, bool]:
    """(⌊√(numerator/denominator)⌋, whether it is the exact root), for ints >= 0 and > 0."""
    root = math.isqrt(numerator // denominator)
    return root, root * root * denominator == numerator
