"""TNS-9: the accuracy of the threshold, in the core and in the extreme domain."""

from __future__ import annotations

import dataclasses

import hypothesis.strategies as st

from topnsigma_conformance import strategies
from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.check import Check, Context, Scale
from topnsigma_conformance.checks.blame import check_and_blame
from topnsigma_conformance.checks.cut import exact_row
from topnsigma_conformance.families import CORE_FAMILIES, EXTREME_FAMILIES
from topnsigma_conformance.formats import as_array, step
from topnsigma_conformance.implementation import Claims
from topnsigma_conformance.placement import Place
from topnsigma_reference import Dialect, classify

_ENDS = ("lower", "upper", "tight-lower", "tight-upper")


def _core_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        if scale == "small":
            row = draw(strategies.small_rows(3, 32))
        else:
            row = draw(strategies.large_rows(CORE_FAMILIES))
        row = draw(strategies.placed(row, _ENDS, max_places=6))
        return Case(rows=(row,), n=(draw(strategies.telling_n(row, context.claims.n_format)),))

    return cases()


def _extreme_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        if scale == "small":
            row = draw(strategies.small_rows(2, 12, strategies.extreme_values()))
        else:
            row = draw(strategies.large_rows(EXTREME_FAMILIES))
        row = draw(strategies.placed(row, _ENDS))
        n = st.one_of(
            strategies.telling_n(row, context.claims.n_format),
            strategies.unusual_n(context.claims.n_format),
        )
        return Case(rows=(row,), n=(draw(n),))

    return cases()


def _every_family(families: tuple[str, ...]) -> list[Case]:
    # A quick run draws few large rows, and each family is the undoing of some arithmetic.
    places = (Place(0, "lower", -1), Place(1, "upper", 1))
    rows = [Row(family=family, size=50_257, places=places) for family in families]
    return [Case(rows=(row,), n=(1.0,)) for row in rows]


def _every_core_family(_: Context) -> list[Case]:
    return _every_family(CORE_FAMILIES)


def _every_extreme_family(_: Context) -> list[Case]:
    return _every_family(EXTREME_FAMILIES)


def _core(context: Context, case: Case) -> None:
    check_and_blame(context, context.batch(case), "TNS-9")


def _extreme(context: Context, case: Case) -> None:
    context.check(context.batch(case, extreme=True), "TNS-9")


def _single_cut_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    near_the_cut = _near_the_cut_cases(context, scale)
    if scale == "large":
        return near_the_cut
    return st.one_of(near_the_cut, _tied_at_the_cut_cases(context))


@st.composite
def _tied_at_the_cut_cases(draw: st.DrawFn, context: Context) -> Case:
    # Several tokens on a threshold that nobody has to round.
    power = draw(st.integers(3, 5))
    unit = 2.0 ** draw(st.integers(-3, 3))
    row, n = exact_row(context.dialect.sigma, power, 1, unit, draw(st.integers(0, 1000)))
    return Case(rows=(row,), n=(n * draw(st.sampled_from((1.0, 2.0))),), params={"copies": []})


def _near_the_cut_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        if scale == "small":
            row = draw(strategies.small_rows(4, 12))
        else:
            row = draw(strategies.large_rows())
        row = draw(strategies.placed(row, ("cut",), 1, max_places=1))
        n = draw(strategies.telling_n(row, context.claims.n_format))
        # Neighbours and equals of the token at the cut; so close that σ hardly moves.
        copies = draw(
            st.lists(
                st.tuples(strategies.token_indices(len(row)), st.integers(-3, 3)),
                min_size=2,
                max_size=8,
                unique_by=lambda entry: entry[0],
            )
        )
        return Case(rows=(row,), n=(n,), params={"copies": [list(entry) for entry in copies]})

    return cases()


def _single_cut(context: Context, case: Case) -> None:
    row, n = case.rows[0], case.n[0]
    batch = context.batch(case)
    verdict = classify(as_array(batch.bits[0], context.dtype), n, context.dialect)
    if verdict.threshold is not None:
        placed = {place.index for place in row.places}
        cut = verdict.threshold.first_kept
        edits = tuple(
            (index, min(step(cut, context.dtype, ulps), verdict.maximum or cut))
            for index, ulps in case.params["copies"]
            if index not in placed
        )
        batch = context.batch(
            dataclasses.replace(case, rows=(dataclasses.replace(row, edits=row.edits + edits),))
        )
    context.check(batch, "TNS-9", {"single-cut"})


def _needs_extreme(claims: Claims, _: Dialect) -> str:
    return "" if claims.extreme else "does not claim the extreme domain"


CHECKS = (
    Check(
        id="TNS-9.core",
        title="the cut lies in the acceptance interval, on everything that models emit",
        cases=_core_cases,
        verify=_core,
        always=_every_core_family,
    ),
    Check(
        id="TNS-9.extreme",
        title="the cut lies in the acceptance interval, on every finite row",
        cases=_extreme_cases,
        verify=_extreme,
        always=_every_extreme_family,
        unsupported=_needs_extreme,
    ),
    Check(
        id="TNS-9.single-cut",
        title="the kept set is upward closed and equal logits fare alike",
        cases=_single_cut_cases,
        verify=_single_cut,
    ),
)
