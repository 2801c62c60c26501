"""The bounds for rows of few tokens: reached, never passed, and what they mean for the oracle."""

import hypothesis
import numpy as np
import pytest
import small_vocabularies
from hypothesis import strategies as st
from small_vocabularies import (
    SIZES,
    always_loses_below,
    extents,
    loneliest,
    narrowest,
    never_alone_from,
    never_loses_from,
    widest,
)

from examples import committed
from topnsigma_reference import top_n_sigma

ABOVE, BELOW = 1 + 1e-4, 1 - 1e-4


def _left(row: small_vocabularies._Rows, n: float) -> int:
    """Tokens that the exact oracle keeps."""
    return int(np.isfinite(top_n_sigma(row.astype(np.float32), n)).sum())


@pytest.mark.parametrize("size", [*SIZES, 31, 1000])
def test_each_bound_is_reached(size: int) -> None:
    (span,), _ = extents(widest(size)[None])
    assert span == pytest.approx(never_loses_from(size))
    (span,), _ = extents(narrowest(size)[None])
    assert span == pytest.approx(always_loses_below(size))
    _, (lead,) = extents(loneliest(size)[None])
    assert lead == pytest.approx(never_alone_from(size))


@pytest.mark.parametrize("size", [*SIZES, 31, 1000])
def test_on_either_side_of_a_bound(size: int) -> None:
    assert _left(widest(size), never_loses_from(size) * BELOW) < size
    assert _left(widest(size), never_loses_from(size) * ABOVE) == size
    assert _left(narrowest(size), always_loses_below(size) * BELOW) < size
    assert _left(narrowest(size), always_loses_below(size) * ABOVE) == size
    assert _left(loneliest(size), never_alone_from(size) * BELOW) == 1
    assert _left(loneliest(size), never_alone_from(size) * ABOVE) == size


@hypothesis.settings(deadline=None, derandomize=True)
@hypothesis.given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=12))
def test_no_row_passes_a_bound(logits: list[int]) -> None:
    hypothesis.assume(len(set(logits)) > 1)
    row, size = np.array(logits, float), len(logits)
    (span,), (lead,) = extents(row[None])
    assert always_loses_below(size) * (1 - 1e-12) <= span <= never_loses_from(size) * (1 + 1e-12)
    assert lead <= never_alone_from(size) * (1 + 1e-12)
    assert _left(row, always_loses_below(size) * BELOW) < size
    assert _left(row, never_loses_from(size) * ABOVE) == size
    if lead > 0:
        assert _left(row, never_alone_from(size) * ABOVE) > 1


@pytest.mark.parametrize("size", SIZES)
def test_random_rows_are_flat_and_peaked(size: int) -> None:
    spans, leads = extents(small_vocabularies.random_rows(size))
    assert spans.min() < always_loses_below(size) * 1.1
    assert spans.max() > never_loses_from(size) * 0.99
    assert leads.max() > never_alone_from(size) * 0.99


def test_what_the_words_of_the_table_mean() -> None:
    for entry in small_vocabularies.measure():
        size = entry["V"]
        rows = [widest(size), narrowest(size), loneliest(size)]
        rows += list(small_vocabularies.random_rows(size, rows=300))
        for n in small_vocabularies.N_VALUES:
            left = {_left(row, n) for row in rows}
            words = small_vocabularies.fate(entry, n)
            assert ("never masks" in words) == (left == {size})
            assert (words == "leaves one") == (left == {1})
            assert ("masks one or more" in words) == (size > 2 and size not in left)
            assert ("never leaves one alone" in words) == (1 not in left and left != {size})


def test_the_committed_figures_come_out_again() -> None:
    fresh, kept = small_vocabularies.measure(), committed.figures("small-vocabularies.json")
    for one, other in zip(fresh, kept, strict=True):
        assert one.pop("random_rows") == pytest.approx(other.pop("random_rows"), rel=2e-3)
        assert one == pytest.approx(other, rel=1e-12)
