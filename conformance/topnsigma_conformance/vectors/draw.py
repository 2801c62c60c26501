"""Pseudo-random rows that are the same on every machine and in every version of Python.

Only ``getrandbits`` of a generator seeded with an int is used, and integer arithmetic on top.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from topnsigma_conformance.vectors.words import value_of, word

T = TypeVar("T")


class Draw:
    """A stream of choices."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def bits(self, count: int) -> int:
        """An integer of ``count`` random bits."""
        return self._random.getrandbits(count)

    def below(self, bound: int) -> int:
        """An integer in [0, bound)."""
        return self.bits(64) * bound >> 64

    def between(self, low: int, high: int) -> int:
        """An integer in [low, high]."""
        return low + self.below(high - low + 1)

    def pick(self, choices: Sequence[T]) -> T:
        """One of ``choices``."""
        return choices[self.below(len(choices))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """``items`` in another order."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def spread(self, count: int, size: int) -> list[int]:
        """``count`` different indices of a row of ``size``; the ends of vectors and tiles first."""
        edges = {0, size - 1}
        for width in (4, 8):
            whole = size - size % width
            edges |= {width - 1, width, whole - 1, whole}
        preferred = self.shuffled(sorted(index for index in edges if 0 <= index < size))
        rest = self.shuffled([index for index in range(size) if index not in edges])
        return (preferred + rest)[:count]


def float32(value: float) -> float:
    """``value`` rounded to float32."""
    return value_of(word(value))


def _bell(draw: Draw) -> float:
    """About normal, σ = 1, in multiples of 2**-16."""
    total = sum(draw.bits(16) for _ in range(12)) - 12 * 0x8000
    return math.ldexp(total, -16)


def _bells(draw: Draw, size: int, scale: float, offset: float) -> list[float]:
    return [float32(_bell(draw) * scale + offset) for _ in range(size)]


def bell(draw: Draw, size: int) -> list[float]:
    """σ = 2 around 0."""
    return _bells(draw, size, 2.0, 0.0)


def model_like(draw: Draw, size: int) -> list[float]:
    """Most tokens far below a few."""
    row = _bells(draw, size, 2.5, -4.0)
    for index in draw.spread(max(1, size // 8), size):
        row[index] = float32(_bell(draw) * 1.5 + 9.0)
    return row


def negative(draw: Draw, size: int) -> list[float]:
    """All below 0."""
    return [min(value, -0.5) for value in _bells(draw, size, 3.0, -20.0)]


def offset(draw: Draw, size: int) -> list[float]:
    """Small deviations around 100."""
    return _bells(draw, size, 0.5, 100.0)


def narrow(draw: Draw, size: int) -> list[float]:
    """σ = 2**-8."""
    return _bells(draw, size, 2.0**-8, 0.25)


def integers(draw: Draw, size: int) -> list[float]:
    """Small integers, with many ties."""
    return [float(draw.between(-3, 3)) for _ in range(size)]


def octaves(draw: Draw, size: int) -> list[float]:
    """Magnitudes of several octaves, full mantissas, both signs."""
    return [
        math.ldexp((1 << 23 | draw.bits(23)) * draw.pick((1, -1)), draw.between(-28, -20))
        for _ in range(size)
    ]


def positive(draw: Draw, size: int) -> list[float]:
    """All well above 0."""
    return [abs(value) + 1.0 for value in _bells(draw, size, 4.0, 12.0)]


Family = Callable[[Draw, int], list[float]]

FAMILIES: tuple[Family, ...] = (
    bell,
    model_like,
    negative,
    offset,
    narrow,
    integers,
    octaves,
    positive,
)
"""Rows of float32 values inside the core domain."""
