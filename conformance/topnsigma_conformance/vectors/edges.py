"""Rows with tokens at the edges of their own exact threshold, found without rounding.

Either n is given and tokens are moved until the row stands still, or the row is given and n is
found by bisection. Both give up rather than settle for something else.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable
from fractions import Fraction

from topnsigma_conformance.vectors.words import Words, ordinal, row_array, stepped, value_of, word
from topnsigma_reference import RFC, Dialect, Threshold, classify

EDGES: dict[str, Callable[[Threshold], float]] = {
    "cut": lambda threshold: threshold.first_kept,
    "lower": lambda threshold: threshold.accept.lower,
    "upper": lambda threshold: threshold.accept.upper,
}
"""The first value that stays, and the ends of the acceptance interval."""

ALL_EDGES = (("upper", 1), ("lower", -1), ("cut", 0), ("cut", -1), ("upper", 0), ("lower", 0))
"""Each edge from both sides; those that tell a wrong threshold come first."""

Place = tuple[int, str, int]
"""Token, edge, steps above it."""

_ROUNDS = 60


def place(
    row: Words, places: list[Place], n: float, dialect: Dialect = RFC, dtype: str = "float32"
) -> Words | None:
    """``row`` with tokens moved to the edges of its threshold; None where none is found."""
    now = list(row)
    moved = {index for index, _, _ in places}
    top = max(ordinal(pattern, dtype) for index, pattern in enumerate(row) if index not in moved)
    seen: set[Words] = set()
    while tuple(now) not in seen and len(seen) < _ROUNDS:
        seen.add(tuple(now))
        threshold = classify(row_array(now, dtype), n, dialect).threshold
        if threshold is None:
            return None
        before = tuple(now)
        for index, edge, steps in places:
            now[index] = stepped(_edge_word(threshold, edge, dtype), steps, dtype)
        if any(ordinal(now[index], dtype) >= top for index, _, _ in places):
            return None
        if tuple(now) == before:
            return before
    return None


def _edge_word(threshold: Threshold, edge: str, dtype: str) -> int:
    return word(EDGES[edge](threshold), dtype)


def solve_n(
    row: Words, index: int, edge: str, steps: int, dialect: Dialect = RFC, dtype: str = "float32"
) -> float | None:
    """The n for which token ``index`` lies ``steps`` float32 values above ``edge``, if any.

    The edges fall as n grows, so that the smallest such n is found among all binary64 values.
    """
    start = classify(row_array(row, dtype), 1.0, dialect).threshold
    if start is None:
        return None
    wanted = ordinal(stepped(word(value_of(row[index], dtype)), -steps))

    def position(n: float) -> int:
        return ordinal(word(EDGES[edge](dataclasses.replace(start, n=Fraction(n)))))

    low, high = _binary64_bits(2.0**-30), _binary64_bits(2.0**30)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if position(_binary64(middle)) > wanted else (low, middle)
    n = _binary64(high)
    return n if position(n) == wanted else None


def _binary64_bits(value: float) -> int:
    return int(struct.unpack(">q", struct.pack(">d", value))[0])


def _binary64(bits: int) -> float:
    return float(struct.unpack(">d", struct.pack(">q", bits))[0])
