"""The search: what it tries, what it reports, and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest

from topnsigma_conformance.batch import Batch
from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.check import ImplementationRaised, Violation, assume
from topnsigma_conformance.driver import ImplementationCrashed
from topnsigma_conformance.search import Found, search

BATCH = Batch(np.zeros((1, 1), np.uint32), "float32", (1.0,))
CASES = st.lists(st.integers(0, 1000).map(float), min_size=1, max_size=6).map(
    lambda values: Case(rows=(Row(values=tuple(values)),), n=(1.0,))
)


def failure(
    wrong: Callable[[tuple[float, ...]], bool], trouble: Exception | None = None, **options: Any
) -> tuple[list[Case], Found]:
    """:func:`recorded` where something has to be found."""
    tried, found = recorded(wrong, trouble, **options)
    assert found is not None
    return tried, found


def values(case: Case) -> tuple[float, ...]:
    return case.rows[0].values


def recorded(
    wrong: Callable[[tuple[float, ...]], bool],
    trouble: Exception | None = None,
    *,
    seed: int = 0,
    shrink: int = 200,
    examples: int = 100,
    always: tuple[Case, ...] = (),
) -> tuple[list[Case], Found | None]:
    """Every case that was tried, and what came out."""
    tried: list[Case] = []

    def verify(case: Case) -> None:
        tried.append(case)
        if wrong(values(case)):
            raise trouble or Violation("TNS-5", "wrong", BATCH)

    found = search(CASES, verify, examples=examples, seed=seed, shrink=shrink, always=always)
    return tried, found


def test_nothing_wrong() -> None:
    tried, found = recorded(lambda _: False)
    assert found is None
    assert len(tried) == 100


def test_the_same_seed_tries_the_same_cases_and_another_one_others() -> None:
    first, _ = recorded(lambda _: False, seed=1)
    again, _ = recorded(lambda _: False, seed=1)
    other, _ = recorded(lambda _: False, seed=2)
    assert first == again
    assert first != other


def test_failures_shrink() -> None:
    _, found = failure(lambda drawn: sum(drawn) >= 100, shrink=1000)
    assert values(found.case) == (100.0,)


def test_without_a_budget_the_first_failure_is_returned() -> None:
    tried, found = failure(lambda drawn: sum(drawn) >= 100, shrink=0)
    assert found.case == tried[-1]
    assert len([case for case in tried if sum(values(case)) >= 100]) == 1


def test_the_budget_bounds_the_attempts_after_a_failure() -> None:
    tried, found = failure(lambda drawn: sum(drawn) >= 100, shrink=10)
    first = next(i for i, case in enumerate(tried) if sum(values(case)) >= 100)
    assert len(tried) - first - 1 <= 10
    assert sum(values(found.case)) >= 100


def test_an_exception_of_the_implementation_is_found() -> None:
    _, found = failure(lambda drawn: drawn[0] > 5, ImplementationRaised("KeyError"))
    assert isinstance(found.trouble, ImplementationRaised)
    assert values(found.case) == (6.0,)


def test_a_crash_ends_the_search_at_once() -> None:
    tried, found = failure(lambda drawn: sum(drawn) >= 100, ImplementationCrashed("signal 6"))
    assert isinstance(found.trouble, ImplementationCrashed)
    assert found.case == tried[-1]
    assert len([case for case in tried if sum(values(case)) >= 100]) == 1


@pytest.mark.parametrize("shrink", [0, 200])
def test_an_implementation_that_fails_only_once_is_reported(shrink: int) -> None:
    failures = [Violation("TNS-11", "once", BATCH)]

    def verify(case: Case) -> None:
        if len(values(case)) > 2 and failures:
            raise failures.pop()

    found = search(CASES, verify, examples=100, seed=0, shrink=shrink)
    assert found is not None
    assert str(found.trouble) == "once"


def test_an_implementation_that_fails_every_other_time_is_reported() -> None:
    calls = []

    def verify(case: Case) -> None:
        calls.append(case)
        if len(calls) % 2:
            raise Violation("TNS-11", f"call {len(calls)}", BATCH)

    found = search(CASES, verify, examples=100, seed=0, shrink=50)
    assert found is not None
    assert isinstance(found.trouble, Violation)


def test_errors_of_the_suite_itself_come_through() -> None:
    def verify(_: Case) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        search(CASES, verify, examples=10, seed=0, shrink=10)


def test_cases_that_are_always_tried_come_first_and_stay_as_they_are() -> None:
    big = Case(rows=(Row(values=(500.0, 500.0)),), n=(1.0,))
    small = Case(rows=(Row(values=(1.0,)),), n=(1.0,))
    tried, found = failure(lambda drawn: sum(drawn) >= 100, always=(small, big))
    assert tried == [small, big]
    assert found.case == big
    tried, _ = recorded(lambda _: False, always=(small, big))
    assert tried[:2] == [small, big]
    assert len(tried) == 102


def test_cases_that_do_not_apply_are_passed_over() -> None:
    def verify(case: Case) -> None:
        assume(len(values(case)) > 1)
        if values(case)[1] > 10:
            raise Violation("TNS-5", "wrong", BATCH)

    one = Case(rows=(Row(values=(500.0,)),), n=(1.0,))
    found = search(CASES, verify, examples=100, seed=0, shrink=500, always=(one,))
    assert found is not None
    assert values(found.case) == (0.0, 11.0)
