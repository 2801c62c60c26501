"""Vectors about how closely sums have to be computed (TNS-9), the extreme domain included."""

from __future__ import annotations

import math
from collections.abc import Iterator

from topnsigma_conformance.vectors.draw import Draw, bell, float32, offset
from topnsigma_conformance.vectors.edges import Place, place
from topnsigma_conformance.vectors.vector import Vector
from topnsigma_conformance.vectors.words import Words, word, words

_SIDES = (("upper", 1), ("lower", -1))


def accuracy() -> Iterator[Vector]:
    """Offsets, large deviations before small ones, sums beyond float16, and float32 at its ends."""
    draw = Draw(601)
    for size in (8, 17, 33, 64, 257):
        for base in (30.0, 100.0, 400.0, 3000.0, -3000.0, 9000.0):
            scale = max(0.5, abs(base) / 512.0)
            row = words(base + x * scale for x in bell(draw, size))
            yield from _both_sides(draw, row, 1.5, "deviations far from zero")
    for size in (5, 16, 40):
        for scale in (100.0, 400.0, 1000.0):
            row = words(x * scale for x in bell(draw, size))
            yield from _both_sides(draw, row, 1.0, "squares beyond the range of float16")
    for size in (1025, 4099):
        yield from _both_sides(draw, words(offset(draw, size)), 2.0, "a small σ far from zero")
    for size in (2051, 4099):
        for scale in (64.0, 1.0):
            yield from _swallowed(draw, size, scale)
    yield from _extreme(draw)


def _both_sides(draw: Draw, row: Words, n: float, note: str) -> Iterator[Vector]:
    for edge, steps in _SIDES:
        places: list[Place] = [(draw.spread(1, len(row))[0], edge, steps)]
        found = place(row, places, n)
        if found is not None:
            yield Vector("TNS-9", note, (found,), (n,))


def _swallowed(draw: Draw, size: int, scale: float) -> Iterator[Vector]:
    """Two large deviations first: float32 sums, one after the other, lose all that follow.

    The squares of the others are just below half an ulp of the running sum.
    """
    small = 0.000345
    pairs = size // 2 - 1
    values = [scale, -scale]
    for _ in range(pairs):
        share = small * (1.0 - draw.bits(4) * 2.0**-10)
        values += [float32(scale * share), float32(-scale * share)]
    values += [0.0] * (size - len(values))
    deviation = math.sqrt(math.fsum(x * x for x in values) / (size - 1))
    # Puts the threshold among the small ones, near 0.
    n = scale / deviation
    indices = [index for index in draw.spread(24, size) if index > 1]
    for edge, sign in (("upper", 1), ("lower", -1)):
        places: list[Place] = [
            (index, edge, sign * 4**step) for step, index in enumerate(indices[:6])
        ]
        found = place(words(values), places, n)
        if found is not None:
            yield Vector("TNS-9", "few large deviations, then small ones", (found,), (n,))


def _extreme(draw: Draw) -> Iterator[Vector]:
    note = "outside of what models emit"
    for exponent in (66, 100, 120, -100, -130, -140):
        for size in (3, 8, 17, 33):
            row = words(math.ldexp(x, exponent) for x in bell(draw, size))
            yield Vector("TNS-9", note, (row,), (1.0,))
            yield from _both_sides(draw, row, 1.25, note)
    largest = 0x7F7FFFFF
    for row in (
        (largest, 0, 0xFF7FFFFF),
        (largest, largest - 1, largest - 2, 0),
        (0xFF7FFFFF, 0xFF7FFFFE, 0xFF7FFF00, 0xFF000000),
        (0x00000001, 0x00000000, 0x80000001, 0x00000002),
        (*words((1e20, -1e20, 1e19, 3.0)), 0x00000001),
    ):
        for n in (0.1, 0.5, 1.0, 1.4, 3.0):
            yield Vector("TNS-9", note, (row,), (n,))
    for base in (1e6, -1e6, 16777216.0):
        for size in (4, 9, 33):
            row = tuple(word(base) + draw.below(200) for _ in range(size))
            yield Vector("TNS-9", "a large offset", (row,), (1.0,))
