"""Every field of Dialect, its text form, and what happens where fields meet (SPEC.md, 5.3)."""

from __future__ import annotations

import dataclasses
import math
import re

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from topnsigma_reference import (
    DIALECT_CHOICES,
    RFC,
    Dialect,
    all_dialects,
    classify,
    top_n_sigma,
)

NAN, INF = math.nan, math.inf
LOWEST = float(np.finfo(np.float32).min)

small_rows = st.lists(
    st.one_of(st.integers(-9, 9).map(float), st.just(-INF)), min_size=1, max_size=7
)


def dialect(text: str) -> Dialect:
    return Dialect.parse(text)


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def result(row: np.ndarray, n: object, text: str) -> list[float]:
    return [float(value) for value in top_n_sigma(row, n, dialect(text))]


def test_choices_are_the_fields_and_defaults_come_first() -> None:
    fields = {field.name: field.default for field in dataclasses.fields(Dialect)}
    assert fields == {field: choices[0] for field, choices in DIALECT_CHOICES.items()}
    assert fields == dataclasses.asdict(RFC)


def test_all_dialects_are_distinct_and_start_with_rfc() -> None:
    dialects = list(all_dialects())
    assert dialects[0] == RFC
    assert len(set(dialects)) == len(dialects) == math.prod(map(len, DIALECT_CHOICES.values()))


@pytest.mark.parametrize("each", list(all_dialects()), ids=str)
def test_text_round_trip(each: Dialect) -> None:
    assert dialect(str(each)) == each
    full = ", ".join(f"{field} = {value}" for field, value in dataclasses.asdict(each).items())
    assert dialect(full) == each


def test_text_of_some_dialects() -> None:
    assert str(RFC) == "RFC"
    assert dialect(" rfc ") == RFC
    assert str(Dialect(neg_inf="exclude", sigma="population")) == (
        "sigma=population,neg_inf=exclude"
    )
    assert Dialect(fill="lowest").differences(Dialect(sigma="population")) == {
        "sigma": "sample",
        "fill": "lowest",
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        ",",
        "sigma",
        "sigma=",
        "sigma=biased",
        "sigma=sample,sigma=sample",
        "sigma=population,",
        "SIGMA=sample",
        "divisor=sample",
        "RFC,sigma=population",
    ],
)
def test_text_that_is_no_dialect(text: str) -> None:
    with pytest.raises(ValueError, match="sigma"):
        dialect(text)


@pytest.mark.parametrize("field", DIALECT_CHOICES)
@pytest.mark.parametrize("value", ["", "RFC", None, 1])
def test_values_that_are_none_of_the_choices(field: str, value: object) -> None:
    choices = ", ".join(DIALECT_CHOICES[field])
    message = re.escape(f"{field} must be one of {choices}; got {value!r}")
    with pytest.raises(ValueError, match=message):
        Dialect(**{field: value})  # type: ignore[arg-type]


def test_sigma() -> None:
    assert result(array(0, 1, 2), 1.1, "RFC") == [-INF, 1, 2]
    assert result(array(0, 1, 2), 1.1, "sigma=population") == [-INF, -INF, 2]


def test_neg_inf() -> None:
    row = array(10, 8, 6, 6, 5, -INF)
    assert classify(row, 1).rule == "TNS-3"
    assert result(row, 1, "neg_inf=noop") == row.tolist()
    assert result(row, 1, "neg_inf=exclude") == [10, 8, -INF, -INF, -INF, -INF]
    # σ² of 10, 8, 6, 6, 5, 0 is 11.37 and of 10, 8, 6, 6, 5 it is 4: 7 tells them apart at n = 1.
    assert result(array(10, 8, 7, 5, 5, -INF), 1, "neg_inf=zero")[2] == 7
    assert result(array(10, 8, 7, 5, 5, -INF), 1, "neg_inf=exclude")[2] == -INF


def test_boundary() -> None:
    row = array(10, 8, 6, 6, 5)
    assert result(row, 1, "boundary=keep") == [10, 8, -INF, -INF, -INF]
    assert result(row, 1, "boundary=drop") == [10, -INF, -INF, -INF, -INF]


def test_invalid_n() -> None:
    row = array(1, 2, 3)
    with pytest.raises(ValueError, match="n must be"):
        top_n_sigma(row, 0, dialect("invalid_n=reject"))
    assert result(row, 0, "invalid_n=disable") == [1, 2, 3]
    assert classify(row, 0, dialect("invalid_n=disable")).rule == "TNS-1"
    assert classify(row, None, dialect("invalid_n=disable")).rule == "TNS-2"


@pytest.mark.parametrize(
    ("row", "lowest"),
    [
        (np.array([3, 0, 0, 0], np.float32), np.float32(LOWEST)),
        (np.array([3, 0, 0, 0], np.float16), np.float16(-65504)),
        (np.array([0x4040, 0, 0, 0], np.uint16), np.uint16(0xFF7F)),
    ],
)
def test_fill(row: np.ndarray, lowest: np.generic) -> None:
    got = top_n_sigma(row, 1, dialect("fill=lowest"))
    assert got.tobytes() == np.array([row[0], lowest, lowest, lowest], row.dtype).tobytes()


class TestWhereFieldsMeet:
    """Numbered as in SPEC.md, section 5.3."""

    @pytest.mark.parametrize("neg_inf", DIALECT_CHOICES["neg_inf"])
    @pytest.mark.parametrize("bad", [NAN, INF])
    def test_1_nan_and_inf_beside_neg_inf(self, neg_inf: str, bad: float) -> None:
        row = array(3, bad, -INF, 0)
        verdict = classify(row, 1, dialect(f"neg_inf={neg_inf},fill=lowest"))
        assert verdict.rule == "TNS-3"
        got = top_n_sigma(row, 1, dialect(f"neg_inf={neg_inf},fill=lowest"))
        assert got.tobytes() == row.tobytes()

    @pytest.mark.parametrize("neg_inf", ["exclude", "zero"])
    def test_2_no_neg_inf(self, neg_inf: str) -> None:
        row = array(10, 8, 6, 6, 5)
        assert classify(row, 1, dialect(f"neg_inf={neg_inf}")).threshold == (
            classify(row, 1).threshold
        )

    @pytest.mark.parametrize("neg_inf", DIALECT_CHOICES["neg_inf"])
    @pytest.mark.parametrize("size", [1, 4])
    def test_3_no_finite_logit(self, neg_inf: str, size: int) -> None:
        row = array(*[-INF] * size)
        assert classify(row, 1, dialect(f"neg_inf={neg_inf}")).rule == "TNS-3"
        assert result(row, 1, f"neg_inf={neg_inf},fill=lowest") == row.tolist()

    @pytest.mark.parametrize("sigma", DIALECT_CHOICES["sigma"])
    def test_4_exclude_with_one_finite_logit(self, sigma: str) -> None:
        row = array(-INF, 5, -INF)
        assert classify(row, 1, dialect(f"neg_inf=exclude,sigma={sigma}")).rule == "TNS-4"
        assert result(row, 1, f"neg_inf=exclude,sigma={sigma},fill=lowest") == row.tolist()

    @pytest.mark.parametrize(("value", "rule"), [(5, "TNS-5"), (-5, "TNS-5"), (0, "TNS-4")])
    def test_5_zero_with_one_finite_logit(self, value: float, rule: str) -> None:
        row = array(-INF, value, -INF)
        assert classify(row, 0.01, dialect("neg_inf=zero")).rule == rule
        assert result(row, 0.01, "neg_inf=zero,fill=lowest") == row.tolist()

    def test_6_zero_with_all_finite_logits_zero(self) -> None:
        row = array(0.0, -0.0, -INF)
        assert classify(row, 1, dialect("neg_inf=zero")).rule == "TNS-4"

    def test_7_zero_with_negative_logits_only(self) -> None:
        row = array(-5, -9, -INF)
        verdict = classify(row, 0.1, dialect("neg_inf=zero"))
        assert verdict.maximum == -5
        assert verdict.keep.tolist() == [True, False, False]

    @pytest.mark.parametrize("sigma", DIALECT_CHOICES["sigma"])
    @pytest.mark.parametrize("row", [array(), array(7)])
    def test_8_fewer_than_two_logits(self, sigma: str, row: np.ndarray) -> None:
        assert classify(row, 1, dialect(f"sigma={sigma}")).rule == "TNS-4"
        assert result(row, 1, f"sigma={sigma}") == row.tolist()

    def test_9_drop_with_equal_logits(self) -> None:
        assert result(array(2, 2, 2), 1, "boundary=drop") == [2, 2, 2]

    @pytest.mark.parametrize("n", [5e-324, 1.0])
    def test_10_drop_with_tied_maxima(self, n: float) -> None:
        assert result(array(2, 2, 0, 2), n, "boundary=drop") == [2, 2, -INF, 2]

    @settings(deadline=None)
    @given(small_rows, st.floats(0.1, 3.0))
    def test_11_population_keeps_a_subset_of_sample(self, row: list[float], n: float) -> None:
        sample = classify(array(*row), n, dialect("neg_inf=exclude")).keep
        population = classify(array(*row), n, dialect("neg_inf=exclude,sigma=population")).keep
        assert not (population & ~sample).any()

    def test_12_lowest_leaves_neg_inf(self) -> None:
        row = array(10, 8, 6, 6, 5, -INF)
        assert result(row, 1, "fill=lowest") == row.tolist()
        for neg_inf in ("exclude", "zero"):
            got = result(row, 1, f"fill=lowest,neg_inf={neg_inf}")
            assert got == [10, 8, LOWEST, LOWEST, LOWEST, -INF]

    def test_13_lowest_with_a_logit_that_is_lowest(self) -> None:
        row = array(0, 0, LOWEST)
        assert classify(row, 1).keep.tolist() == [True, True, False]
        assert result(row, 1, "fill=lowest") == row.tolist()

    def test_14_disable_in_a_batch(self) -> None:
        rows = np.tile(array(1, 2, 3), (4, 1))
        got = top_n_sigma(rows, [0.1, -1, "2", None], dialect("invalid_n=disable"))
        assert got.tolist() == [[-INF, -INF, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]]

    @pytest.mark.parametrize("each", list(all_dialects()), ids=str)
    def test_15_applying_twice(self, each: Dialect) -> None:
        small = LOWEST / 64
        rows = [
            array(10, 8, 6, 6, 5),
            array(10, 9, 6, 6, 5),
            array(0, -2, -3),
            array(0, small, 2 * small, LOWEST, LOWEST, LOWEST),
        ]
        changes = []
        for row in rows:
            for n in (0.029, 0.0318, 1.0, 1.2, 1.5, 1.7):
                once = top_n_sigma(row, n, each)
                changes.append(top_n_sigma(once, n, each).tobytes() != once.tobytes())
        assert any(changes) == (each.neg_inf != "noop" or each.fill != "-inf")

    @settings(deadline=None)
    @given(small_rows, st.floats(0.01, 3.0))
    def test_15_lowest_is_idempotent_on_core_rows(self, row: list[float], n: float) -> None:
        once = top_n_sigma(array(*row), n, dialect("fill=lowest"))
        assert top_n_sigma(once, n, dialect("fill=lowest")).tobytes() == once.tobytes()

    def test_15_the_examples_of_the_text(self) -> None:
        def kept(row: np.ndarray, n: float, text: str) -> list[int]:
            once = top_n_sigma(row, n, dialect(text))
            twice = top_n_sigma(once, n, dialect(text))
            return [int((r > LOWEST).sum()) for r in (once, twice)]

        assert kept(array(10, 8, 6, 6, 5), 1, "neg_inf=exclude") == [2, 1]
        assert kept(array(0, -2, -3), 1.5, "neg_inf=zero") == [2, 1]
        lowest = array(0, LOWEST / 64, LOWEST / 32, LOWEST, LOWEST, LOWEST)
        assert kept(lowest, 0.029, "fill=lowest") == [2, 1]
