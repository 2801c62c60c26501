"""Vectors about n: what is rejected, what is accepted, what disables (TNS-1, TNS-2)."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any

from topnsigma_conformance.vectors.draw import FAMILIES, Draw, model_like
from topnsigma_conformance.vectors.edges import place, solve_n
from topnsigma_conformance.vectors.vector import Vector
from topnsigma_conformance.vectors.words import NEG_INF, Words, words

NAN_WITH_PAYLOAD: float = struct.unpack(">d", bytes.fromhex("fff8000000000123"))[0]

BAD_NUMBERS: tuple[float, ...] = (
    *(0, 0.0, -0.0, -1, -1.0, -2.5, -5e-324, -1e300),
    *(math.nan, NAN_WITH_PAYLOAD, math.inf, -math.inf),
)
BAD_VALUES: tuple[Any, ...] = (True, False, "2.0", "1", "nan", "", [2.0], [], {}, {"n": 2.0})

WHOLE = (1, 2, 3, 10, 1000)
SMALL = (5e-324, 1e-300, 1e-50, 2.0**-126, 1e-30, 1e-6, 0.001, 0.01, 0.049)
LARGE = (10.5, 12.0, 100.0, 1e6, 1e30, 1e300, 1.7976931348623157e308)
ORDINARY = (0.3, 0.5, 0.99, 1.0, 1.1, 1.5, 1.9, 1.9999, 2.5, 2.75, 3.9)

PLAIN = words((0.0, 1.0, 3.0))
CONSTANT = words((2.0, 2.0, 2.0))
BANNED = (*words((3.0, 1.0)), NEG_INF["float32"])


def parameter() -> Iterator[Vector]:
    """Every kind of bad n alone and in a batch; small, large, whole and broken n that are good."""
    for bad in (*BAD_NUMBERS, *BAD_VALUES):
        for note, row in (("plain", PLAIN), ("constant", CONSTANT), ("non-finite", BANNED)):
            yield Vector("TNS-1", f"{note} row, bad n", (row,), (bad,))
        for position in range(3):
            n: list[Any] = [1.0, 0.5, 2.0]
            n[position] = bad
            yield Vector("TNS-1", "one bad n in a batch", (PLAIN,) * 3, tuple(n))
        yield Vector("TNS-1", "bad n beside a disabled row", (PLAIN,) * 2, (None, bad))
    draw = Draw(101)
    for n_good in (*WHOLE, *SMALL, *LARGE, *ORDINARY):
        for size in (2, 3, 8, 13):
            row = words(draw.pick(FAMILIES)(draw, size))
            yield Vector("TNS-1", "good n", (row,), (n_good,))
    yield from _between_whole_numbers(draw)
    yield from _beyond_ten(draw)
    yield from _below_a_twentieth(draw)


def _between_whole_numbers(draw: Draw) -> Iterator[Vector]:
    """Tokens that another whole n would treat otherwise."""
    for size in (4, 6, 9, 16, 33):
        for n in (1.25, 1.9, 2.5, 3.75, 1, 2, 3):
            row = words(model_like(draw, size))
            placed = place(row, [(draw.spread(1, size)[0], "lower", -1)], float(n))
            if placed is not None:
                yield Vector("TNS-1", "a token close to the threshold", (placed,), (n,))


def _beyond_ten(draw: Draw) -> Iterator[Vector]:
    """One token far above the rest: its distance is about √V standard deviations."""
    for size in (257, 300):
        for n in (10.5, 11.0, 12.0, 14.0):
            values = model_like(draw, size)
            values[draw.below(size)] = 1000.0
            for edge, steps in (("upper", 1), ("lower", -1)):
                index = values.index(1000.0) - 1
                placed = place(words(values), [(index, edge, steps)], n)
                if placed is not None:
                    yield Vector("TNS-1", "n above 10, and a token there", (placed,), (n,))


def _below_a_twentieth(draw: Draw) -> Iterator[Vector]:
    for size in (3, 5, 8, 16):
        for _ in range(4):
            values = model_like(draw, size)
            top = values.index(max(values))
            values[top - 1] = values[top] - 2.0**-6
            row: Words = words(values)
            n = solve_n(row, top - 1, "lower", -1)
            if n is not None:
                yield Vector("TNS-1", "small n, and a token just below", (row,), (n,))


def disabled() -> Iterator[Vector]:
    """n is null, alone and beside enabled rows, for rows of every kind."""
    draw = Draw(102)
    specials: tuple[Words, ...] = (
        (0x80000000, 0x00000000, 0x80000000),
        (0x7FC00000, 0xFFC12345, 0x7F800001),
        (0x7F800000, 0xFF800000, 0x3F800000),
        (0x00000001, 0x807FFFFF, 0x3F800000),
        (0xFF7FFFFF, 0x7F7FFFFF, 0x00000000),
        (0xFF800000, 0xFF800000, 0xFF800000),
    )
    for row in specials:
        yield Vector("TNS-2", "special values, disabled", (row,), (None,))
        for n in ((None, 1.0), (1.0, None), (None, None)):
            rows = tuple(row if entry is None else PLAIN for entry in n)
            yield Vector("TNS-2", "special values, disabled in a batch", rows, n)
    for size in (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 64):
        for family in FAMILIES:
            row = words(family(draw, size))
            yield Vector("TNS-2", "disabled", (row,), (None,))
    for size in (3, 5, 8, 17):
        for count in (2, 3, 5):
            rows = tuple(words(draw.pick(FAMILIES)(draw, size)) for _ in range(count))
            for off in range(count):
                entries = [None if row == off else 0.25 * (row + 1) for row in range(count)]
                yield Vector("TNS-2", "one disabled row in a batch", rows, tuple(entries))
