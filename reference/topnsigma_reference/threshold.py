"""The exact threshold t = max - n·σ of a row and the intervals around it (TNS-5, TNS-9).

σ is irrational in general, so t is never written down. What is needed is where float32 values lie
relative to it, and that is decided by integer square roots on the grid of 2**-149.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from fractions import Fraction

from topnsigma_reference.float_format import FLOAT32_MAX
from topnsigma_reference.moments import UNIT_EXPONENT, floor_root

ACCEPT_SLACK, ACCEPT_ULPS = Fraction(1, 2**15), 4
TIGHT_SLACK, TIGHT_ULPS = Fraction(2, 10**6), 2

_MANTISSA_BITS = 24
_MAX_ULP_SHIFT = 253
_EXTRA_BITS = 128


@dataclasses.dataclass(frozen=True)
class Interval:
    """A closed interval of finite float32 values. Empty (``lower > upper``) when it holds none."""

    lower: float
    upper: float

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper


@dataclasses.dataclass(frozen=True, repr=False)
class Threshold:
    """t = maximum - n·σ, held as the exact numbers it is made of; n and σ are > 0.

    Attributes:
        grid_maximum: the row's maximum, as an integer of the grid.
        variance: σ² in squared grid units, an exact ratio (numerator > 0, denominator > 0).
        n: the exact n.
        boundary: ``keep`` or ``drop``: whether a logit equal to t stays.
    """

    grid_maximum: int
    variance: tuple[int, int]
    n: Fraction
    boundary: str

    @functools.cached_property
    def first_kept(self) -> float:
        """The smallest finite float32 that stays: x stays exactly when x >= first_kept."""
        floor, ceil = self._n_sigma
        return float32_at_least(
            self.grid_maximum - (floor if self.boundary == "keep" else ceil - 1)
        )

    @functools.cached_property
    def accept(self) -> Interval:
        """The float32 values that an implementation may keep or mask (TNS-9)."""
        return self._interval(ACCEPT_SLACK, ACCEPT_ULPS)

    @functools.cached_property
    def tight(self) -> Interval:
        """The same for the tight band, outside of which conforming is a quality warning."""
        return self._interval(TIGHT_SLACK, TIGHT_ULPS)

    @functools.cached_property
    def sigma(self) -> float:
        """σ as binary64, for people; decides nothing."""
        return _binary64(_root(*self.variance))

    @functools.cached_property
    def cut(self) -> float:
        """t as binary64 (-inf when below its range), for people; decides nothing."""
        return _binary64(self.grid_maximum - _root(*self._scaled_variance(1, 1)))

    @functools.cached_property
    def ulp(self) -> int:
        """float32 ulp of max(|maximum|, |t|), in grid units, 2**253 at most."""
        floor, _ = self._n_sigma
        # |t| is the larger one only where t < 0. Rounding it down to the grid keeps its binade, but
        # below 2**24 units, where every ulp is 1 unit.
        magnitude = max(abs(self.grid_maximum), floor - self.grid_maximum)
        return 1 << min(max(magnitude.bit_length() - _MANTISSA_BITS, 0), _MAX_ULP_SHIFT)

    @functools.cached_property
    def _n_sigma(self) -> tuple[int, int]:
        return self._floor_and_ceil(1, 1)

    def _scaled_variance(self, numerator: int, denominator: int) -> tuple[int, int]:
        top, bottom = numerator * self.n.numerator, denominator * self.n.denominator
        return top * top * self.variance[0], bottom * bottom * self.variance[1]

    def _floor_and_ceil(self, numerator: int, denominator: int) -> tuple[int, int]:
        """(⌊n·σ·numerator/denominator⌋, ⌈…⌉) in grid units."""
        root, exact = floor_root(*self._scaled_variance(numerator, denominator))
        return root, root if exact else root + 1

    def _interval(self, slack: Fraction, ulps: int) -> Interval:
        """All float32 x with |x - t| <= slack·n·σ + ulps·ulp."""
        part, whole = slack.numerator, slack.denominator
        farthest, _ = self._floor_and_ceil(whole + part, whole)
        _, nearest = self._floor_and_ceil(whole - part, whole)
        return Interval(
            float32_at_least(self.grid_maximum - farthest - ulps * self.ulp),
            float32_at_most(self.grid_maximum - nearest + ulps * self.ulp),
        )

    def __repr__(self) -> str:
        # The fields are integers of hundreds of bits: no use in a failure message.
        return (
            f"Threshold(cut={self.cut!r}, first_kept={self.first_kept!r}, accept={self.accept!r})"
        )


def exact_threshold(
    maximum: int, variance: tuple[int, int], n: Fraction, boundary: str
) -> Threshold:
    """The threshold of a row; what the arguments are is said at :class:`Threshold`.

    Raises:
        ValueError: n or the variance is not > 0: such a row has no threshold.
    """
    if n <= 0 or variance[0] <= 0:
        raise ValueError(f"a threshold takes n > 0 and a variance > 0; got n = {n}, {variance}")
    return Threshold(maximum, variance, n, boundary)


def float32_at_least(integer: int) -> float:
    """The smallest finite float32 >= the grid integer; inf when there is none."""
    # + 0.0 turns the -0.0 that negation makes of zero into 0.0.
    return -float32_at_most(-integer) + 0.0


def float32_at_most(integer: int) -> float:
    """The largest finite float32 <= the grid integer; -inf when there is none."""
    shift = max(abs(integer).bit_length() - _MANTISSA_BITS, 0)
    # >> floors, also for negative integers, and a mantissa that carries to 2**24 is still exact.
    mantissa = integer >> shift
    if shift > _MAX_ULP_SHIFT or abs(mantissa) << shift >= 1 << (_MANTISSA_BITS + _MAX_ULP_SHIFT):
        return FLOAT32_MAX if integer > 0 else -math.inf
    return math.ldexp(mantissa, shift + UNIT_EXPONENT)


def _root(numerator: int, denominator: int) -> Fraction:
    """√(numerator/denominator) to 128 bits after the binary point."""
    root, _ = floor_root(numerator << (2 * _EXTRA_BITS), denominator)
    return Fraction(root, 1 << _EXTRA_BITS)


def _binary64(grid: Fraction) -> float:
    try:
        return float(grid / (1 << -UNIT_EXPONENT))
    except OverflowError:
        return math.inf if grid > 0 else -math.inf
