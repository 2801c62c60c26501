"""n: what is accepted, as which number, and how everything else is refused (TNS-1)."""

from __future__ import annotations

import decimal
import math
import numbers
import re
from fractions import Fraction

import numpy as np
import pytest

from topnsigma_reference import RFC, Dialect, classify, parse_n, top_n_sigma

ROW = np.array([1, 2, 3, 4], np.float32)
DISABLE = Dialect(invalid_n="disable")


class FailingReal(float):
    """A number whose conversion fails."""

    def __float__(self) -> float:
        raise RuntimeError("no")


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


ACCEPTED = [
    (2, Fraction(2)),
    (0.1, Fraction(0.1)),
    (Fraction(1, 10), Fraction(0.1)),
    (np.float32(0.1), Fraction(float(np.float32(0.1)))),
    (np.float16(0.1), Fraction(float(np.float16(0.1)))),
    (np.float64(0.1), Fraction(0.1)),
    (np.longdouble(0.5), Fraction(1, 2)),
    (np.int8(3), Fraction(3)),
    (np.uint64(2**63), Fraction(2**63)),
    (2**53 + 1, Fraction(2**53)),
    (5e-324, Fraction(1, 2**1074)),
    (1.7976931348623157e308, Fraction(1.7976931348623157e308)),
    (10**300, Fraction(1e300)),
    (1e-50, Fraction(1e-50)),
]

REJECTED = [
    (0, "0"),
    (0.0, "0.0"),
    (-0.0, "-0.0"),
    (-1, "-1"),
    (-5e-324, "-5e-324"),
    (math.nan, "nan"),
    (math.inf, "inf"),
    (-math.inf, "-inf"),
    (True, "True"),
    (False, "False"),
    (np.True_, "True"),
    ("2.0", "'2.0'"),
    (b"2", "b'2'"),
    ("", "''"),
    ([1.0], "[1.0]"),
    ({}, "{}"),
    (1j, "1j"),
    (2 + 0j, "(2+0j)"),
    (decimal.Decimal("1.5"), "Decimal('1.5')"),
    (np.array(1.5), "array(1.5)"),
    (np.float32("nan"), "nan"),
    (np.float16("inf"), "inf"),
    (np.complex64(1), "(1+0j)"),
    (10**400, "1000000"),
    (-(10**400), "-1000000"),
    (Fraction(1, 10**400), "Fraction(1, 1000"),
    (10**5000, "an unprintable int"),
    ("x" * 10**6, "'xxxx"),
    (FailingReal(1), "1.0"),
    (Unprintable(), "an unprintable Unprintable"),
    (object, "<class 'object'>"),
]


def identify(value: object) -> str:
    return type(value).__name__


@pytest.mark.parametrize(("value", "exact"), ACCEPTED, ids=identify)
def test_accepted(value: object, exact: Fraction) -> None:
    assert parse_n(value) == exact
    assert parse_n(value, DISABLE) == exact


def test_none_disables() -> None:
    assert parse_n(None) is None
    assert classify(ROW, None).rule == "TNS-2"


@pytest.mark.parametrize(("value", "shown"), REJECTED, ids=identify)
def test_rejected_with_parameter_value_and_what_is_accepted(value: object, shown: str) -> None:
    message = rf"^top_n_sigma must be a finite real number > 0 .*; got .*{re.escape(shown)}"
    with pytest.raises(ValueError, match=message) as caught:
        parse_n(value, RFC, name="top_n_sigma")
    assert len(str(caught.value)) < 200
    with pytest.raises(ValueError, match=r"^n must be"):
        classify(ROW, value)


@pytest.mark.parametrize(("value", "shown"), REJECTED, ids=identify)
def test_rejected_values_disable_where_the_dialect_says_so(value: object, shown: str) -> None:
    assert parse_n(value, DISABLE) is None
    verdict = classify(ROW, value, DISABLE)
    assert (verdict.rule, verdict.unchanged) == ("TNS-1", True), shown


def test_real_numbers_of_other_makes_are_accepted() -> None:
    # The domain is numbers.Real, not a list of types.
    class Half(float):
        pass

    assert isinstance(Half(0.5), numbers.Real)
    assert parse_n(Half(0.5)) == Fraction(1, 2)


@pytest.mark.parametrize(
    "n", [[0.1, None, 3], (0.1, None, 3), np.array([0.1, None, 3], dtype=object)], ids=identify
)
def test_one_n_per_row(n: object) -> None:
    inf = math.inf
    result = top_n_sigma(np.tile(ROW, (3, 1)), n)
    assert result.tolist() == [[-inf, -inf, -inf, 4], [1, 2, 3, 4], [1, 2, 3, 4]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64])
def test_an_array_of_n(dtype: type) -> None:
    rows = np.tile(ROW, (2, 1))
    kept = np.isfinite(top_n_sigma(rows, np.array([1, 3], dtype=dtype))).sum(axis=1)
    assert kept.tolist() == [2, 4]


def test_one_n_for_all_rows_or_for_the_only_one() -> None:
    rows = np.tile(ROW, (2, 1))
    assert top_n_sigma(rows, 1).tolist() == top_n_sigma(rows, [1, 1]).tolist()
    assert top_n_sigma(ROW, [1]).tolist() == top_n_sigma(ROW, 1).tolist()


@pytest.mark.parametrize("n", [[1, -2, 1], (1, -2, 1), np.array([1, -2, 1])], ids=identify)
def test_a_bad_n_is_named_with_its_row(n: object) -> None:
    with pytest.raises(ValueError, match=r"^n\[1\] must be .*got .*-2"):
        top_n_sigma(np.tile(ROW, (3, 1)), n)


@pytest.mark.parametrize("n", [[], [1], [1, 1, 1], np.ones(3)])
def test_a_wrong_number_of_n(n: object) -> None:
    with pytest.raises(ValueError, match=rf"^n must be .*one per row \(2\); got {len(n)}$"):  # type: ignore[arg-type]
        top_n_sigma(np.tile(ROW, (2, 1)), n)


@pytest.mark.parametrize("n", [np.array(1.0), np.ones((2, 1))])
def test_an_array_of_n_of_the_wrong_shape(n: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"^n must be .*; got an array of shape \["):
        top_n_sigma(np.tile(ROW, (2, 1)), n)


def test_a_bad_n_is_refused_whatever_the_row() -> None:
    for row in (np.array([np.nan, 1], np.float32), np.array([5], np.float32)):
        with pytest.raises(ValueError, match=r"^n must be"):
            top_n_sigma(row, 0)
