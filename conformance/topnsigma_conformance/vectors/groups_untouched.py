"""Vectors about rows that are left alone: non-finite, constant, of one token (TNS-3, TNS-4)."""

from __future__ import annotations

from collections.abc import Iterator

from topnsigma_conformance.vectors.draw import FAMILIES, Draw, bell
from topnsigma_conformance.vectors.vector import Vector
from topnsigma_conformance.vectors.words import NEG_INF, Words, words

NAN, INF, MINUS_INF = 0x7FC00000, 0x7F800000, NEG_INF["float32"]
NANS = (NAN, 0xFFC00000, 0xFFC12345, 0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF)

SIZES = (1, 2, 3, 5, 8, 9, 17, 33)
LONG = (257, 1025, 4099)


def non_finite() -> Iterator[Vector]:
    """NaN, +inf and -inf at every kind of place."""
    draw = Draw(201)
    for size in SIZES:
        for special in (*NANS, INF, MINUS_INF):
            for index in sorted({0, size // 2, size - 1}):
                row = list(words(draw.pick(FAMILIES)(draw, size)))
                row[index] = special
                n = draw.pick((0.25, 0.5, 1.0, 3.0))
                yield Vector("TNS-3", f"{special:08x} at token {index}", (tuple(row),), (n,))
    for size in (2, 3, 8, 13):
        for pair in ((NAN, INF), (NAN, MINUS_INF), (INF, MINUS_INF), (INF, INF), (NAN, NANS[2])):
            row = list(words(bell(draw, size)))
            for index, special in zip(draw.spread(2, size), pair, strict=True):
                row[index] = special
            yield Vector("TNS-3", "two special values", (tuple(row),), (0.5,))
        for special in (NAN, NANS[2], INF, MINUS_INF):
            yield Vector("TNS-3", "nothing else", ((special,) * size,), (1.0,))
    for size in (5, 9, 17, 64):
        for count in (1, 2, size // 2, size - 2):
            for special in (NAN, INF, MINUS_INF):
                row = list(words(draw.pick(FAMILIES)(draw, size)))
                for index in draw.spread(count, size):
                    row[index] = special
                yield Vector("TNS-3", f"{count} special values", (tuple(row),), (0.5,))
    yield from _at_the_end(draw)


def _at_the_end(draw: Draw) -> Iterator[Vector]:
    for size in LONG:
        for special in (NAN, INF, MINUS_INF):
            row = (*words(bell(draw, size - 1)), special)
            yield Vector("TNS-3", "only the last token is not finite", (row,), (1.0,))


def constant() -> Iterator[Vector]:
    """σ = 0, as rows of equal values (0.0 and -0.0 too) and as rows of one token."""
    values: tuple[int, ...] = (
        *words((0.0, -0.0, 1.0, -1.0, 0.1, -0.3, 100.7, 9999.5, -12345.678, 1e20, -1e-20)),
        *(0x00000001, 0x807FFFFF, 0x7F7FFFFF, 0xFF7FFFFF),
    )
    for pattern in values:
        for size in (1, 2, 3, 5, 8, 9, 33):
            for n in (0.5, 3.0):
                yield Vector("TNS-4", "all tokens equal", ((pattern,) * size,), (n,))
    for pattern in words((0.1, -0.3)):
        for size in LONG[:2]:
            yield Vector("TNS-4", "a mean that rounds", ((pattern,) * size,), (0.5,))
    for size in (2, 3, 8, 9):
        zeros: Words = tuple(0x80000000 if index % 2 else 0 for index in range(size))
        yield Vector("TNS-4", "0.0 equals -0.0", (zeros,), (0.5,))
    for pattern in words((1.0, -7.25, 100.0)):
        for size in (2, 3, 8, 17):
            for last in (pattern + 1, pattern - 1):
                row = (*(pattern,) * (size - 1), last)
                yield Vector("TNS-4", "nearly equal is not equal", (row,), (0.5,))
