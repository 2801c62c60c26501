"""TNS-10: what comes back is the same kind of tensor, and nothing else was written."""

from __future__ import annotations

import dataclasses

import hypothesis.strategies as st
import numpy as np

from topnsigma_conformance import strategies
from topnsigma_conformance.case import Case
from topnsigma_conformance.check import Check, Context, Scale, Violation


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
    ),
    Check(
        id="TNS-10.bounds",
        title="nothing is written outside of the rows",
        cases=_cases,
        verify=_bounds,
    ),
)
