"""TNS-10: what comes back is the same kind of tensor, and nothing else was written."""

from __future__ import annotations

import dataclasses
import os

import hypothesis.strategies as st
import numpy as np

from topnsigma_conformance import strategies
from topnsigma_conformance.batch import Batch
from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.check import Check, Context, Scale, Violation, needs_its_memory
from topnsigma_conformance.implementation import Claims
from topnsigma_conformance.resident_memory import resident_bytes
from topnsigma_reference import Dialect


def _cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    claims = context.claims

    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        size = draw(
            st.integers(1, 9) if scale == "small" else st.sampled_from((97, 1024, 50_257, 128_257))
        )
        count = draw(st.integers(1, 4)) if claims.batched else 1
        if scale == "small":
            rows = tuple(draw(strategies.small_rows(size, size)) for _ in range(count))
        else:
            rows = tuple(draw(strategies.large_rows(sizes=(size,))) for _ in range(count))
        n = draw(st.one_of(st.none(), strategies.valid_n(claims.n_format)))
        layout = draw(strategies.layouts())
        if not claims.strided:
            layout = dataclasses.replace(layout, padding=0, spacing=1, transposed=False)
        return Case(rows=rows, n=(n,) * count, layout=layout)

    return cases()


def _shape_dtype(context: Context, case: Case) -> None:
    context.result(context.batch(case))


def _in_place(context: Context, case: Case) -> None:
    batch = context.batch(case)
    observation = context.returned(batch)
    assert observation.bits is not None
    if context.claims.in_place and not np.array_equal(observation.input_bits, observation.bits):
        raise Violation(
            "TNS-10", "declared in place, but the input does not hold the result", batch
        )
    if not context.claims.in_place and not np.array_equal(observation.input_bits, batch.bits):
        raise Violation("TNS-10", "declared to copy, but the input was changed", batch)


def _bounds(context: Context, case: Case) -> None:
    batch = context.batch(case)
    observation = context.observe(batch)
    if not observation.guards_intact:
        raise Violation("TNS-10", f"memory outside of the rows was written: {batch.layout}", batch)


_WARM_UP, _CALLS = 6, 24
"""Few: a slow implementation takes a second for a row of this size."""


def _memory_cases(_: Context, scale: Scale) -> st.SearchStrategy[Case] | None:
    if scale == "small":
        return None
    return st.just(Case(rows=(Row(family="model-like", size=151_936),), n=(1.0,)))


def _memory(context: Context, case: Case) -> None:
    """Growth by half of what went in, twice in a row: what is kept once is a workspace."""
    batch = context.batch(case)
    # A process that has freed much could keep much more before it grew; a new one has not.
    context.driver.close()
    _call_with_many_inputs(context, batch, _WARM_UP)
    before = context.driver.resident_bytes()
    grown = []
    for _ in range(2):
        _call_with_many_inputs(context, batch, _CALLS)
        after = context.driver.resident_bytes()
        if before is None or after is None or after - before <= _CALLS * batch.bits.nbytes // 2:
            return
        grown.append(after - before)
        before = after
    raise Violation(
        "TNS-10",
        f"memory grew by {grown[0]:,} bytes in {_CALLS} calls, and by {grown[1]:,} in {_CALLS}"
        f" more, on rows of {batch.bits.nbytes:,} bytes",
        batch,
    )


def _call_with_many_inputs(context: Context, batch: Batch, count: int) -> None:
    for call in range(count):
        # No two alike, so that a cache of results shows too.
        bits = np.roll(batch.bits, call, axis=1)
        context.result(dataclasses.replace(batch, bits=bits, n=(1.0 + call / 64,)))


def _needs_resident_memory(claims: Claims, dialect: Dialect) -> str:
    if resident_bytes(os.getpid()) is None:
        return "resident memory can be read on Linux only"
    return needs_its_memory(claims, dialect)


CHECKS = (
    Check(
        id="TNS-10.shape-dtype",
        title="shape, dtype and device of the result are those of the input",
        cases=_cases,
        verify=_shape_dtype,
    ),
    Check(
        id="TNS-10.in-place",
        title="the input is changed, or not, as declared",
        cases=_cases,
        verify=_in_place,
        unsupported=needs_its_memory,
    ),
    Check(
        id="TNS-10.bounds",
        title="nothing is written outside of the rows",
        cases=_cases,
        verify=_bounds,
        unsupported=needs_its_memory,
    ),
    Check(
        id="TNS-10.memory",
        title="calls hold on to no memory that grows with the number of calls",
        cases=_memory_cases,
        verify=_memory,
        unsupported=_needs_resident_memory,
        dtypes="first",
    ),
)
