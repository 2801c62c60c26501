"""TNS-2 and TNS-3: disabled rows and rows that hold non-finite logits."""

from __future__ import annotations

import dataclasses

import hypothesis.strategies as st

from topnsigma_conformance import strategies
from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.check import Check, Context, Scale, Violation
from topnsigma_conformance.checks.independence import needs_mixed_n
from topnsigma_conformance.formats import SPECIALS
from topnsigma_conformance.judge import judge

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


def _every_special(_: Context) -> list[Case]:
    row = Row(values=(1.0, 0.0) * len(SPECIALS))
    specials = tuple((2 * index, name) for index, name in enumerate(SPECIALS))
    return [Case(rows=(dataclasses.replace(row, specials=specials),), n=(None,))]


def _disabled(context: Context, case: Case) -> None:
    context.check(context.batch(case), "TNS-2", {"unchanged"})


def _beside_enabled_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    sizes = st.integers(2, 6) if scale == "small" else st.sampled_from(strategies.PLAIN_SIZES)

    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        size = draw(sizes)
        family = strategies.large_rows(sizes=(size,))
        row, other = (
            draw(strategies.small_rows(size, size) if scale == "small" else family)
            for _ in range(2)
        )
        row = draw(strategies.with_specials(row, SPECIALS, min_count=0))
        n = draw(strategies.valid_n(context.claims.n_format))
        # At both ends, so that neither an n nor a row taken from a neighbour is mistaken for it.
        return Case(rows=(row, other, other, row), n=(None, n, n, None))

    return cases()


def _beside_enabled(context: Context, case: Case) -> None:
    batch = context.batch(case)
    bits = context.result(batch)
    disabled = [row for row, n in enumerate(batch.n) if n is None]
    part = dataclasses.replace(batch, bits=batch.bits[disabled], n=(None,) * len(disabled))
    findings = judge(part, bits[disabled], context.dialect).findings
    if findings:
        finding = dataclasses.replace(findings[0], row=disabled[findings[0].row])
        message = f"beside enabled rows: expected {finding.expected}; got {finding.got}"
        raise Violation("TNS-2", message, batch, bits=bits, finding=finding)


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
        return Case(
            rows=(placed,), n=(draw(strategies.telling_n(placed, context.claims.n_format)),)
        )

    return cases()


def _neg_inf(context: Context, case: Case) -> None:
    context.check(context.batch(case), "TNS-3", {"unchanged", "membership", "maximum"})


CHECKS = (
    Check(
        id="TNS-2.disabled",
        title="a disabled row comes back bit for bit, NaN payloads and -0.0 included",
        cases=_disabled_cases,
        verify=_disabled,
        always=_every_special,
    ),
    Check(
        id="TNS-2.beside-enabled",
        title="a disabled row comes back bit for bit, also in a batch with enabled ones",
        cases=_beside_enabled_cases,
        verify=_beside_enabled,
        unsupported=needs_mixed_n,
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
