"""Vectors about what comes out: the fill value, the survivors, the maximum (TNS-5, 6, 7)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from topnsigma_conformance.vectors.draw import FAMILIES, Draw, bell, integers, negative, positive
from topnsigma_conformance.vectors.vector import Vector
from topnsigma_conformance.vectors.words import words


def fill() -> Iterator[Vector]:
    """Rows of every length up to 40 that lose most of their tokens, at both ends too."""
    draw = Draw(401)
    for size in range(2, 41):
        for family in draw.shuffled(FAMILIES)[:4]:
            values = family(draw, size)
            # The largest is moved away from the tail, where loops over vectors end.
            top = values.index(max(values))
            other = draw.below(max(1, size - size % 4 - 1))
            values[top], values[other] = values[other], values[top]
            yield Vector("TNS-5", "few tokens stay", (words(values),), (draw.pick((0.2, 0.7)),))


_KEPT = (0x80000000, 0x00000000, 0x00000001, 0x807FFFFF, 0x80000001, 0x00400000)


def survivors() -> Iterator[Vector]:
    """-0.0, subnormals and full mantissas that stay, beside tokens that do not."""
    draw = Draw(402)
    for size in (3, 4, 5, 8, 9, 16, 17, 33):
        for pattern in _KEPT:
            for _ in range(2):
                row = list(words(min(x, 0.5) for x in bell(draw, size)))
                for index in draw.spread(1 + draw.below(2), size):
                    row[index] = pattern
                n = draw.pick((1.0, 1.5, 2.0, 50.0))
                yield Vector("TNS-6", f"{pattern:08x} may stay", (tuple(row),), (n,))
    for size in (2, 5, 12, 40):
        for family in FAMILIES:
            for n in (1.0, 50.0):
                row_words = words(family(draw, size))
                yield Vector("TNS-6", "survivors keep their bits", (row_words,), (n,))
    for size in (65, 66, 80, 130, 257):
        for n in (2.5, 30.0):
            row_words = words(bell(draw, size))
            yield Vector("TNS-5", "more than 64 tokens stay", (row_words,), (n,))


def maximum() -> Iterator[Vector]:
    """One maximum or several, anywhere, at very small n, below zero, far from zero."""
    draw = Draw(403)
    for size in (2, 3, 4, 5, 8, 9, 17, 33):
        for family in (bell, integers, negative, positive):
            for count in (1, 2, 3):
                values = family(draw, size)
                top = max(values) + 0.5
                for index in draw.spread(min(count, size - 1), size):
                    values[index] = top
                n = draw.pick((1e-30, 1e-6, 0.001, 0.01, 0.3, 1.0))
                yield Vector("TNS-7", f"{count} tokens at the maximum", (words(values),), (n,))
    for size in (2, 5, 9, 16):
        for position in sorted({0, size - 1, size // 2}):
            for base in (0.0, -30.0, 9000.0, 2.0**-10):
                values = [base + value for value in bell(draw, size)]
                values[position] = max(values) + 4.0
                n = draw.pick((1e-30, 0.01, 0.5))
                note = f"the maximum at token {position}"
                yield Vector("TNS-7", note, (words(values),), (n,))
    for size in (3, 6, 9):
        for first in (-1.0, 1.0):
            values = [first, *([2.0, 1.5] * size)[: size - 1]]
            yield Vector("TNS-5", "token 0 stays or goes", (words(values),), (1.5,))
    for scale in (1.0, 1000.0, math.ldexp(1.0, -12)):
        for signs in ((-1, 1), (1, -1)):
            values = [scale * value * sign for value in (1, 2, 3, 5, 9) for sign in signs]
            yield Vector("TNS-5", "both signs of every value", (words(values),), (0.75,))
