"""``truncations`` beside naive definitions, and its top-nσ beside the exact reference."""

import math
from typing import Any

import numpy as np
import pytest
import synthetic_rows
import truncations
from examples.naive_truncations import NAIVE
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from topnsigma_reference import classify

VALUES = {
    "top_k": st.integers(1, 12),
    "top_p": st.floats(0.01, 0.999),
    "min_p": st.floats(0.001, 1),
    "typical": st.floats(0.01, 0.999),
    "epsilon": st.floats(1e-4, 1),
    "top_n_sigma": st.floats(0.05, 4),
}
DTYPES = (np.float32, np.float64)


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, float, truncations.Logits]:
    """A truncation, its parameter, and rows of few distinct logits, so that many are equal."""
    name = draw(st.sampled_from(sorted(VALUES)))
    size = draw(st.integers(1, 10))
    logit = st.integers(-24, 24).map(lambda eighths: eighths / 8)
    rows = draw(st.lists(st.lists(logit, min_size=size, max_size=size), min_size=1, max_size=3))
    return name, draw(VALUES[name]), np.array(rows, draw(st.sampled_from(DTYPES)))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(cases())
def test_each_row_is_cut_by_its_definition(case: tuple[str, float, truncations.Logits]) -> None:
    name, value, logits = case
    kept = getattr(truncations, name)(logits, value)
    assert (kept.shape, kept.dtype) == (logits.shape, np.bool_)
    for row, mask in zip(logits.tolist(), kept, strict=True):
        expected, margin = NAIVE[name](row, value)
        assume(margin > 1e-9)
        assert set(np.flatnonzero(mask).tolist()) == expected


@settings(max_examples=100, deadline=None, derandomize=True)
@given(cases())
def test_a_most_probable_token_always_stays(case: tuple[str, float, truncations.Logits]) -> None:
    name, value, logits = case
    kept = getattr(truncations, name)(logits, value)
    # Of equal ones, top_p keeps as few as it needs.
    assert (kept & (logits == logits.max(axis=1, keepdims=True))).any(axis=1).all()


def test_typical_keeps_the_most_probable_token_though_it_is_not_typical() -> None:
    logits = np.array([[3.0] + 40 * [0.0]])
    kept = truncations.typical(logits, 0.2)[0]
    assert kept[0]
    assert not kept[1:].all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_tokens_reach_p_exactly(dtype: Any) -> None:
    logits = np.zeros((1, 4), dtype)
    assert truncations.top_p(logits, 0.5).tolist() == [[True, True, False, False]]
    assert truncations.top_p(logits, 0.75).tolist() == [[True, True, True, False]]
    assert truncations.typical(logits, 0.75)[0].tolist() == [True] * 4


@pytest.mark.parametrize("name", ["top_p", "typical"])
def test_a_whole_share_keeps_tokens_too_rare_to_count(name: str) -> None:
    logits = np.array([[0.0, -500.0, -1000.0]])
    assert getattr(truncations, name)(logits, 1).all()
    assert truncations.min_p(logits, 1).tolist() == [[True, False, False]]


@pytest.mark.parametrize("name", ["top_p", "min_p", "typical", "epsilon"])
def test_rows_of_a_vocabulary_are_cut_by_the_definition(name: str) -> None:
    logits = np.concatenate([synthetic_rows.rfc_flat(), synthetic_rows.rfc_bimodal()])[:, :2000]
    value = {"top_p": 0.9, "min_p": 0.05, "typical": 0.9, "epsilon": 3e-4}[name]
    kept = truncations.keep(f"{name} {value}", logits)
    for row, mask in zip(logits.tolist(), kept, strict=True):
        expected, margin = _without_gaps(name, row, value)
        assert margin > 1e-9
        assert set(np.flatnonzero(mask).tolist()) == expected


def _without_gaps(name: str, row: list[float], value: float) -> tuple[set[int], float]:
    """The naive definition; typical's, but for the search of all pairs, which is quadratic."""
    if name != "typical":
        return NAIVE[name](row, value)
    information = np.array(row, np.longdouble)
    information = np.log(np.exp(information - information.max()).sum()) + max(row) - information
    shares = np.exp(-information)
    order = np.argsort(np.abs(information - (shares * information).sum()), kind="stable")
    sums = np.cumsum(shares[order])
    count = int((sums < value).sum()) + 1
    return {*order[:count].tolist(), int(np.argmax(row))}, float(np.abs(sums - value).min())


@pytest.mark.parametrize("n", [0.5, 1.0, 2.0, 3.0])
def test_top_n_sigma_keeps_what_the_reference_keeps(n: float) -> None:
    rng = np.random.default_rng(7)
    rows = (rng.standard_normal((24, 4096)) * rng.uniform(0.1, 8, (24, 1))).astype(np.float32)
    rows += rng.uniform(-50, 50, (24, 1)).astype(np.float32)
    kept = truncations.top_n_sigma(rows, n)
    for row, mask in zip(rows, kept, strict=True):
        assert (mask == classify(row, n).keep).all()


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("power", [0.25, 1, 4])
def test_top_n_sigma_keeps_a_logit_on_the_cut(n: int, power: float) -> None:
    logits = synthetic_rows.worked_example() * np.float32(power)
    verdict = classify(logits[0], n)
    assert verdict.cut in (power * 8, power * 6)
    assert (truncations.top_n_sigma(logits, n)[0] == verdict.keep).all()
    assert verdict.keep.sum() == n + 1


@pytest.mark.parametrize("seed", range(24))
def test_top_n_sigma_decides_a_few_ulp_from_the_cut(seed: int) -> None:
    row = np.random.default_rng(seed).standard_normal(512).astype(np.float32) * np.float32(3)
    # The tokens that are moved to the cut move it themselves, the last time by an ulp or two.
    for _ in range(12):
        cut = classify(row, 2).cut
        assert cut is not None
        near = np.float32(cut)
        above = near if near >= cut else np.nextafter(near, np.float32(np.inf))
        row[:2] = above, np.nextafter(above, np.float32(-np.inf))
    verdict = classify(row, 2)
    assert verdict.cut is not None
    assert abs(row[:2] - verdict.cut).max() <= 4 * np.spacing(row[0])
    assert (truncations.top_n_sigma(row[None], 2)[0] == verdict.keep).all()


def test_top_n_sigma_drops_what_is_just_below_the_cut() -> None:
    logits = synthetic_rows.worked_example().astype(np.float64)
    logits[0, 2] = np.nextafter(6, 0)
    assert truncations.top_n_sigma(logits, 2)[0, :3].tolist() == [True, True, False]


@pytest.mark.parametrize("row", [[4.0], [2.5] * 9])
def test_top_n_sigma_leaves_a_row_without_spread(row: list[float]) -> None:
    assert truncations.top_n_sigma(np.array([row]), 1.0).all()


BAD = [math.nan, math.inf, -1, 0, True, "1", None]


@pytest.mark.parametrize("value", [*BAD, 1.5, 2.0])
def test_top_k_takes_an_integer(value: Any) -> None:
    with pytest.raises(ValueError, match="k must be an integer > 0"):
        truncations.top_k(np.zeros((1, 3)), value)


@pytest.mark.parametrize("name", ["top_p", "min_p", "typical", "epsilon"])
@pytest.mark.parametrize("value", [*BAD, 1.0001])
def test_shares_lie_in_their_interval(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r"must be a number in \(0, 1\]"):
        getattr(truncations, name)(np.zeros((1, 3)), value)


@pytest.mark.parametrize("value", BAD)
def test_n_is_finite_and_positive(value: Any) -> None:
    with pytest.raises(ValueError, match="n must be a finite number > 0"):
        truncations.top_n_sigma(np.zeros((1, 3)), value)


@pytest.mark.parametrize("name", sorted(VALUES))
def test_bad_logits_are_refused(name: str) -> None:
    function = getattr(truncations, name)
    for shape in [(3,), (1, 0), (1, 2, 3)]:
        with pytest.raises(ValueError, match="must be \\[B, V\\]"):
            function(np.zeros(shape), 1)
    for bad in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="must be finite"):
            function(np.array([[0.0, bad]]), 1)
    with pytest.raises(TypeError, match="got int64"):
        function(np.zeros((1, 3), np.int64), 1)


def test_a_setting_is_a_name_and_a_value() -> None:
    logits = synthetic_rows.worked_example()
    assert truncations.keep("top_k 2", logits).sum() == 2
    assert (truncations.keep("epsilon 0.001", logits) == truncations.epsilon(logits, 1e-3)).all()
    with pytest.raises(ValueError, match=r"got 'top-p 0\.9'"):
        truncations.keep("top-p 0.9", logits)
