"""Placed tokens stand at the edges of the finished row's own threshold, by the oracle's verdict."""

from __future__ import annotations

import itertools
from unittest import mock

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

from topnsigma_conformance import placement
from topnsigma_conformance.families import CORE_FAMILIES, family_row
from topnsigma_conformance.formats import as_array, decode, encode, ordinals, step
from topnsigma_conformance.placement import EDGES, Place, place_tokens
from topnsigma_reference import RFC, Dialect, Keep, classify

N = (0.5, 1.0, 1.5, 2.0, 3.0)
POPULATION = Dialect(sigma="population")
PLACES = st.lists(
    st.builds(
        Place,
        index=st.integers(0, 1023),
        edge=st.sampled_from([edge for edge in EDGES if edge != "between-divisors"]),
        ulps=st.integers(-3, 3),
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda place: place.index,
).map(tuple)


def distances(
    row: np.ndarray, places: tuple[Place, ...], n: float, dialect: Dialect, dtype: str
) -> list[int]:
    """How many steps of ``dtype`` each placed token is away from its edge of the finished row."""
    verdict = classify(as_array(encode(row, dtype), dtype), n, dialect)
    if verdict.threshold is None:
        return [0] * len(places)
    assert verdict.maximum is not None
    maximum, accept, tight = verdict.maximum, verdict.threshold.accept, verdict.threshold.tight
    edges = {
        "cut": verdict.threshold.first_kept,
        "lower": accept.lower,
        "upper": accept.upper,
        "tight-lower": tight.lower,
        "tight-upper": tight.upper,
    }
    wanted = [
        min(step(float(np.float32(edges[place.edge])), dtype, place.ulps), maximum)
        for place in places
    ]
    found = [row[place.index] for place in places]
    pairs = ordinals(encode(np.array([wanted, found], np.float32), dtype), dtype)
    return [abs(wanted - found) for wanted, found in pairs.T.tolist()]


def logits(family: str, size: int, seed: int, dtype: str = "float32") -> np.ndarray:
    return decode(encode(family_row(family, size, seed), dtype), dtype)


@pytest.mark.parametrize("family", CORE_FAMILIES)
@pytest.mark.parametrize("size", [1024, 4099, 151_936])
def test_on_large_rows_every_token_is_at_its_edge(family: str, size: int) -> None:
    exact = 0
    dialects = (RFC, POPULATION)
    for seed, (n, dialect) in enumerate(itertools.product(N, dialects)):
        row = logits(family, size, seed)
        others = np.flatnonzero(row != row.max())[seed : seed + 5].tolist() or range(5)
        places = tuple(
            Place(index, edge, k - 2)
            for k, (index, edge) in enumerate(zip(others, EDGES, strict=False))
        )
        row = place_tokens(row, places, n, dialect, "float32")
        away = max(distances(row, places, n, dialect, "float32"))
        # A step of one token can move the edge of another by a step, and back.
        assert away <= 1
        exact += away == 0
    assert exact >= 7


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(CORE_FAMILIES),
    st.integers(0, 100),
    PLACES,
    st.sampled_from(N),
    st.sampled_from(("float16", "bfloat16")),
)
def test_narrow_rows_may_cycle_by_a_step_or_two(
    family: str, seed: int, places: tuple[Place, ...], n: float, dtype: str
) -> None:
    before = logits(family, 1024, seed, dtype)
    assume(all(before[place.index] < before.max() for place in places))
    # A step of a narrow token moves σ by many float32 ulps, so a row can swing between two values.
    row = place_tokens(before, places, n, RFC, dtype)
    assert max(distances(row, places, n, RFC, dtype)) <= 2


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.integers(-40, 40).map(lambda quarter: quarter / 4), min_size=3, max_size=12),
    PLACES,
    st.sampled_from(N),
)
def test_a_small_row_stands_still_exactly_when_its_tokens_are_at_their_edges(
    values: list[float], drawn: tuple[Place, ...], n: float
) -> None:
    places = tuple(place for place in drawn if place.index < len(values))
    assume(places)
    row = place_tokens(np.array(values, np.float32), places, n, RFC, "float32")
    # One round: in 24 a row that swings would be back where it was.
    with mock.patch.object(placement, "_MAX_ROUNDS", 1):
        again = place_tokens(row, places, n, RFC, "float32")
    assert (max(distances(row, places, n, RFC, "float32")) == 0) == np.array_equal(row, again)


@pytest.mark.parametrize(("size", "at_least"), [(97, 0.9), (32, 0.8), (8, 0.6), (4, 0.4)])
def test_most_small_rows_settle(size: int, at_least: float) -> None:
    settled = []
    for seed, family in itertools.product(range(12), CORE_FAMILIES):
        places = (Place(seed % size, "lower", -1), Place((seed + 1) % size, "upper", 1))
        n = N[seed % len(N)]
        row = place_tokens(logits(family, size, seed), places, n, RFC, "float32")
        settled.append(max(distances(row, places, n, RFC, "float32")) == 0)
    assert np.mean(settled) >= at_least


@pytest.mark.parametrize("family", CORE_FAMILIES)
def test_both_sides_of_the_interval_are_decided_and_the_inside_is_free(family: str) -> None:
    places = (
        Place(3, "lower", -1),
        Place(4, "lower", 0),
        Place(5, "upper", 0),
        Place(6, "upper", 1),
    )
    row = place_tokens(logits(family, 4099, 1), places, 1.0, RFC, "float32")
    verdict = classify(row, 1.0)
    if verdict.threshold is None:
        assert family == "constant"
        return
    assert verdict.codes[3:7].tolist() == [Keep.MUST_DROP, Keep.MAY, Keep.MAY, Keep.MUST_KEEP]


@pytest.mark.parametrize(("dialect", "other"), [(RFC, POPULATION), (POPULATION, RFC)])
def test_between_the_divisors_they_disagree(dialect: Dialect, other: Dialect) -> None:
    row = np.array([0.0, 1.0, 2.0, 4.0, 9.0], np.float32)
    placed = place_tokens(row, (Place(1, "between-divisors"),), 1.0, dialect, "float32")
    mine, theirs = classify(placed, 1.0, dialect), classify(placed, 1.0, other)
    assert {int(mine.codes[1]), int(theirs.codes[1])} == {Keep.MUST_KEEP, Keep.MUST_DROP}


@pytest.mark.parametrize(
    ("row", "n", "dialect"),
    [
        ([1.0, 2.0, 3.0], None, RFC),
        ([1.0, np.nan, 3.0], 1.0, RFC),
        ([1.0, np.inf, 3.0], 1.0, Dialect(neg_inf="exclude")),
        ([1.0, -np.inf, 3.0], 1.0, RFC),
        ([-np.inf, -np.inf, -np.inf], 1.0, Dialect(neg_inf="zero")),
        ([-np.inf, 1.0, -np.inf], 1.0, Dialect(neg_inf="exclude")),
        ([2.0, 2.0, 2.0], 1.0, RFC),
        ([2.0], 1.0, RFC),
        ([1.0, 2.0, 3.0], -1.0, RFC),
    ],
)
def test_rows_without_a_threshold_stay(row: list[float], n: object, dialect: Dialect) -> None:
    given_row = np.array(row, np.float32)
    placed = place_tokens(given_row, (Place(0, "cut"),), n, dialect, "float32")
    np.testing.assert_array_equal(placed, given_row)
    assert placed is not given_row


@pytest.mark.parametrize("dialect", [Dialect(neg_inf="exclude"), Dialect(neg_inf="zero")])
def test_banned_tokens_stay_banned_and_are_counted_as_the_dialect_says(dialect: Dialect) -> None:
    row = logits("model-like", 1024, 0).copy()
    row[::3] = -np.inf
    places = (Place(0, "cut"), Place(1, "lower", -1), Place(2, "upper", 1))
    placed = place_tokens(row, places, 1.0, dialect, "float32")
    assert placed[0] == -np.inf
    assert distances(placed, places[1:], 1.0, dialect, "float32") == [0, 0]


def test_no_token_is_placed_above_the_maximum() -> None:
    row = np.array([0.0, 1.0, 2.0, 3.0, 100.0], np.float32)
    placed = place_tokens(row, (Place(0, "upper", 10**9),), 1.0, RFC, "float32")
    assert placed[0] == placed.max() == 100.0
