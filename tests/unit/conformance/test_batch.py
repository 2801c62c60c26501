"""Batches in memory: every layout holds the rows, and a write beside them is noticed."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from topnsigma_conformance import strategies
from topnsigma_conformance.batch import (
    GUARD_BITS,
    GUARD_VALUE,
    Batch,
    Layout,
    guards_intact,
    lay_out,
)
from topnsigma_conformance.formats import decode, width
from topnsigma_conformance.implementation import DTYPES

LAYOUTS = st.builds(
    Layout,
    offset=st.integers(0, 5),
    padding=st.integers(0, 16),
    spacing=st.integers(1, 3),
    transposed=st.booleans(),
)


def batch_of(rows: int, tokens: int, layout: Layout, dtype: str = "float32") -> Batch:
    bits = np.arange(1, rows * tokens + 1).reshape(rows, tokens).astype(width(dtype))
    return Batch(bits, dtype, (1.0,) * rows, layout)


@pytest.mark.parametrize("dtype", DTYPES)
def test_guard_is_a_large_finite_value_in_every_format(dtype: str) -> None:
    assert decode(np.array([GUARD_BITS[dtype]], width(dtype)), dtype)[0] == GUARD_VALUE


@settings(deadline=None)
@given(st.integers(1, 4), st.integers(1, 9), LAYOUTS, st.sampled_from(DTYPES))
def test_the_view_holds_the_batch_and_no_two_tokens_share_memory(
    rows: int, tokens: int, layout: Layout, dtype: str
) -> None:
    batch = batch_of(rows, tokens, layout, dtype)
    memory, view = lay_out(batch)
    np.testing.assert_array_equal(view, batch.bits)
    assert (memory != GUARD_BITS[dtype]).sum() == rows * tokens
    assert guards_intact(memory, batch)
    row_stride, token_stride = layout.strides(rows, tokens)
    assert view.strides == (row_stride * memory.itemsize, token_stride * memory.itemsize)


@settings(deadline=None)
@given(st.integers(1, 3), st.integers(1, 5), LAYOUTS, st.data())
def test_every_write_outside_is_noticed_and_no_write_inside(
    rows: int, tokens: int, layout: Layout, data: st.DataObject
) -> None:
    batch = batch_of(rows, tokens, layout)
    memory, view = lay_out(batch)
    outside = np.flatnonzero(memory == GUARD_BITS["float32"])
    view[...] = 0
    assert guards_intact(memory, batch)
    memory[data.draw(st.sampled_from(outside.tolist()))] ^= 1
    assert not guards_intact(memory, batch)


@settings(deadline=None)
@given(st.integers(1, 3), st.integers(1, 5), LAYOUTS)
def test_there_is_a_guard_behind_the_last_token_and_before_a_first_one_with_offset(
    rows: int, tokens: int, layout: Layout
) -> None:
    batch = batch_of(rows, tokens, layout)
    memory, _ = lay_out(batch)
    used = np.flatnonzero(memory != GUARD_BITS["float32"])
    assert used[0] == layout.offset
    assert memory.size - 1 - used[-1] >= 8


@pytest.mark.parametrize(
    ("layout", "contiguous", "strides"),
    [
        (Layout(), True, (4, 1)),
        (Layout(offset=3), True, (4, 1)),
        (Layout(padding=2), False, (6, 1)),
        (Layout(spacing=3), False, (12, 3)),
        (Layout(transposed=True), False, (1, 2)),
        (Layout(transposed=True, padding=1, spacing=3), False, (1, 3)),
    ],
)
def test_strides(layout: Layout, contiguous: bool, strides: tuple[int, int]) -> None:
    assert layout.contiguous is contiguous
    assert layout.strides(2, 4) == strides


@settings(deadline=None)
@given(strategies.layouts())
def test_drawn_layouts_are_layouts(layout: Layout) -> None:
    memory, _ = lay_out(batch_of(3, 5, layout))
    assert memory.size == layout.extent(3, 5)
