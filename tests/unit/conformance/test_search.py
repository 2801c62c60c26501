"""The search: what it tries, what it reports, and when it stops."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest

from topnsigma_conformance.batch import Batch
from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.check import ImplementationRaised, Violation, assume
from topnsigma_conformance.line_process import ImplementationCrashed
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


def test_listed_cases_are_tried_after_the_drawn_ones() -> None:
    big = Case(rows=(Row(values=(5000.0, 5000.0)),), n=(1.0,))
    small = Case(rows=(Row(values=(1.0,)),), n=(1.0,))
    tried, found = failure(lambda drawn: sum(drawn) >= 10_000, always=(small, big))
    assert tried[100:] == [small, big]
    assert found.case == big
    _, found = failure(lambda drawn: sum(drawn) >= 100, always=(small, big), shrink=1000)
    assert values(found.case) == (100.0,)


def family_case(size: int) -> Case:
    return Case(rows=(Row(family="flat", size=size, edits=((4, 9.0),)),), n=(1.0,))


@pytest.mark.parametrize(("shrink", "size"), [(10, 97), (0, 50_257)])
def test_listed_rows_of_a_family_are_shortened(shrink: int, size: int) -> None:
    def verify(case: Case) -> None:
        if len(case.rows[0]) > 32:
            raise Violation("TNS-9", f"V = {len(case.rows[0])}", BATCH)

    found = search(CASES, verify, examples=5, seed=0, shrink=shrink, always=[family_case(50_257)])
    assert found is not None
    assert found.case == family_case(size)
    assert str(found.trouble) == f"V = {size}"


def test_rows_are_not_shortened_beyond_what_is_edited() -> None:
    sizes = []

    def verify(case: Case) -> None:
        sizes.append(len(case.rows[0]))
        if case.rows[0].family:
            raise Violation("TNS-9", "wrong", BATCH)

    search(CASES, verify, examples=1, seed=0, shrink=10, always=[family_case(97)])
    assert sizes[-2:] == [97, 5]


def test_a_crash_is_not_made_smaller() -> None:
    tried = []

    def verify(case: Case) -> None:
        tried.append(case)
        if case.rows[0].family:
            raise ImplementationCrashed("signal 6")

    found = search(CASES, verify, examples=1, seed=0, shrink=10, always=[family_case(97)])
    assert found is not None
    assert tried[-1] == found.case == family_case(97)


DRAW_SOME = """
import sys
sys.path.insert(0, sys.argv[1])
if sys.argv[2:]:
    import constants_of_somebody_else
import hypothesis.strategies as st
from topnsigma_conformance.search import search
search(st.integers(0, 2**60), print, examples=200, seed=3, shrink=0)
"""


def test_what_is_drawn_does_not_depend_on_the_modules_that_are_loaded(tmp_path: Path) -> None:
    module = tmp_path / "constants_of_somebody_else.py"
    module.write_text(f"CONSTANTS = {list(range(10**15, 10**15 + 300))}\n")

    def drawn(*arguments: str) -> str:
        command = [sys.executable, "-c", DRAW_SOME, str(tmp_path), *arguments]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    assert drawn("import it") == drawn()


def test_cases_that_do_not_apply_are_passed_over() -> None:
    def verify(case: Case) -> None:
        assume(len(values(case)) > 1)
        if values(case)[1] > 10:
            raise Violation("TNS-5", "wrong", BATCH)

    one = Case(rows=(Row(values=(500.0,)),), n=(1.0,))
    found = search(CASES, verify, examples=100, seed=0, shrink=500, always=(one,))
    assert found is not None
    assert values(found.case) == (0.0, 11.0)
