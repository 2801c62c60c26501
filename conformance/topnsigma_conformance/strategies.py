"""Hypothesis strategies for rows, n, layouts and cases. Usable on their own by implementers.

    >>> from topnsigma_conformance import strategies
    >>> rows = strategies.small_rows().map(lambda row: row.floats())

Small rows are drawn value by value. Large rows are drawn as a family, a seed and a few edits, so
that a failing row of 150,000 tokens shrinks like a small one.

Strategies are cached, since making one anew for every draw costs more than the draw.
"""

from __future__ import annotations

import dataclasses
import functools
import math

import hypothesis.strategies as st
import numpy as np

from topnsigma_conformance.batch import Layout
from topnsigma_conformance.case import BAD_N, Case, Row
from topnsigma_conformance.families import CORE_FAMILIES, PLAIN_FAMILIES
from topnsigma_conformance.placement import EDGES, Place

LARGE_SIZES = (97, 1024, 4099, 32_000, 50_257, 128_257, 151_936, 262_144)
"""Lengths of large rows: vocabularies in use, and lengths that no tile or vector width divides."""

_USUAL_N = (1.0, 2.0, 1.5, 0.5, 3.0, 0.1)

PLAIN_SIZES = tuple(size for size in LARGE_SIZES if size <= 50_257)
"""Lengths at which plain families leave accuracy out of the question."""


@functools.cache
def small_values() -> st.SearchStrategy[float]:
    """Logits of the core domain that people can read, mixed with arbitrary float32 of that size."""
    return st.one_of(
        st.integers(-8, 8).map(float),
        st.integers(-64, 64).map(lambda quarter: quarter / 4),
        st.floats(-30.0, 30.0, width=32, allow_subnormal=False),
        st.floats(-1e4, 1e4, width=32, allow_subnormal=False),
    )


@functools.cache
def extreme_values() -> st.SearchStrategy[float]:
    """Any finite float32."""
    return st.floats(width=32, allow_nan=False, allow_infinity=False)


@functools.cache
def small_rows(
    min_size: int = 2, max_size: int = 8, values: st.SearchStrategy[float] | None = None
) -> st.SearchStrategy[Row]:
    """Rows of a few tokens, value by value.

    Args:
        min_size, max_size: bounds of V.
        values: of the tokens; :func:`small_values` by default.
    """
    element = small_values() if values is None else values
    rows = st.lists(element, min_size=min_size, max_size=max_size).map(
        lambda drawn: Row(values=tuple(drawn))
    )
    # Drawn one by one, few rows of several tokens have a maximum below zero.
    return st.one_of(rows, rows, rows, rows.map(_below_zero)) if values is None else rows


def _below_zero(row: Row) -> Row:
    values = -np.abs(np.array(row.values, np.float32)) - np.float32(0.25)
    return dataclasses.replace(row, values=tuple(values.tolist()))


@functools.cache
def large_rows(
    families: tuple[str, ...] = CORE_FAMILIES,
    sizes: tuple[int, ...] = LARGE_SIZES,
    max_edits: int = 3,
) -> st.SearchStrategy[Row]:
    """Rows of a family with a seed and a few edited tokens."""

    return st.sampled_from(sizes).flatmap(functools.partial(_rows_of_size, families, max_edits))


@functools.cache
def _rows_of_size(families: tuple[str, ...], max_edits: int, size: int) -> st.SearchStrategy[Row]:
    edits = st.lists(
        st.tuples(token_indices(size), small_values()),
        max_size=max_edits,
        unique_by=lambda edit: edit[0],
    ).map(tuple)
    return st.builds(
        Row,
        family=st.sampled_from(families),
        size=st.just(size),
        seed=st.integers(0, 2**16),
        edits=edits,
    )


def plain_rows() -> st.SearchStrategy[Row]:
    """Large rows on which the accuracy of σ is out of the question."""
    return large_rows(PLAIN_FAMILIES, PLAIN_SIZES, max_edits=0)


@functools.cache
def token_indices(size: int) -> st.SearchStrategy[int]:
    """Indices of a row: its ends, the ends of blocks that implementations use, and anything."""
    marks = {0, size - 1, size // 2}
    for block in (4, 8, 16, 256, 1024, 4096, 16384, 32768):
        marks |= {block - 1, block, size - size % block, size - size % block - 1}
    inside = sorted(mark for mark in marks if 0 <= mark < size)
    return st.one_of(st.sampled_from(inside), st.integers(0, size - 1))


def placed(
    row: Row, edges: tuple[str, ...] = EDGES, max_ulps: int = 2, max_places: int = 4
) -> st.SearchStrategy[Row]:
    """``row`` with one to ``max_places`` tokens within ``max_ulps`` of edges of its threshold.

    Rows of one or two tokens come back as they are: they have no token that could be put there.
    """
    if len(row) < 3:
        return st.just(row)
    return _places(len(row), edges, max_ulps, max_places).map(
        lambda places: _anchored(dataclasses.replace(row, places=tuple(places)))
    )


def _anchored(row: Row) -> Row:
    """``row`` with two different logits among those that are not placed.

    Equal ones give no scale: the threshold stays out of reach, by the same share of whatever
    distance the placed tokens have, until they are all but equal to the others.
    """
    placed = {place.index for place in row.places}
    rest = [index for index in range(len(row.values)) if index not in placed]
    if not rest or len({row.values[index] for index in rest}) > 1:
        return row
    values = list(row.values)
    value = float(np.float32(values[rest[0]] - 1.0))
    # Large values swallow the 1.
    values[rest[0]] = value if value != values[rest[0]] else value / 2
    return dataclasses.replace(row, values=tuple(values))


@functools.cache
def _places(
    size: int, edges: tuple[str, ...], max_ulps: int, max_places: int
) -> st.SearchStrategy[list[Place]]:
    place = st.builds(
        Place,
        index=token_indices(size),
        edge=st.sampled_from(edges),
        ulps=st.integers(-max_ulps, max_ulps),
    )
    return st.lists(
        place,
        min_size=1,
        max_size=min(max_places, size - 2),
        unique_by=lambda entry: entry.index,
    )


def with_specials(
    row: Row, names: tuple[str, ...], min_count: int = 1, max_count: int = 4
) -> st.SearchStrategy[Row]:
    """``row`` with a few tokens replaced by special bit patterns."""
    return _specials(len(row), names, min_count, max_count).map(
        lambda specials: dataclasses.replace(row, specials=tuple(specials))
    )


@functools.cache
def _specials(
    size: int, names: tuple[str, ...], min_count: int, max_count: int
) -> st.SearchStrategy[list[tuple[int, str]]]:
    return st.lists(
        st.tuples(token_indices(size), st.sampled_from(names)),
        min_size=min_count,
        max_size=min(max_count, size),
        unique_by=lambda entry: entry[0],
    )


@functools.cache
def valid_n(n_format: str = "binary64") -> st.SearchStrategy[float]:
    """n as people use it, and any n between 1/64 and 20."""
    # 1/64 is a number of both formats, as the width demands of its bounds.
    return st.one_of(st.sampled_from(_USUAL_N), _floats(1 / 64, 20.0, n_format))


def telling_n(row: Row, n_format: str = "binary64") -> st.SearchStrategy[float]:
    """n at which the tokens that are placed in ``row`` can reach its threshold.

    k equal tokens of V can lie n·σ below the rest only if n² < V·(V-1) / (k·(V-k)): at any larger
    n a short row comes back whole, whatever a sampler does wrong.
    """
    return _telling_n(len(row), max(1, len(row.places)), n_format)


@functools.cache
def _telling_n(size: int, placed: int, n_format: str) -> st.SearchStrategy[float]:
    if size <= placed:
        return valid_n(n_format)
    # Close to the bound the tokens would have to lie far below everything that models emit.
    bound = min(20.0, 0.9375 * math.sqrt(size * (size - 1) / (placed * (size - placed))))
    largest = math.floor(bound * 64) / 64
    usual = [n for n in _USUAL_N if n <= largest]
    below = (st.sampled_from(usual), _floats(1 / 64, largest, n_format))
    return st.one_of(*below, *below, valid_n(n_format))


def _floats(least: float, largest: float, n_format: str) -> st.SearchStrategy[float]:
    return st.floats(least, largest, width=32 if n_format == "binary32" else 64)


@functools.cache
def unusual_n(n_format: str = "binary64") -> st.SearchStrategy[float | int]:
    """ints, and n so small or large that on a short row they keep the maximum alone or all."""
    common: list[float | int] = [1, 2, 3, 7, 1e-30, 1e30, 1e-6, 1e6, 100, 1000]
    if n_format == "binary64":
        common += [5e-324, 2.2250738585072014e-308, 1e-50, 1e300, 1.7976931348623157e308, 2**70]
    return st.sampled_from(common)


@functools.cache
def bad_n(numbers_only: bool = False, json_only: bool = False) -> st.SearchStrategy[str]:
    """Names of values outside the domain of TNS-1 (keys of ``case.BAD_N``).

    Args:
        numbers_only: leave out what a typed engine cannot be given.
        json_only: leave out what the harness protocol cannot carry.
    """
    return st.sampled_from(bad_n_names(numbers_only, json_only))


def bad_n_names(numbers_only: bool = False, json_only: bool = False) -> list[str]:
    """All that :func:`bad_n` draws from."""
    return [
        name
        for name, value in BAD_N.items()
        if (not numbers_only or (_is_number(value) and name != "10**400"))
        and (not json_only or _is_number(value) or isinstance(value, _JSON_TYPES))
    ]


_JSON_TYPES = (bool, str, list, dict)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@functools.cache
def layouts() -> st.SearchStrategy[Layout]:
    """Layouts of logits in memory that are not plain: offset, padded, spaced, transposed."""
    return st.builds(
        Layout,
        offset=st.integers(0, 5),
        padding=st.sampled_from((0, 1, 3, 16)),
        spacing=st.sampled_from((1, 1, 2, 3)),
        transposed=st.booleans(),
    )


def single(rows: st.SearchStrategy[Row], n: st.SearchStrategy[object]) -> st.SearchStrategy[Case]:
    """Cases of one row."""
    return st.builds(lambda row, value: Case(rows=(row,), n=(value,)), rows, n)
