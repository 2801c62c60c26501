"""What a failure shows of its row: which tokens, their bits, and who did what to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gallery import wrong
from gallery.textbook import Textbook

from topnsigma_conformance import RFC, Dialect, Session
from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.formats import decode, encode
from topnsigma_conformance.report import Failure
from topnsigma_conformance.shown_row import MAX_TOKENS, ShownRow, shown_row
from topnsigma_reference import classify

INF = float("inf")


def shown(
    before: list[float],
    after: list[float],
    n: float | None = 1.0,
    dialect: Dialect = RFC,
    dtype: str = "float32",
    token: int | None = None,
) -> ShownRow:
    row, result = (encode(np.array(values, np.float32), dtype) for values in (before, after))
    verdict = classify(
        decode(row, "float32") if dtype == "float32" else row.view(np.float16), n, dialect
    )
    return shown_row(row, result, verdict, dtype, dialect, token)


def test_a_short_row_is_shown_whole() -> None:
    row = shown([0.0, 1.0, 5.0], [0.0, -INF, 5.0])
    assert row == ShownRow(
        tokens=(0, 1, 2),
        before="000000003f80000040a00000",
        after="00000000ff80000040a00000",
        allowed="DDK",
        did="KDK",
    )


def test_digits_of_a_narrow_format() -> None:
    row = shown([0.0, 1.0, 5.0], [-INF, -INF, 5.0], dtype="float16")
    assert (row.before, row.after) == ("00003c004500", "fc00fc004500")


# max - σ of 0, 1, 2 is exactly 1.
@pytest.mark.parametrize(
    ("after", "did"),
    [
        ([-INF, 1.0, 2.0], "DKK"),
        ([-1e9, 1.0, 2.0], "dKK"),
        ([-INF, -INF, 2.5], "DDk"),
        ([0.0, 1.0, -INF], "KKD"),
    ],
)
def test_what_was_done(after: list[float], did: str) -> None:
    row = shown([0.0, 1.0, 2.0], after)
    assert (row.allowed, row.did) == ("DEK", did)


def test_what_already_holds_the_fill_is_not_said_to_be_masked_wrongly() -> None:
    lowest = float(np.finfo(np.float32).min)
    dialect = Dialect(fill="lowest", neg_inf="exclude")
    row = shown([-INF, 0.0, 1.0, 5.0], [-INF, lowest, lowest, 5.0], dialect=dialect)
    assert (row.allowed, row.did) == ("DDDK", "DDDK")
    # Left alone: -inf has to stay, and stays.
    row = shown([-INF, 0.0, 5.0], [-INF, -INF, 5.0])
    assert (row.allowed, row.did) == ("KKK", "KDK")
    row = shown([lowest, lowest], [lowest, lowest], dialect=dialect)
    assert (row.allowed, row.did) == ("KK", "KK")


def test_a_wrong_fill_of_the_dialect() -> None:
    row = shown([0.0, 1.0, 5.0], [-INF, -1e9, 5.0], dialect=Dialect(fill="lowest"))
    assert row.did == "ddK"


def long_row() -> tuple[list[float], list[float]]:
    values = [float(v) for v in np.linspace(-10.0, 10.0, 1001)]
    return values, [v if v > 9.0 else -INF for v in values]


@pytest.mark.parametrize("token", [None, 3])
def test_of_a_long_row_what_lies_nearest_to_the_cut(token: int | None) -> None:
    before, after = long_row()
    row = shown(before, after, token=token)
    cut = 10.0 - np.std(np.array(before), ddof=1)
    nearest = np.argsort(np.abs(np.array(before) - cut))[: 39 - (token is not None)]
    expected = {*nearest.tolist(), 1000, *([] if token is None else [token])}
    assert set(row.tokens) == expected
    assert list(row.tokens) == sorted(row.tokens)
    assert len(row.tokens) == len(row.allowed) == len(row.did) == len(row.before) // 8 == 40


def test_of_a_long_row_that_is_left_alone_what_lies_around_the_token() -> None:
    before, after = long_row()
    before[500] = after[500] = float("nan")
    row = shown(before, after, token=40)
    assert set(row.tokens) == {*range(21, 60), 1000}
    row = shown([float("nan")] * 100, [0.0] * 100, token=99)
    assert row.tokens == tuple(range(60, 100))


@pytest.mark.parametrize(("size", "tokens"), [(MAX_TOKENS, MAX_TOKENS), (MAX_TOKENS + 1, 40)])
def test_how_long_a_short_row_is(size: int, tokens: int) -> None:
    values = [float(v) for v in range(size)]
    assert len(shown(values, values).tokens) == tokens


def failure_of(implementation: Textbook, check: str, case: Case) -> Failure:
    with Session(implementation) as session:
        failure = session.replay(CHECKS[check], case, "float32").failure
    assert failure is not None
    return failure


def test_a_failure_shows_its_row() -> None:
    case = Case(rows=(Row(values=(0.0, 1.0)), Row(values=(1.0, 0.0))), n=(None, 1.5))
    failure = failure_of(wrong.PopulationDivisor(), "TNS-9.core", case)
    assert (failure.row, failure.token) == (1, 1)
    assert failure.shown == ShownRow((0, 1), "3f80000000000000", "3f800000ff800000", "KK", "KD")


def test_without_a_token_it_is_the_first_row_that_is_not_exact() -> None:
    def row(values: tuple[float, ...]) -> Row:
        return Row(values=values)

    case = Case(rows=(row((5.0, 0.0, -5.0)), row((0.5, 0.0, -0.5))), n=(1.0, 1.0))
    failure = failure_of(wrong.GreaterForGreaterEqual(), "TNS-5.boundary", case)
    assert (failure.row, failure.size, failure.token, failure.n) == (0, 3, None, "1.0")
    assert failure.cut == 0.0
    assert failure.accept is not None
    assert failure.shown is not None
    assert (failure.shown.allowed, failure.shown.did) == ("KED", "KDD")


class WritesIntoTheInput(Textbook):
    def output(self, logits: Any) -> Any:
        return logits


def test_what_no_row_shows() -> None:
    case = Case(rows=(Row(values=(0.0, 1.0)),), n=(0.5,))
    failure = failure_of(WritesIntoTheInput(), "TNS-10.in-place", case)
    assert (failure.row, failure.cut, failure.shown) == (None, None, None)
