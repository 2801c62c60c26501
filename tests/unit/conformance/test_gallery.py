"""The suite catches every wrong sampler of the gallery, by its rule, and blames no right one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from gallery import right, wrong
from gallery.textbook import Textbook

from topnsigma_conformance import Session
from topnsigma_conformance.case import Case
from topnsigma_conformance.check import Check, Context
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.checks.cut import exact_row
from topnsigma_conformance.driver import InProcess
from topnsigma_conformance.implementation import Claims
from topnsigma_conformance.report import CONFORMING, CheckResult

# Whose verdict hangs on how σ and t were computed.
ARITHMETIC = [
    check
    for check in CHECKS.values()
    if check.rule in ("TNS-4", "TNS-5", "TNS-7", "TNS-9") or check.id == "TNS-1.accept"
]


def failures(cls: type[Textbook], checks: list[Check]) -> Iterator[CheckResult]:
    """Results that speak against ``cls``, as they come."""
    with Session(cls()) as session:
        results = (session.run(check, shrink=False) for check in checks)
        yield from (result for result in results if result.status not in CONFORMING)


@pytest.mark.parametrize("cls", wrong.ALL, ids=lambda cls: cls.__name__)
def test_wrong_ones_are_caught_by_the_rule_they_break(cls: type[Textbook]) -> None:
    first = next(iter(failures(cls, list(CHECKS.values()))), None)
    assert first is not None, "not caught"
    assert first.status == "fail", str(first.failure)
    assert first.rule in (cls.breaks, cls.blamed), str(first.failure)


@pytest.mark.parametrize(
    "cls", [cls for cls in wrong.ALL if cls.blamed], ids=lambda cls: cls.__name__
)
def test_the_rule_that_is_broken_is_named_as_well(cls: type[Textbook]) -> None:
    checks = [check for check in CHECKS.values() if check.rule == cls.breaks]
    assert cls.breaks in {result.rule for result in failures(cls, checks)}


def test_the_gallery_covers_every_rule() -> None:
    rules = {check.rule for check in CHECKS.values() if check.rule.startswith("TNS")}
    assert {cls.breaks for cls in wrong.ALL} == rules


@pytest.mark.parametrize("cls", right.ALL, ids=lambda cls: cls.__name__)
def test_right_ones_are_not_blamed(cls: type[Textbook]) -> None:
    checks = list(CHECKS.values()) if cls in right.STRUCTURES else ARITHMETIC
    assert [str(result.failure) for result in failures(cls, checks)] == []


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
    "cls", [*right.ALL, wrong.SerialFloat32, wrong.OnePassFloat32], ids=lambda cls: cls.__name__
)
def test_the_boundary_check_is_sound_for_every_arithmetic(cls: type[Textbook]) -> None:
    claims = Claims.of(cls())
    check = CHECKS["TNS-5.boundary"]
    for dtype in claims.dtypes:
        context = Context(claims, claims.dialect, dtype, InProcess(cls()))
        for case in boundary_cases(claims.dialect.sigma):
            check.verify(context, case)
