"""Vectors about σ and the threshold: tokens at the edges of what is right (TNS-4, 5, 9)."""

from __future__ import annotations

from collections.abc import Iterator

from topnsigma_conformance.vectors.draw import FAMILIES, Draw, Family, bell
from topnsigma_conformance.vectors.edges import ALL_EDGES, Place, place, solve_n
from topnsigma_conformance.vectors.scene import deviation
from topnsigma_conformance.vectors.vector import Vector
from topnsigma_conformance.vectors.words import Words, values_of, words
from topnsigma_reference import RFC, Dialect

_TRIES = 12


def divisor() -> Iterator[Vector]:
    """Tokens between the thresholds of the two divisors, and on either side of both."""
    yield from divisor_vectors(Draw(301), RFC, repeats=4)


def divisor_vectors(draw: Draw, dialect: Dialect, repeats: int) -> Iterator[Vector]:
    """:func:`divisor` for any dialect; rows are finite."""
    for size in range(2, 9):
        for family in FAMILIES:
            for _ in range(repeats):
                row = words(family(draw, size))
                values = values_of(row)
                sample, population = deviation(values), deviation(values, 0)
                below = [value for value in values if value < max(values)]
                if not below:
                    continue
                distance = max(values) - draw.pick(below)
                nearer, farther = distance / sample, distance / population
                note, n = draw.pick(
                    (
                        ("between the divisors' thresholds", (nearer + farther) / 2),
                        ("between the divisors' thresholds", (nearer + farther) / 2),
                        ("above both thresholds", farther * 1.01),
                        ("below both thresholds", nearer * 0.99),
                    )
                )
                yield Vector("TNS-4", f"a token {note}", (row,), (n,), dialect=dialect)


def edge_vector(
    draw: Draw,
    family: Family,
    size: int,
    n: float,
    edges: tuple[tuple[str, int], ...],
    dialect: Dialect = RFC,
    dtype: str = "float32",
) -> Vector | None:
    """A row of the family with a token at each of ``edges``; None where none is found."""
    for _ in range(_TRIES):
        row = words(family(draw, size), dtype)
        indices = draw.shuffled(draw.spread(len(edges), size))
        places: list[Place] = [
            (index, edge, steps) for index, (edge, steps) in zip(indices, edges, strict=True)
        ]
        found = place(row, places, n, dialect, dtype)
        if found is not None:
            note = "tokens at " + ", ".join(f"{edge}{steps:+d}" for edge, steps in edges)
            return Vector("TNS-5", note, (found,), (n,), dtype=dtype, dialect=dialect)
    return None


def sigma() -> Iterator[Vector]:
    """Long and short rows with a token on either side of the acceptance interval."""
    draw = Draw(302)
    for size in (3, 4, 5, 7, 9, 12, 17, 25, 33, 63, 65, 130):
        for family in FAMILIES:
            for n in (0.75, 1.5) if size < 12 else (1.0, 2.25):
                for edge in (("upper", 1), ("lower", -1)):
                    found = edge_vector(draw, family, size, n, (edge,))
                    if found is not None:
                        yield found


def cut() -> Iterator[Vector]:
    """Tokens at every edge at once, and an n for which a given token lies at an edge."""
    draw = Draw(303)
    for size in (8, 9, 11, 16, 17, 24, 33, 48, 64):
        for family in FAMILIES:
            for n in (0.5, 1.6180339887498949, 3.0):
                edges = ALL_EDGES if size > 11 else ALL_EDGES[: 2 + draw.below(3)]
                found = edge_vector(draw, family, size, n, edges)
                if found is not None:
                    yield found
    for size in (2, 3, 4, 5, 7, 8, 12, 20, 40):
        for family in FAMILIES:
            yield from _solved(draw, words(family(draw, size)))
    for size in (257, 1025):
        for family in FAMILIES[:4]:
            found = edge_vector(draw, family, size, 2.0, ALL_EDGES)
            if found is not None:
                yield found


def _solved(draw: Draw, row: Words) -> Iterator[Vector]:
    values = values_of(row)
    candidates = [index for index, value in enumerate(values) if value < max(values)]
    for edge, steps in ALL_EDGES if candidates else ():
        n = solve_n(row, draw.pick(candidates), edge, steps)
        if n is not None:
            yield Vector("TNS-9", f"n puts a token at {edge}{steps:+d}", (row,), (n,))


def boundary() -> Iterator[Vector]:
    """Batches of rows on which float32 arithmetic is exact, with tokens equal to the threshold."""
    yield from boundary_vectors(Draw(304), RFC, repeats=4)


def boundary_vectors(draw: Draw, dialect: Dialect, repeats: int) -> Iterator[Vector]:
    """:func:`boundary` for any dialect."""
    for power in (1, 2, 3, 4):
        for spread in range((power - 1) // 2 + 1):
            for far in (1.0, 2.0):
                if dialect.sigma == "population" and spread == 0 and far == 1.0:
                    # No token is 0, where the threshold is.
                    continue
                for _ in range(repeats):
                    rows = tuple(
                        _exact_row(draw, dialect.sigma, power, spread, factor * 2.0**exponent)
                        for factor in (1, 3, 5, 7)
                        for exponent in (-1, 0)
                        for _ in range(2)
                    )
                    n = (2.0**spread * far,) * len(rows)
                    note = "tokens equal to the threshold"
                    yield Vector("TNS-5", note, rows, n, dialect=dialect, exact=True)


def _exact_row(draw: Draw, divisor: str, power: int, spread: int, scale: float) -> Words:
    """Symmetric about 0, with a variance that is a perfect square: sums do not round."""
    size = 2**power + (divisor == "sample")
    ends = 2**power // 4**spread
    return words(draw.shuffled([scale, -scale] * (ends // 2) + [0.0] * (size - ends)))


def ties() -> Iterator[Vector]:
    """Several equal tokens at the edges: they fare alike, whichever way they go."""
    draw = Draw(305)
    for size in (9, 12, 17, 24, 33, 64):
        for n in (0.75, 2.0):
            for edge in ALL_EDGES:
                for count in (2, 3):
                    found = edge_vector(draw, bell, size, n, (edge,) * count)
                    if found is not None:
                        yield found
