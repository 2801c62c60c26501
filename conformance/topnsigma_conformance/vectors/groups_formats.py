"""Vectors in float16 and bfloat16, whose statistics are those of the embedded float32 values."""

from __future__ import annotations

from collections.abc import Iterator

from topnsigma_conformance.vectors.draw import FAMILIES, Draw, bell
from topnsigma_conformance.vectors.edges import solve_n
from topnsigma_conformance.vectors.groups_cut import edge_vector
from topnsigma_conformance.vectors.vector import Vector
from topnsigma_conformance.vectors.words import NEG_INF, POS_INF, values_of, words

_NANS = {"float16": (0x7E00, 0xFE2A, 0x7C01), "bfloat16": (0x7FC0, 0xFFD2, 0x7F81)}


def formats() -> Iterator[Vector]:
    """The cut, fill, survivors and rows that are left alone, in both narrow formats."""
    for seed, dtype in ((701, "float16"), (702, "bfloat16")):
        draw = Draw(seed)
        for size in (2, 3, 5, 9, 17, 33):
            for family in FAMILIES:
                row = words(family(draw, size), dtype)
                n = draw.pick((0.5, 1.0, 1.5, 2.5))
                yield Vector("TNS-5", "a narrow format", (row,), (n,), dtype=dtype)
                for steps in (1, -1):
                    found = edge_vector(draw, family, size, n, (("cut", steps),), dtype=dtype)
                    if found is not None:
                        yield found
        for size in (3, 7, 12):
            row = words(bell(draw, size), dtype)
            values = values_of(row, dtype)
            for index, value in enumerate(values):
                for edge, steps in (("upper", 1), ("lower", -1), ("cut", 0)):
                    solved = solve_n(row, index, edge, steps, dtype=dtype)
                    if solved is not None and value < max(values):
                        note = f"n puts a token at {edge}{steps:+d}"
                        yield Vector("TNS-9", note, (row,), (solved,), dtype=dtype)
        for special in (*_NANS[dtype], POS_INF[dtype], NEG_INF[dtype]):
            for size in (1, 4, 9):
                changed = list(words(bell(draw, size), dtype))
                changed[draw.below(size)] = special
                note = f"{special:04x} in the row"
                yield Vector("TNS-3", note, (tuple(changed),), (0.5,), dtype=dtype)
                yield Vector("TNS-2", f"{note}, disabled", (tuple(changed),), (None,), dtype=dtype)
        for kept in (0x8000, 0x0001, 0x8001):
            row = (kept, *words((1.0, -3.0, -2.0), dtype))
            yield Vector("TNS-6", f"{kept:04x} stays", (row,), (1.0,), dtype=dtype)
