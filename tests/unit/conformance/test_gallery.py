"""The suite catches every wrong sampler of the gallery, by its rule, and blames no right one."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from gallery import right, wrong, wrong_processes
from gallery.textbook import Textbook

from topnsigma_conformance import Session
from topnsigma_conformance.case import Case
from topnsigma_conformance.check import Check, Context
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.checks.cut import exact_row
from topnsigma_conformance.driver import InProcess, Isolated
from topnsigma_conformance.faults import FAULTS
from topnsigma_conformance.implementation import Claims
from topnsigma_conformance.report import CONFORMING, CheckResult

TESTS = Path(__file__).parents[2]

# Whose verdict hangs on how σ and t were computed.
ARITHMETIC = [
    check
    for check in CHECKS.values()
    if check.rule in ("TNS-4", "TNS-5", "TNS-7", "TNS-9")
    or check.id in ("TNS-1.accept", "TNS-1.value")
]


def failures(
    cls: type[Textbook], checks: list[Check], *, thorough: Collection[Check]
) -> Iterator[CheckResult]:
    """Results that speak against ``cls``, as they come.

    Args:
        cls: to run.
        checks: to run it through.
        thorough: those of them that get all their examples, the others a few.
    """
    with Session(cls()) as session:
        quick = session.profile
        few = dataclasses.replace(quick, small=quick.small // 5, large=1)
        for check in checks:
            session.profile = quick if check in thorough else few
            result = session.run(check, shrink=False)
            if result.status not in CONFORMING:
                yield result


def test_the_gallery_and_the_registry_of_faults_name_the_same() -> None:
    assert [cls.__name__ for cls in wrong.ALL] == list(FAULTS)


def test_the_gallery_covers_every_rule() -> None:
    rules = {check.rule for check in CHECKS.values() if check.rule.startswith("TNS")}
    assert {cls.breaks for cls in wrong.ALL} == rules


@pytest.mark.parametrize("cls", wrong.ALL, ids=lambda cls: cls.__name__)
def test_wrong_ones_are_caught_by_the_rule_they_break(cls: type[Textbook]) -> None:
    checks = list(CHECKS.values())
    own = [check for check in checks if check.rule == cls.breaks]
    first = next(failures(cls, checks, thorough=own), None)
    assert first is not None, "not caught"
    assert first.status == "fail", str(first.failure)
    assert first.rule in (cls.breaks, cls.blamed), str(first.failure)
    if CHECKS[first.check].rule != cls.breaks:
        # The check that came first has another subject; those of the rule have to see it too.
        assert next(failures(cls, own, thorough=own), None) is not None


@pytest.fixture
def _gallery_in_the_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS), prepend=os.pathsep)


@pytest.mark.usefixtures("_gallery_in_the_other_process")
@pytest.mark.parametrize(
    ("cls", "check", "message"),
    [
        (wrong_processes.Crashes, "TNS-4.one-token", "died with signal 6: ASSERT(V > 1) failed"),
        (wrong_processes.Hangs, "TNS-4.constant", "no answer within 0.5 s"),
        (wrong_processes.RaisesKeyError, "TNS-4.one-token", "KeyError: False"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_processes_that_fail_end_in_their_status(
    cls: type[wrong_processes.Failing], check: str, message: str
) -> None:
    with Session(cls()) as session:
        before = session.run(CHECKS["TNS-1.reject"])
        if isinstance(session.driver, Isolated):
            # Short only once the process has started.
            session.driver._process.timeout = 0.5
        result = session.run(CHECKS[check])
    assert before.status == "pass"
    assert result.status == cls.ends_as
    assert result.failure is not None
    assert message in result.failure.message
    assert {cls.__name__ for cls in wrong_processes.ALL}.isdisjoint(FAULTS)


@pytest.mark.parametrize("cls", right.ALL, ids=lambda cls: cls.__name__)
def test_right_ones_are_not_blamed(cls: type[Textbook]) -> None:
    checks = list(CHECKS.values()) if cls in right.STRUCTURES else ARITHMETIC
    found = failures(cls, checks, thorough=ARITHMETIC)
    assert [str(result.failure) for result in found] == []


def boundary_cases(sigma: str) -> list[Case]:
    """Batches like those of TNS-5.boundary, in every shape and in many token orders."""
    cases = []
    for power, first_order in itertools.product(range(1, 5), range(0, 24, 2)):
        for spread, factor in itertools.product(range((power - 1) // 2 + 1), (1.0, 2.0)):
            if factor == 1.0 and sigma == "population" and spread == 0:
                continue
            drawn = [
                exact_row(sigma, power, spread, scale * 2.0**exponent, order)
                for scale in (1, 3, 5, 7)
                for exponent in (-1, 0)
                for order in (first_order, first_order + 1)
            ]
            rows, n = zip(*drawn, strict=True)
            cases.append(Case(rows=rows, n=tuple(value * factor for value in n)))
    return cases


@pytest.mark.parametrize(
    "cls", [*right.ALL, wrong.SerialSums, wrong.OnePassVariance], ids=lambda cls: cls.__name__
)
def test_the_boundary_check_is_sound_for_every_arithmetic(cls: type[Textbook]) -> None:
    claims = Claims.of(cls())
    check = CHECKS["TNS-5.boundary"]
    for dtype in claims.dtypes:
        context = Context(claims, claims.dialect, dtype, InProcess(cls()))
        for case in boundary_cases(claims.dialect.sigma):
            check.verify(context, case)
