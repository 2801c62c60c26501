"""TNS-1: which n are accepted, and what happens to the others."""

from __future__ import annotations

import dataclasses
import json
import re

import hypothesis.strategies as st
import numpy as np

from topnsigma_conformance import strategies
from topnsigma_conformance.batch import Batch
from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.check import (
    Check,
    Context,
    ImplementationRaised,
    Scale,
    Violation,
    needs_its_memory,
)
from topnsigma_conformance.checks.blame import errs_without_sigma, require_repeatable
from topnsigma_conformance.implementation import Claims
from topnsigma_conformance.judge import judge
from topnsigma_conformance.placement import Place
from topnsigma_reference import Dialect


def _cases_with_bad_n(context: Context, scale: Scale) -> st.SearchStrategy[Case] | None:
    if scale == "large":
        return None
    bad = strategies.bad_n(_numbers_only(context), context.claims.remote)
    rows = 3 if context.claims.batched and context.claims.per_row_n else 1

    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        size = draw(st.integers(2, 6))
        count = draw(st.integers(1, rows))
        drawn = tuple(draw(strategies.small_rows(size, size)) for _ in range(count))
        n: list[object] = [draw(strategies.valid_n(context.claims.n_format)) for _ in drawn]
        n[draw(st.integers(0, count - 1))] = draw(bad)
        return Case(rows=drawn, n=tuple(n))

    return cases()


def _every_bad_n(context: Context) -> list[Case]:
    # Drawing might leave one out, and each of them is somebody's bug.
    row = Row(values=(0.0, 1.0, 3.0))
    names = strategies.bad_n_names(_numbers_only(context), context.claims.remote)
    return [Case(rows=(row,), n=(name,)) for name in names]


def _every_bad_n_in_last_place(context: Context) -> list[Case]:
    if not (context.claims.batched and context.claims.per_row_n):
        return _every_bad_n(context)
    return [
        dataclasses.replace(case, rows=case.rows * 2, n=(1.0, *case.n))
        for case in _every_bad_n(context)
    ]


def _numbers_only(context: Context) -> bool:
    # Engines that disable on a bad n are typed: only bad numbers can reach them.
    return context.dialect.invalid_n == "disable"


def _reject(context: Context, case: Case) -> None:
    batch = context.batch(case)
    if context.dialect.invalid_n == "disable":
        context.check(batch, "TNS-1", {"unchanged"})
        return
    observation = context.observe(batch)
    if observation.outcome == "raised":
        raise Violation(
            "TNS-1", f"n = {_shown(batch)} ended in an error: {observation.message}", batch
        )
    if observation.outcome != "rejected":
        raise Violation("TNS-1", f"n = {_shown(batch)} was accepted", batch, bits=observation.bits)


def _message(context: Context, case: Case) -> None:
    batch = context.batch(case)
    observation = context.observe(batch)
    if observation.outcome != "rejected":
        return
    name = next(entry for entry in case.n if isinstance(entry, str))
    value = batch.n[case.n.index(name)]
    text = observation.message
    # Long values may be shortened.
    forms = [repr(value), str(value)]
    if context.claims.remote:
        forms.append(json.dumps(value))
    value_named = any(shown[:12] in text for shown in forms)
    if not value_named:
        context.warn(f"the error for n = {_short(value)} does not name the value: {text!r}")
    if not re.search(rf"\b{re.escape(context.claims.parameter)}\b", text):
        context.warn(f"the error does not name the parameter {context.claims.parameter}: {text!r}")


def _atomic(context: Context, case: Case) -> None:
    batch = context.batch(case)
    observation = context.observe(batch)
    if observation.outcome not in ("rejected", "raised"):
        return
    if not np.array_equal(observation.input_bits, batch.bits):
        raise Violation(
            "TNS-1", f"n = {_shown(batch)} was rejected half-way: logits changed", batch
        )


def _accept_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case] | None:
    if scale == "large":
        return None
    n = strategies.unusual_n(context.claims.n_format)
    return strategies.single(strategies.small_rows(), n)


def _accept(context: Context, case: Case) -> None:
    """Only what does not depend on the threshold's accuracy: other checks see to that."""
    batch = context.batch(case)
    n = batch.n[0]
    try:
        bits = context.result(batch)
        if isinstance(n, int):
            same = context.result(dataclasses.replace(batch, n=(float(n),)))
            if not np.array_equal(bits, same):
                raise Violation("TNS-1", f"n = {n!r} and n = {float(n)!r} differ", batch)
        else:
            context.check(batch, "TNS-1", {"membership", "unchanged"})
    except ImplementationRaised as error:
        raise Violation("TNS-1", f"n = {_shown(batch)} is valid: {error}", batch) from error
    except Violation as violation:
        if violation.finding is None:
            raise
        if not _misjudged_anyway(context, batch, violation.finding.token):
            require_repeatable(context, violation)
            raise


def _misjudged_anyway(context: Context, batch: Batch, token: int) -> bool:
    """Whether the row goes wrong at ordinary n as well: then n is not to blame."""
    for n in (1 / 64, 20.0):
        control = dataclasses.replace(batch, n=(n,))
        if judge(control, context.result(control), context.dialect).findings:
            return True
    return errs_without_sigma(context, batch, token)


def _value_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case] | None:
    """A row at a fraction, at a small or at a large n, and it and others at whole numbers.

    The row is such that other faults than that of n show at whole numbers too: two tokens are the
    maximum, no logit below the threshold is as large in magnitude, and the last ones are ordinary.
    """
    if scale == "large":
        return None

    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        # The longer ones last, to be shrunk away from. Of 8 tokens two can still lie at the
        # threshold of n = 1.875; of 1024, nearly all of them far below, at that of n = 18.
        size, least, most, whole = draw(
            st.sampled_from(
                (
                    (8, 0.25, 1.875, (1.0, 2.0)),
                    (8, 2.0**-8, 2.0**-5, (1.0, 2.0)),
                    (32, 0.25, 2.75, (1.0, 2.0, 3.0)),
                    (1024, 11.0, 18.0, (1.0, 4.0, 9.0)),
                )
            )
        )
        seed = draw(st.integers(0, 2**16))
        # In sixty-fourths: a number of both formats.
        n = least + (most - least) * draw(st.integers(1, 63)) / 64
        places = (Place(2, "lower", -1), Place(3, "upper", 1))
        # One row alone can be right at whole numbers by luck.
        row, *others = (
            dataclasses.replace(_two_maxima(size, seed + shift), places=places)
            for shift in range(4)
        )
        controls = [(control, m) for control in (row, *others) for m in whole]
        return Case(
            rows=(row, *(control for control, _ in controls)), n=(n, *(m for _, m in controls))
        )

    return cases()


def _two_maxima(size: int, seed: int) -> Row:
    if size > 32:
        return Row(family="flat", size=size, seed=seed, edits=((0, 20.0), (1, 20.0)))
    rest = np.random.Generator(np.random.PCG64(seed)).uniform(0.5, 19.5, size - 2)
    return Row(values=(20.0, 20.0, *rest.astype(np.float32).tolist()))


def _value(context: Context, case: Case) -> None:
    first, *whole = context.batch(case).single_rows()
    try:
        context.check(first, "TNS-1", {"membership", "unchanged"})
    except Violation as violation:
        if violation.finding is None:
            raise
        for batch in whole:
            if judge(batch, context.result(batch), context.dialect).findings:
                return
        require_repeatable(context, violation)
        raise


def _needs_rejection(_: Claims, dialect: Dialect) -> str:
    return "" if dialect.invalid_n == "reject" else "the dialect rejects no n"


def _needs_rejection_and_its_memory(claims: Claims, dialect: Dialect) -> str:
    return _needs_rejection(claims, dialect) or needs_its_memory(claims, dialect)


def _shown(batch: Batch) -> str:
    return f"[{', '.join(_short(entry) for entry in batch.n)}]"


def _short(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 100:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


CHECKS = (
    Check(
        id="TNS-1.reject",
        title="every n outside the domain is rejected with ValueError (or disables, by dialect)",
        cases=_cases_with_bad_n,
        always=_every_bad_n,
        verify=_reject,
        dtypes="first",
    ),
    Check(
        id="TNS-1.message",
        title="the error names the parameter and the value",
        cases=_cases_with_bad_n,
        always=_every_bad_n,
        verify=_message,
        unsupported=_needs_rejection,
        dtypes="first",
    ),
    Check(
        id="TNS-1.atomic",
        title="a rejected call changes no logit, also of rows whose n is valid",
        cases=_cases_with_bad_n,
        always=_every_bad_n_in_last_place,
        verify=_atomic,
        unsupported=_needs_rejection_and_its_memory,
        dtypes="first",
    ),
    Check(
        id="TNS-1.accept",
        title="every n in the domain is accepted and means its binary64 value",
        cases=_accept_cases,
        verify=_accept,
        dtypes="first",
    ),
    Check(
        id="TNS-1.value",
        title="n is neither rounded nor clipped, be it a fraction, small or large",
        cases=_value_cases,
        verify=_value,
        dtypes="first",
    ),
)
