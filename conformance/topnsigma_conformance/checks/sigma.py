"""TNS-4: the standard deviation, and the rows that have none."""

from __future__ import annotations

import dataclasses

import hypothesis.strategies as st
import numpy as np

from topnsigma_conformance import strategies
from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.check import Check, Context, Scale, Violation
from topnsigma_conformance.checks.blame import check_and_blame
from topnsigma_conformance.checks.cut import drawn_reach, drawn_shape, exact_row
from topnsigma_conformance.formats import decode
from topnsigma_conformance.judge import kept_tokens

_INTEGERS = st.integers(-8, 8).map(float)


def _divisor_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case] | None:
    # At real vocabulary sizes the divisors differ by less than float32 resolves.
    if scale == "large":
        return None

    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        # Values that sums in any precision are good enough for.
        row = draw(strategies.small_rows(2, 8, _INTEGERS))
        if len(row) == 2:
            # With two tokens nothing can be placed: n alone decides, and between √2 and 2 it tells.
            n = draw(st.floats(1.4375, 1.9375, width=32))
            return Case(rows=(row,), n=(n,))
        n = draw(st.sampled_from((1.0, 0.5, 1.5, 0.75, 1.25, 2.0)))
        placed = draw(strategies.placed(row, ("between-divisors",), 0, max_places=1))
        return Case(rows=(placed,), n=(n,))

    return cases()


def _membership(context: Context, case: Case) -> None:
    check_and_blame(context, context.batch(case), "TNS-4", {"membership", "unchanged"})


def _deviation_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case] | None:
    """Rows whose σ is exact in any precision, a token at t, and n a little less or more."""
    if scale == "large":
        return None
    sigma = context.dialect.sigma

    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        power, spread = drawn_shape(draw)
        unit = 2.0 ** draw(st.integers(-6, 2))
        row, n = exact_row(
            sigma,
            power,
            spread,
            draw(st.sampled_from((1, 2, 3, 5))) * unit,
            draw(st.integers(0, 1000)),
        )
        centre = draw(st.integers(-3, 3)) * unit
        row = Row(values=tuple(value + centre for value in row.values))
        reach = drawn_reach(draw, sigma, spread)
        change = draw(st.sampled_from((-0.75, 0.75, -1.0, 1.0, -16.0, 16.0))) * 2.0**-14
        return Case(rows=(row,), n=(n * reach * (1 + change),))

    return cases()


def _whole_row_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        if scale == "small":
            row = draw(strategies.small_rows(3, 12, _INTEGERS))
        else:
            row = draw(strategies.large_rows(("flat",), strategies.PLAIN_SIZES, max_edits=0))
        # One token that carries much of σ: leaving it out moves the threshold far.
        index = draw(strategies.token_indices(len(row)))
        weight = draw(st.sampled_from((-40.0, -100.0)))
        row = dataclasses.replace(row, edits=((index, weight),))
        return Case(rows=(row,), n=(draw(strategies.telling_n(row, context.claims.n_format)),))

    return cases()


def _whole_row(context: Context, case: Case) -> None:
    """Only cuts that are far off: a token that is not counted moves the cut a long way."""
    try:
        _membership(context, case)
    except Violation as violation:
        finding = violation.finding
        if finding is not None and finding.kind == "membership" and violation.bits is not None:
            batch, verdict = violation.batch, finding.verdict
            values = decode(batch.bits[0], batch.dtype).astype(np.float64)
            kept = kept_tokens(batch.bits[0], violation.bits[0], batch.dtype, context.dialect)
            cut = float(verdict.cut or 0.0)
            if np.abs(values - cut)[kept != verdict.keep].max() <= (values.max() - cut) / 64:
                return
        raise


def _constant_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    value = st.one_of(
        st.sampled_from((0.1, 0.0, -0.1, 1.0, -1e4, 1e4, 3.3333333, -7.3)),
        strategies.small_values(),
    )

    if scale == "small":
        rows = st.builds(lambda size, drawn: Row(values=(drawn,) * size), st.integers(2, 40), value)
    else:
        rows = strategies.large_rows(("constant",), max_edits=0)
    return strategies.single(rows, strategies.valid_n(context.claims.n_format))


def _one_token_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case] | None:
    if scale == "large":
        return None
    rows = strategies.small_rows(1, 1)
    return strategies.single(rows, strategies.valid_n(context.claims.n_format))


CHECKS = (
    Check(
        id="TNS-4.divisor",
        title="the divisor of σ is the dialect's, where V = 2 … 8 tells them apart",
        cases=_divisor_cases,
        verify=_membership,
    ),
    Check(
        id="TNS-4.deviation",
        title="σ is right to a ten-thousandth at every scale, on rows that do not round",
        cases=_deviation_cases,
        verify=_membership,
    ),
    Check(
        id="TNS-4.whole-row",
        title="σ counts every token, at any position",
        cases=_whole_row_cases,
        verify=_whole_row,
    ),
    Check(
        id="TNS-4.constant",
        title="a row of equal logits comes back bit for bit",
        cases=_constant_cases,
        verify=_membership,
    ),
    Check(
        id="TNS-4.one-token",
        title="a row of one token comes back bit for bit",
        cases=_one_token_cases,
        verify=_membership,
    ),
)
