"""Every public strategy on its own: what an implementer may draw from it."""

from __future__ import annotations

import inspect
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from gallery.right import TwoPassBinary64
from hypothesis import given, settings

from topnsigma_conformance import strategies
from topnsigma_conformance.batch import Layout
from topnsigma_conformance.case import BAD_N, Case, Row
from topnsigma_conformance.check import Context, Scale
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.driver import InProcess
from topnsigma_conformance.families import CORE_FAMILIES, in_core_domain
from topnsigma_conformance.formats import SPECIALS, ordinals
from topnsigma_conformance.implementation import Claims
from topnsigma_conformance.placement import EDGES
from topnsigma_conformance.search import search
from topnsigma_reference import RFC, classify, parse_n

FEW = settings(deadline=None, max_examples=50)
ROW = Row(values=(1.0, 2.0, 4.0, 9.0))


@FEW
@given(strategies.small_values())
def test_small_values(value: float) -> None:
    assert abs(value) <= 1e4
    assert np.float32(value) == value


@FEW
@given(strategies.extreme_values())
def test_extreme_values(value: float) -> None:
    assert math.isfinite(value)
    assert np.float32(value) == value


@FEW
@given(strategies.small_rows(3, 5))
def test_small_rows(row: Row) -> None:
    assert 3 <= len(row) <= 5
    assert row.floats().shape == (len(row),)


@FEW
@given(strategies.small_rows(1, 2, st.just(7.0)))
def test_small_rows_of_given_values(row: Row) -> None:
    assert set(row.values) == {7.0}


@FEW
@given(strategies.large_rows(sizes=(97, 1024)))
def test_large_rows(row: Row) -> None:
    assert len(row) in (97, 1024)
    assert row.family in CORE_FAMILIES
    values = row.floats()
    assert values.shape == (len(row),)
    assert all(values[index] == value for index, value in row.edits)


@FEW
@given(strategies.plain_rows())
def test_plain_rows(row: Row) -> None:
    assert not row.edits
    assert in_core_domain(row.floats())


@FEW
@given(st.data(), st.integers(1, 300_000))
def test_token_indices(data: st.DataObject, size: int) -> None:
    assert 0 <= data.draw(strategies.token_indices(size)) < size


@FEW
@given(strategies.placed(ROW))
def test_placed(row: Row) -> None:
    assert 1 <= len(row.places) <= 3
    assert {place.edge for place in row.places} <= set(EDGES)
    assert len({place.index for place in row.places}) == len(row.places)


@pytest.mark.parametrize("values", [(1.0,), (1.0, 2.0)])
def test_rows_in_which_nothing_can_be_placed_stay_as_they_are(values: tuple[float, ...]) -> None:
    @settings(FEW, max_examples=5)
    @given(strategies.placed(Row(values=values)))
    def is_unchanged(row: Row) -> None:
        assert row == Row(values=values)

    is_unchanged()


@pytest.mark.parametrize("value", [0.0, 2.0, -7.5, 1e-40, 3e38, -3e38])
def test_placed_tokens_have_two_different_ones_to_refer_to(value: float) -> None:
    @FEW
    @given(strategies.placed(Row(values=(value,) * 5)))
    def has_scale(row: Row) -> None:
        placed = {place.index for place in row.places}
        rest = {value for index, value in enumerate(row.values) if index not in placed}
        assert len(rest) == 2
        assert all(np.float32(value) == value for value in rest)

    has_scale()


@FEW
@given(st.data())
def test_telling_n(data: st.DataObject) -> None:
    row = data.draw(strategies.placed(data.draw(strategies.small_rows(3, 12))))
    assert parse_n(data.draw(strategies.telling_n(row)), RFC) is not None


@pytest.mark.parametrize(("scale", "least"), [("small", 0.75), ("large", 0.85)])
def test_most_cases_of_the_cut_have_a_token_at_an_edge(scale: Scale, least: float) -> None:
    check = CHECKS["TNS-5.cut"]
    claims = Claims.of(TwoPassBinary64())
    context = Context(claims, RFC, "float32", InProcess(TwoPassBinary64()))
    cases = check.cases(context, scale)
    assert cases is not None
    near: list[bool] = []

    def look(case: Case) -> None:
        batch = case.batch("float32", RFC)
        verdict = classify(batch.bits[0].view(np.float32), batch.n[0], RFC)
        if verdict.threshold is None:
            near.append(False)
            return
        accept, cut = verdict.threshold.accept, verdict.threshold.first_kept
        edges = np.array([accept.lower, cut, accept.upper], np.float32).view(np.uint32)
        tokens = ordinals(batch.bits[0], "float32").astype(np.int64)
        distances = np.abs(tokens[:, None] - ordinals(edges, "float32").astype(np.int64))
        near.append(bool((distances <= 4).any()))

    search(cases, look, examples=100, seed=0, shrink=0)
    assert sum(near) >= least * len(near)


@FEW
@given(strategies.with_specials(ROW, ("inf", "nan"), min_count=2, max_count=3))
def test_with_specials(row: Row) -> None:
    assert 2 <= len(row.specials) <= 3
    assert {name for _, name in row.specials} <= {"inf", "nan"}
    assert (~np.isfinite(row.floats())).sum() == len(row.specials)


@pytest.mark.parametrize("n_format", ["binary64", "binary32"])
def test_n_is_in_the_domain(n_format: str) -> None:
    @FEW
    @given(st.one_of(strategies.valid_n(n_format), strategies.unusual_n(n_format)))
    def draw(n: float) -> None:
        assert parse_n(n) is not None
        if n_format == "binary32":
            assert 2.0**-126 <= np.float32(n) < np.inf

    draw()


@FEW
@given(strategies.bad_n())
def test_bad_n(name: str) -> None:
    with pytest.raises(ValueError, match="n must be"):
        parse_n(BAD_N[name])


def test_bad_n_can_be_numbers_only_and_leaves_none_out() -> None:
    assert set(strategies.bad_n_names()) == set(BAD_N)
    numbers = strategies.bad_n_names(numbers_only=True)
    assert {"zero", "minus one", "nan", "inf", "-inf"} <= set(numbers)
    assert all(type(BAD_N[name]) in (int, float) for name in numbers)


@FEW
@given(strategies.layouts())
def test_layouts(layout: Layout) -> None:
    assert layout.spacing >= 1


@FEW
@given(strategies.single(strategies.small_rows(), strategies.valid_n()))
def test_single(case: Case) -> None:
    assert len(case.rows) == len(case.n) == 1
    assert case.batch("float32", RFC).shape == (1, len(case.rows[0]))


def test_every_public_strategy_has_a_docstring_and_a_test() -> None:
    public = [
        name
        for name, value in vars(strategies).items()
        if not name.startswith("_")
        and callable(value)
        and inspect.getmodule(inspect.unwrap(value)) is strategies
    ]
    assert set(public) == {
        "bad_n",
        "bad_n_names",
        "extreme_values",
        "large_rows",
        "layouts",
        "placed",
        "plain_rows",
        "single",
        "telling_n",
        "small_rows",
        "small_values",
        "token_indices",
        "unusual_n",
        "valid_n",
        "with_specials",
    }
    assert all(inspect.getdoc(getattr(strategies, name)) for name in public)


def test_large_sizes_are_in_the_core_domain() -> None:
    assert all(in_core_domain(np.zeros(size, np.float32)) for size in strategies.LARGE_SIZES)
    assert {50_257, 128_257, 151_936, 262_144} <= set(strategies.LARGE_SIZES)
    assert len(SPECIALS) == 8
