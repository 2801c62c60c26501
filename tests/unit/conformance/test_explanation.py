"""Which dialect makes one result right, as a failure says it."""

from __future__ import annotations

import numpy as np
import pytest

from topnsigma_conformance import explanation
from topnsigma_conformance.batch import Batch
from topnsigma_conformance.check import Violation
from topnsigma_conformance.explanation import matching_fields
from topnsigma_reference import RFC, Dialect, top_n_sigma

NEG_INF = -np.inf


def seen(row: list[float], n: object, result: list[float]) -> Violation:
    """A violation whose result is ``result``."""
    before, after = (np.array([values], np.float32).view(np.uint32) for values in (row, result))
    return Violation("TNS-5", "as seen", Batch(before, "float32", (n,)), bits=after)


@pytest.mark.parametrize(
    ("row", "n", "result", "matches"),
    [
        ([0, 1, 2], 1.1, [NEG_INF, NEG_INF, 2], ("sigma=population",)),
        ([0, 1, 2], 1.1, [-1e9, 1, 2], ()),
        ([0, 1], 0, [0, 1], ("invalid_n=disable",)),
        ([0, 1], 0, [NEG_INF, 1], ()),
        (
            [-2, 1, -2, NEG_INF],
            1.0,
            [NEG_INF, 1, NEG_INF, NEG_INF],
            ("neg_inf=exclude", "neg_inf=zero"),
        ),
        (
            [-3, 0, NEG_INF, 2, -2, -3],
            1.0,
            [NEG_INF, NEG_INF, NEG_INF, 2, NEG_INF, NEG_INF],
            (
                "neg_inf=zero,boundary=drop",
                "sigma=population,neg_inf=exclude",
                "sigma=population,neg_inf=zero",
            ),
        ),
    ],
)
def test_what_makes_a_result_right(
    row: list[float], n: object, result: list[float], matches: tuple[str, ...]
) -> None:
    assert matching_fields(seen(row, n, result), RFC) == matches
    for match in matches:
        exact = top_n_sigma(np.array(row, np.float32), n, Dialect.parse(match))
        np.testing.assert_array_equal(exact, np.array(result, np.float32))


def test_changes_are_those_of_the_dialect_that_was_checked() -> None:
    # The exact result under RFC, which is wrong for a sampler that declares two differences.
    checked = Dialect(sigma="population", fill="lowest")
    assert matching_fields(seen([0, 1, 2], 1.1, [NEG_INF, 1, 2]), checked) == (
        "sigma=sample,fill=-inf",
    )


def test_of_many_alternatives_a_few_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    result = [NEG_INF, NEG_INF, NEG_INF, 2, NEG_INF, NEG_INF]
    violation = seen([-3, 0, NEG_INF, 2, -2, -3], 1.0, result)
    monkeypatch.setattr(explanation, "_MAX_ALTERNATIVES", 2)
    assert len(matching_fields(violation, RFC)) == 2


def test_long_results_and_missing_ones_match_nothing() -> None:
    violation = seen([0, 1, 2], 1.1, [NEG_INF, NEG_INF, 2])
    violation.bits = None
    assert matching_fields(violation, RFC) == ()
    row = [0.0] * 20_000 + [1.0]
    long = np.array(row, np.float32)
    result = top_n_sigma(long, 2.0, Dialect(fill="lowest"))
    assert matching_fields(seen(row, 2.0, result.tolist()), RFC) == ()
    short = seen(row[1:], 2.0, result[1:].tolist())
    assert matching_fields(short, RFC) == ("fill=lowest",)
