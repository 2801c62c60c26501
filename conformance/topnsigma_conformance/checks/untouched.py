"""TNS-2 and TNS-3: disabled rows and rows that hold non-finite logits."""

from __future__ import annotations

import dataclasses

import hypothesis.strategies as st

from topnsigma_conformance import strategies
from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.check import Check, Context, Scale
from topnsigma_conformance.formats import SPECIALS

_NANS = ("nan", "nan-payload", "nan-signalling")


def _rows(scale: Scale) -> st.SearchStrategy[Row]:
    if scale == "large":
        return strategies.large_rows()
    return strategies.small_rows(max_size=6)


def _disabled_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        row = draw(_rows(scale))
        row = draw(strategies.with_specials(row, SPECIALS, min_count=0))
        return Case(rows=(row,), n=(None,))

    return cases()


def _disabled(context: Context, case: Case) -> None:
    context.check(context.batch(case), "TNS-2", {"unchanged"})


def _special_cases(
    names: tuple[str, ...], context: Context, scale: Scale
) -> st.SearchStrategy[Case]:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        finite = strategies.plain_rows() if scale == "large" else _rows(scale)
        row = draw(strategies.with_specials(draw(finite), names))
        other = draw(st.sampled_from(("", "-0.0", "subnormal")))
        index = draw(strategies.token_indices(len(row)))
        if other and index not in {taken for taken, _ in row.specials}:
            row = dataclasses.replace(row, specials=(*row.specials, (index, other)))
        return Case(rows=(row,), n=(draw(strategies.valid_n(context.claims.n_format)),))

    return cases()


def _nan_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    return _special_cases(_NANS, context, scale)


def _inf_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    return _special_cases(("inf",), context, scale)


def _mixed_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    return _special_cases((*_NANS, "inf", "-inf"), context, scale)


def _non_finite(context: Context, case: Case) -> None:
    context.check(context.batch(case), "TNS-3", {"unchanged"})


def _neg_inf_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        finite = strategies.plain_rows() if scale == "large" else _rows(scale)
        row = draw(strategies.with_specials(draw(finite), ("-inf",), max_count=8))
        placed = draw(strategies.placed(row, ("lower", "upper"), max_places=2))
        return Case(rows=(placed,), n=(draw(strategies.valid_n(context.claims.n_format)),))

    return cases()


def _neg_inf(context: Context, case: Case) -> None:
    context.check(context.batch(case), "TNS-3", {"unchanged", "membership", "maximum"})


CHECKS = (
    Check(
        id="TNS-2.disabled",
        title="a disabled row comes back bit for bit, NaN payloads and -0.0 included",
        cases=_disabled_cases,
        verify=_disabled,
    ),
    Check(
        id="TNS-3.nan",
        title="a row with a NaN anywhere comes back bit for bit",
        cases=_nan_cases,
        verify=_non_finite,
    ),
    Check(
        id="TNS-3.inf",
        title="a row with +inf anywhere comes back bit for bit",
        cases=_inf_cases,
        verify=_non_finite,
    ),
    Check(
        id="TNS-3.neg-inf",
        title="a row with -inf fares as the dialect says",
        cases=_neg_inf_cases,
        verify=_neg_inf,
    ),
    Check(
        id="TNS-3.mixed",
        title="a row with NaN, +inf and -inf in any mixture fares as the dialect says",
        cases=_mixed_cases,
        verify=_neg_inf,
    ),
)
