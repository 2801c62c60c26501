"""TNS-8 and TNS-11: a row's result depends on the row and its n, and on nothing else."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

import hypothesis.strategies as st
import numpy as np

from topnsigma_conformance import strategies
from topnsigma_conformance.batch import Batch, Layout
from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.check import Check, Context, Scale, Violation
from topnsigma_conformance.families import CORE_FAMILIES
from topnsigma_conformance.formats import Bits
from topnsigma_conformance.implementation import Claims
from topnsigma_reference import Dialect

_MAX_LARGE = 50_257


def _row(draw: st.DrawFn, scale: Scale, size: int) -> Row:
    if scale == "small":
        row = draw(strategies.small_rows(size, size))
    else:
        row = draw(strategies.large_rows(sizes=(size,), max_edits=1))
    # Tokens inside the interval show a cut that moves by a single ulp.
    return draw(strategies.placed(row, ("cut",), 3, max_places=4))


def _batch_cases(
    context: Context, scale: Scale, *, same_n: bool | None = None
) -> st.SearchStrategy[Case]:
    """A row among neighbours; the neighbours matter little and are cheap to draw."""
    sizes = (2, 3, 4, 5, 8, 13) if scale == "small" else strategies.LARGE_SIZES
    one_n = not context.claims.per_row_n if same_n is None else same_n

    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        size = draw(st.sampled_from([size for size in sizes if size <= _MAX_LARGE]))
        neighbour = st.builds(
            Row,
            family=st.sampled_from(CORE_FAMILIES),
            size=st.just(size),
            seed=st.integers(0, 2**16),
        )
        rows = draw(st.lists(neighbour, min_size=1, max_size=8 if scale == "small" else 3))
        rows.insert(draw(st.integers(0, len(rows))), _row(draw, scale, size))
        n_format = context.claims.n_format
        if one_n:
            placed = max(rows, key=lambda row: len(row.places))
            return Case(
                rows=tuple(rows), n=(draw(strategies.telling_n(placed, n_format)),) * len(rows)
            )
        n = tuple(draw(strategies.telling_n(row, n_format)) for row in rows)
        return Case(rows=tuple(rows), n=n)

    return cases()


def _repeatable(verify: Callable[[Context, Case], None]) -> Callable[[Context, Case], None]:
    """``verify``, but where the same calls differ from time to time too, TNS-11 is broken."""

    def checked(context: Context, case: Case) -> None:
        try:
            verify(context, case)
        except Violation as violation:
            if violation.rule != "TNS-8":
                raise
            batch = context.batch(case)
            calls = [batch, *batch.single_rows()]
            once = [context.result(call) for call in calls]
            # Each right after itself, so that the call before leaves other traces, if any.
            twice = [(context.result(call), context.result(call)) for call in calls]
            again = [second for _, second in twice]
            if _passes(verify, context, case) or not all(map(np.array_equal, once, again)):
                raise Violation("TNS-11", f"not repeatable: {violation}", batch) from violation
            raise

    return checked


def _passes(verify: Callable[[Context, Case], None], context: Context, case: Case) -> bool:
    try:
        verify(context, case)
    except Violation:
        return False
    return True


def _batch(context: Context, case: Case) -> None:
    batch = context.batch(case)
    _same_alone(context, batch, context.result(batch), f"among {len(batch.n)} rows")


def _same_alone(context: Context, batch: Batch, together: Bits, where: str) -> None:
    for row, alone in enumerate(batch.single_rows()):
        _same_bits(batch, row, context.result(alone)[0], together[row], f"alone and {where}")


def _position_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    return st.builds(
        lambda case, seed: dataclasses.replace(case, params={"order": seed}),
        _batch_cases(context, scale),
        st.integers(0, 1000),
    )


def _position(context: Context, case: Case) -> None:
    batch = context.batch(case)
    order = list(range(len(batch.n)))
    random.Random(case.params["order"]).shuffle(order)
    before = context.result(batch)
    moved = context.result(
        dataclasses.replace(batch, bits=batch.bits[order], n=tuple(batch.n[row] for row in order))
    )
    for place, row in enumerate(order):
        _same_bits(batch, row, before[row], moved[place], f"at rows {row} and {place} of a batch")


def _mixed_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    def disable_some(case: Case, disabled: list[bool]) -> Case:
        n = tuple(None if off else value for value, off in zip(case.n, disabled, strict=False))
        return dataclasses.replace(case, n=n + case.n[len(n) :])

    return st.builds(
        disable_some,
        _batch_cases(context, scale, same_n=False),
        st.lists(st.booleans(), min_size=1, max_size=9),
    )


def _mixed(context: Context, case: Case) -> None:
    batch = context.batch(case)
    together = context.check(batch, "TNS-8", {"unchanged"})
    _same_alone(context, batch, together, f"beside n = {list(batch.n)!r}")


def _layout_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    return st.builds(
        lambda case, layout: dataclasses.replace(case, layout=layout),
        _batch_cases(context, scale),
        strategies.layouts(),
    )


def _layout(context: Context, case: Case) -> None:
    batch = context.batch(case)
    laid_out = context.result(batch)
    plain = context.result(dataclasses.replace(batch, layout=Layout()))
    for row in range(len(batch.n)):
        _same_bits(batch, row, plain[row], laid_out[row], f"contiguous and with {batch.layout}")


def _repeat_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        sizes = (2, 3, 5, 8) if scale == "small" else strategies.LARGE_SIZES
        size = draw(st.sampled_from(sizes))
        # The second row goes in between, to leave its traces where there are any.
        rows = (_row(draw, scale, size), _row(draw, scale, size))
        n_format = context.claims.n_format
        return Case(rows=rows, n=tuple(draw(strategies.telling_n(row, n_format)) for row in rows))

    return cases()


def _repeat(context: Context, case: Case) -> None:
    batch = context.batch(case)
    first, between = batch.single_rows()
    results = [context.result(first), context.result(first)]
    # The same row with another n may leave its traces as well.
    same_row = dataclasses.replace(first, n=between.n)
    for call in (between, same_row, between):
        context.result(call)
        results.append(context.result(first))
    for later in results[1:]:
        _same_bits(first, 0, results[0][0], later[0], "on the first and on a later call", "TNS-11")


def _same_bits(
    batch: Batch, row: int, one: Bits, other: Bits, where: str, rule: str = "TNS-8"
) -> None:
    different = np.flatnonzero(one != other)
    if different.size:
        token = int(different[0])
        digits = one.dtype.itemsize * 2
        raise Violation(
            rule,
            f"row {row}, token {token} (of {different.size} that differ):"
            f" 0x{int(one[token]):0{digits}x} and 0x{int(other[token]):0{digits}x}, {where}",
            batch,
        )


def _needs_batches(claims: Claims, _: Dialect) -> str:
    return "" if claims.batched else "takes one row at a time"


def needs_mixed_n(claims: Claims, dialect: Dialect) -> str:
    """Does not apply where all rows of a batch have one n."""
    return _needs_batches(claims, dialect) or ("" if claims.per_row_n else "takes one n a batch")


def _needs_strides(claims: Claims, dialect: Dialect) -> str:
    return _needs_batches(claims, dialect) or (
        "" if claims.strided else "takes contiguous logits only"
    )


CHECKS = (
    Check(
        id="TNS-8.batch",
        title="a row gives the same bits alone and in a batch of any size",
        cases=_batch_cases,
        verify=_repeatable(_batch),
        unsupported=_needs_batches,
    ),
    Check(
        id="TNS-8.position",
        title="a row gives the same bits at any position of a batch",
        cases=_position_cases,
        verify=_repeatable(_position),
        unsupported=_needs_batches,
    ),
    Check(
        id="TNS-8.mixed-n",
        title="each row follows its own n, also beside disabled rows",
        cases=_mixed_cases,
        verify=_repeatable(_mixed),
        unsupported=needs_mixed_n,
    ),
    Check(
        id="TNS-8.layout",
        title="strides, padding and alignment of the logits change nothing",
        cases=_layout_cases,
        verify=_repeatable(_layout),
        unsupported=_needs_strides,
    ),
)

REPEAT_CHECKS = (
    Check(
        id="TNS-11.repeat",
        title="the same input gives the same bits every time, whatever came in between",
        cases=_repeat_cases,
        verify=_repeat,
    ),
)
