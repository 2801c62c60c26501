"""The judge on handmade results: each kind of finding, and nothing where nothing is wrong."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from topnsigma_conformance import strategies
from topnsigma_conformance.batch import Batch
from topnsigma_conformance.case import Row
from topnsigma_conformance.formats import SPECIALS, as_array, encode, special_bits, width
from topnsigma_conformance.implementation import DTYPES
from topnsigma_conformance.judge import ALL_KINDS, judge, kept_tokens
from topnsigma_conformance.placement import Place
from topnsigma_reference import RFC, Dialect, all_dialects, classify, top_n_sigma

# mean 7, sample σ 2: the threshold is 8 at n = 1, population σ 1.79.
VALUES = [10.0, 9.0, 6.0, 6.0, 4.0, 7.0, 10.0, -0.0]
INF = float("inf")


def batch(values: list[float], dtype: str, n: object = 1.0) -> Batch:
    return Batch(encode(np.array([values], np.float32), dtype), dtype, (n,))


def exact(given_batch: Batch, dialect: Dialect = RFC) -> np.ndarray:
    rows = as_array(given_batch.bits, given_batch.dtype)
    result = top_n_sigma(rows, list(given_batch.n), dialect)
    return np.ascontiguousarray(result).view(width(given_batch.dtype))


def altered(bits: np.ndarray, token: int, value: float | int, dtype: str) -> np.ndarray:
    changed = bits.copy()
    pattern = value if isinstance(value, int) else encode(np.array([value], np.float32), dtype)[0]
    changed[0, token] = pattern
    return changed


def kinds(given_batch: Batch, bits: np.ndarray, dialect: Dialect = RFC) -> list[tuple[str, int]]:
    findings = judge(given_batch, bits, dialect).findings
    return [(finding.kind, finding.token) for finding in findings]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("token", "value", "expected"),
    [
        pytest.param(4, 4.0, ("membership", 4), id="kept below"),
        pytest.param(1, -INF, ("membership", 1), id="masked above"),
        pytest.param(6, -INF, ("maximum", 6), id="one of two maxima masked"),
        pytest.param(4, -1e4, ("fill", 4), id="wrong fill"),
        pytest.param(1, 9.5, ("bits", 1), id="survivor altered"),
    ],
)
def test_each_kind(dtype: str, token: int, value: float, expected: tuple[str, int]) -> None:
    given_batch = batch(VALUES, dtype)
    right = exact(given_batch)
    assert kinds(given_batch, right) == []
    assert kinds(given_batch, altered(right, token, value, dtype)) == [expected]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("values", "n", "rule"),
    [
        pytest.param(VALUES, None, "TNS-2", id="disabled"),
        pytest.param([1.0, -INF, 0.0], 1.0, "TNS-3", id="non-finite"),
        pytest.param([3.0, 3.0, 3.0], 1.0, "TNS-4", id="constant"),
        pytest.param([3.0], 1.0, "TNS-4", id="one token"),
    ],
)
def test_unchanged(dtype: str, values: list[float], n: object, rule: str) -> None:
    given_batch = batch(values, dtype, n)
    assert kinds(given_batch, given_batch.bits) == []
    # A single bit, of the last token.
    wrong = given_batch.bits.copy()
    wrong[0, -1] ^= 1
    finding = judge(given_batch, wrong, RFC).findings
    assert [(each.kind, each.token, each.verdict.rule) for each in finding] == [
        ("unchanged", len(values) - 1, rule)
    ]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [name for name in SPECIALS if name.startswith("nan")])
def test_a_nan_that_loses_its_payload_is_a_finding(dtype: str, name: str) -> None:
    row = Row(values=(1.0, 2.0, 3.0), specials=((1, name),))
    bits = row.bits(dtype, 1.0, RFC)[np.newaxis]
    given_batch = Batch(bits, dtype, (1.0,))
    other = special_bits(dtype, "nan-payload" if name == "nan" else "nan")
    assert kinds(given_batch, bits) == []
    assert kinds(given_batch, altered(bits, 1, other, dtype)) == [("unchanged", 1)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_negative_zero_that_loses_its_sign_is_a_finding(dtype: str) -> None:
    given_batch = batch(VALUES, dtype, 50.0)
    bits = exact(given_batch)
    assert kinds(given_batch, altered(bits, 7, 0.0, dtype)) == [("bits", 7)]


def near_the_cut(*places: Place) -> Batch:
    row = Row(family="model-like", size=4099, seed=3, places=places)
    return Batch(row.bits("float32", 1.0, RFC)[np.newaxis], "float32", (1.0,))


def test_single_cut() -> None:
    given_batch = near_the_cut(Place(5, "cut", -1), Place(6, "cut", 1), Place(7, "cut", 1))
    right = exact(given_batch)
    neg_inf = special_bits("float32", "-inf")
    verdict = classify(as_array(given_batch.bits[0], "float32"), 1.0)
    assert verdict.codes[5:8].tolist() == [1, 1, 1]
    # Inside the interval a cut may lie anywhere: above all three, below all three, between.
    for pattern in ([0, 0, 0], [1, 1, 1], [0, 1, 1]):
        bits = right.copy()
        bits[0, 5:8] = np.where(pattern, given_batch.bits[0, 5:8], neg_inf)
        assert kinds(given_batch, bits) == []
    # Not upward closed; equal logits that fare differently.
    for pattern, token in (([1, 0, 0], 6), ([1, 1, 0], 7), ([0, 0, 1], 6)):
        bits = right.copy()
        bits[0, 5:8] = np.where(pattern, given_batch.bits[0, 5:8], neg_inf)
        assert kinds(given_batch, bits) == [("single-cut", token)]


@pytest.mark.parametrize(
    ("edge", "ulps", "loose"),
    [("lower", 0, True), ("tight-lower", -1, True), ("tight-lower", 0, False), ("cut", -1, False)],
)
def test_a_cut_outside_of_the_tight_band_is_loose(edge: str, ulps: int, loose: bool) -> None:
    given_batch = near_the_cut(Place(5, edge, ulps))
    right = exact(given_batch)
    assert judge(given_batch, right, RFC).loose_rows == []
    kept = altered(right, 5, int(given_batch.bits[0, 5]), "float32")
    judgement = judge(given_batch, kept, RFC)
    assert judgement.findings == []
    assert judgement.loose_rows == ([0] if loose else [])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_logit_that_holds_the_fill_value_already_tells_nothing(dtype: str) -> None:
    dialect = Dialect(fill="lowest")
    lowest = special_bits(dtype, "-inf") - 1
    bits = batch([9.0, 8.0, 8.0, 1.0, 0.0], dtype).bits.copy()
    # Two: one would be an outlier that everything else is far above.
    bits[0, 3:] = lowest
    given_batch = Batch(bits, dtype, (0.25,))
    assert kinds(given_batch, bits, dialect) == []
    # It still must not become something else.
    assert kinds(given_batch, altered(bits, 3, 1.0, dtype), dialect) != []
    assert kinds(given_batch, altered(bits, 4, -INF, dtype), dialect) == [("fill", 4)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("neg_inf", ["exclude", "zero"])
def test_banned_tokens_stay_minus_infinity_whatever_the_fill(dtype: str, neg_inf: str) -> None:
    dialect = Dialect(neg_inf=neg_inf, fill="lowest")  # type: ignore[arg-type]
    given_batch = batch([9.0, 8.0, 0.0, 1.0, -INF], dtype)
    right = exact(given_batch, dialect)
    assert kinds(given_batch, right, dialect) == []
    lowest = special_bits(dtype, "-inf") - 1
    assert kinds(given_batch, altered(right, 4, lowest, dtype), dialect) == [("fill", 4)]


def test_findings_say_where_and_how_far() -> None:
    given_batch = batch(VALUES, "float32")
    (finding,) = judge(given_batch, altered(exact(given_batch), 4, 4.0, "float32"), RFC).findings
    assert (finding.row, finding.token, finding.n, finding.logit) == (0, 4, 1.0, 4.0)
    assert finding.expected == "masked: below the acceptance interval"
    assert finding.got == "kept"
    accept = finding.verdict.accept
    assert accept is not None
    lower, here = np.array([accept.lower, 4.0], np.float32).view(np.int32).tolist()
    assert finding.distance_ulp == lower - here


def test_rows_of_a_batch_are_judged_one_by_one() -> None:
    one = batch(VALUES, "float32")
    three = Batch(np.repeat(one.bits, 3, axis=0), "float32", (1.0, None, 1.0))
    right = exact(three)
    wrong = right.copy()
    wrong[1:] = one.bits[0] ^ 1
    found = [(finding.row, finding.kind) for finding in judge(three, wrong, RFC).findings]
    assert found[0] == (1, "unchanged")
    assert {row for row, _ in found} == {1, 2}


@pytest.mark.parametrize(
    ("after", "kept"),
    [
        pytest.param([9.0, 5.0, -INF], [True, True, False], id="masked"),
        pytest.param([9.0, 5.0, -1e9], [True, True, False], id="another fill"),
        pytest.param([0.0, -4.0, -INF], [True, True, False], id="survivors shifted"),
        pytest.param([9.0, 5.5, -INF], [True, True, False], id="survivor rounded"),
    ],
)
def test_kept_tokens_sees_through_altered_values(after: list[float], kept: list[bool]) -> None:
    bits = [encode(np.array(row, np.float32), "float32") for row in ([9.0, 5.0, 1.0], after)]
    assert kept_tokens(bits[0], bits[1], "float32", RFC).tolist() == kept


ROWS = st.one_of(
    strategies.small_rows(1, 8),
    strategies.small_rows(2, 8, strategies.extreme_values()),
    strategies.small_rows(3, 8).flatmap(strategies.placed),
    strategies.small_rows(2, 8).flatmap(lambda row: strategies.with_specials(row, SPECIALS)),
    strategies.small_rows(2, 8).flatmap(lambda row: strategies.with_specials(row, ("-inf",))),
    strategies.large_rows(sizes=(97, 1024)).flatmap(strategies.placed),
)


@settings(deadline=None, max_examples=400)
@given(
    ROWS,
    st.one_of(st.none(), strategies.valid_n(), strategies.unusual_n()),
    st.sampled_from(DTYPES),
    st.sampled_from(list(all_dialects())),
)
def test_the_exact_result_is_never_blamed(row: Row, n: Any, dtype: str, dialect: Dialect) -> None:
    given_batch = Batch(row.bits(dtype, n, dialect)[np.newaxis], dtype, (n,))
    judgement = judge(given_batch, exact(given_batch, dialect), dialect)
    assert judgement.findings == []
    assert judgement.loose_rows == []


def test_kinds_are_complete() -> None:
    assert {"membership", "maximum", "unchanged", "fill", "bits", "single-cut"} == ALL_KINDS
