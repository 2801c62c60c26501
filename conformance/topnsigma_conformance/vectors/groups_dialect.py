"""Vectors for dialects other than RFC: what each changes, and that it changes nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from topnsigma_conformance.vectors.draw import FAMILIES, Draw, bell
from topnsigma_conformance.vectors.groups_cut import (
    boundary_vectors,
    divisor_vectors,
    edge_vector,
)
from topnsigma_conformance.vectors.groups_parameter import BAD_NUMBERS, PLAIN
from topnsigma_conformance.vectors.vector import Vector
from topnsigma_conformance.vectors.words import NEG_INF, words
from topnsigma_reference import Dialect

LLAMA_CPP = Dialect(sigma="population", neg_inf="exclude", invalid_n="disable")

DIALECTS = {
    "population": Dialect(sigma="population"),
    "exclude": Dialect(neg_inf="exclude"),
    "zero": Dialect(neg_inf="zero"),
    "drop": Dialect(boundary="drop"),
    "disable": Dialect(invalid_n="disable"),
    "lowest": Dialect(fill="lowest"),
    "llama-cpp": LLAMA_CPP,
    "exclude-lowest": Dialect(neg_inf="exclude", fill="lowest"),
}
"""By the second half of their subjects' names."""


def dialect_vectors(name: str) -> Callable[[], Iterator[Vector]]:
    """The vectors of one of :data:`DIALECTS`."""
    dialect = DIALECTS[name]

    def vectors() -> Iterator[Vector]:
        draw = Draw(801 + list(DIALECTS).index(name))
        if dialect.sigma == "population" or dialect.neg_inf != "noop":
            yield from divisor_vectors(draw, dialect, repeats=1)
        yield from boundary_vectors(draw, dialect, repeats=1)
        yield from _cut(draw, dialect)
        yield from _banned(draw, dialect)
        yield from _left_alone(draw, dialect)
        for bad in BAD_NUMBERS:
            for n in ((bad, 0.5), (0.5, bad)):
                yield Vector("TNS-1", "one bad n", (PLAIN,) * 2, n, dialect=dialect)

    return vectors


def _cut(draw: Draw, dialect: Dialect) -> Iterator[Vector]:
    for size in (5, 9, 17, 40):
        for family in FAMILIES:
            edges = (("upper", 1), ("lower", -1)) if size > 8 else (("lower", -1),)
            found = edge_vector(draw, family, size, 1.5, edges, dialect)
            if found is not None:
                yield found


def _banned(draw: Draw, dialect: Dialect) -> Iterator[Vector]:
    """Rows with -inf."""
    banned = NEG_INF["float32"]
    for size in (2, 3, 5, 8, 9, 17):
        for family in FAMILIES:
            row = list(words(family(draw, size)))
            for index in draw.spread(1 + draw.below(max(1, size // 2)), size):
                row[index] = banned
            n = draw.pick((0.25, 0.5, 1.0, 2.0))
            yield Vector("TNS-3", "banned tokens", (tuple(row),), (n,), dialect=dialect)
    for size in (9, 17):
        for edge in (("upper", 1), ("lower", -1)):

            def with_bans(draw: Draw, size: int) -> list[float]:
                values = bell(draw, size)
                # Not among those that are placed: they are the first of spread().
                for index in (size // 2, size // 2 + 1):
                    values[index] = -math.inf
                return values

            found = edge_vector(draw, with_bans, size, 1.0, (edge,), dialect)
            if found is not None:
                yield found
    for by_hand in (
        (banned, banned, banned),
        (*words((5.0,)), banned, banned),
        (*words((0.0,)), banned, banned),
        (*words((-2.0,)), banned, banned),
        (*words((0.0, -0.0)), banned),
        (*words((-1.0, -2.0, -4.0, -8.0)), banned),
        (*words((3.0, 3.0, 3.0)), banned),
        (*words((10.0, 8.0, 6.0, 6.0, 5.0)), banned),
    ):
        yield Vector("TNS-3", "banned tokens, by hand", (by_hand,), (1.0,), dialect=dialect)


def _left_alone(draw: Draw, dialect: Dialect) -> Iterator[Vector]:
    for special in (0x7FC00000, 0xFFC12345, 0x7F800000):
        for also in (None, NEG_INF["float32"]):
            row = list(words(bell(draw, 6)))
            row[draw.below(3)] = special
            if also is not None:
                row[3 + draw.below(3)] = also
            yield Vector("TNS-3", "NaN or +inf", (tuple(row),), (0.5,), dialect=dialect)
    for size in (1, 2, 5):
        row_words = words((1.25,) * size)
        yield Vector("TNS-4", "all tokens equal", (row_words,), (0.5,), dialect=dialect)
    row_words = words(bell(draw, 5))
    yield Vector("TNS-2", "disabled", (row_words, row_words), (None, 0.5), dialect=dialect)
    tied = words((2.0, 2.0, 1.0, -1.0))
    for n in (1e-30, 0.5):
        yield Vector("TNS-7", "tied maxima", (tied,), (n,), dialect=dialect)
