"""Vectors about the company that a row keeps, and about calls one after the other (TNS-8, 11)."""

from __future__ import annotations

from collections.abc import Iterator

from topnsigma_conformance.vectors.draw import FAMILIES, Draw, bell, model_like
from topnsigma_conformance.vectors.edges import Place, place
from topnsigma_conformance.vectors.vector import Vector, answer
from topnsigma_conformance.vectors.words import Words, words


def batch() -> Iterator[Vector]:
    """Several rows with an n each, null among them, and rows that are left alone."""
    draw = Draw(501)
    for count in (2, 3, 4, 5, 7, 8):
        for size in (2, 3, 5, 8, 13, 24):
            for mixed in (False, False, True):
                rows: list[Words] = []
                n: list[float | None] = []
                for _ in range(count):
                    row = list(words(draw.pick(FAMILIES)(draw, size)))
                    if mixed and draw.below(3) == 0:
                        row[draw.below(size)] = draw.pick((0x7FC00000, 0x7F800000, 0xFF800000))
                    rows.append(tuple(row))
                    n.append(draw.pick((0.25, 0.5, 1.0, 1.5, 2.0, 3.0, None)))
                yield Vector("TNS-8", f"{count} rows", tuple(rows), tuple(n))
    for count in (2, 3, 5):
        for size in (3, 6, 12):
            same = words(bell(draw, size))
            entries = (0.3, 2.0, None, 0.6, 1.2)[:count]
            yield Vector("TNS-8", "the same row at several n", (same,) * count, entries)
            scales = tuple(
                words(x * 4.0**index for x in bell(draw, size)) for index in range(count)
            )
            yield Vector("TNS-8", "rows of several scales", scales, (1.0,) * count)


def repeat() -> Iterator[Vector]:
    """Calls in this order: the same row at another n, and tokens so dense that any drift shows."""
    draw = Draw(502)
    for size in (4, 8, 16):
        for first, second in ((0.3, 2.0), (2.0, 0.3), (0.5, 1.0)):
            row = _told_apart(draw, size, first, second)
            yield Vector("TNS-11", "followed by the same row at another n", (row,), (first,))
            yield Vector(
                "TNS-11", "the same row at another n", (row,), (second,), faults=("LastNUsed",)
            )
    for size in (40, 64, 130):
        for n in (1.0, 1.5, 2.25):
            placed = _dense(draw, size, n)
            if placed is None:
                continue
            wide = words(x * 256.0 for x in bell(draw, size))
            yield Vector("TNS-11", "a row of large σ, before one of small", (wide,), (1.0,))
            faults = ("LastDeviationLeaks", "CutWanders")
            note = "many tokens within rounding of the threshold"
            yield Vector("TNS-11", note, (placed,), (n,), faults=faults)


def _told_apart(draw: Draw, size: int, first: float, second: float) -> Words:
    """A row of which one n keeps a token that the other masks."""
    while True:
        row = words(model_like(draw, size))
        one, other = (answer(Vector("TNS-5", "", (row,), (n,))).letters[0] for n in (first, second))
        if any({a, b} == {"K", "D"} for a, b in zip(one, other, strict=True)):
            return row


def _dense(draw: Draw, size: int, n: float) -> Words | None:
    for _ in range(8):
        indices = draw.spread(16, size)
        places: list[Place] = [(index, "cut", step - 8) for step, index in enumerate(indices)]
        found = place(words(bell(draw, size)), places, n)
        if found is not None:
            return found
    return None
