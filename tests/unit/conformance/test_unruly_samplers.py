"""What a sampler does to its process, of either kind, ends in a status, and the run goes on.

Each sampler does at n = 13 what it is named after.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from gallery import unruly

from topnsigma_conformance import Session, line_process
from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.driver import Isolated
from topnsigma_conformance.harness import Harness, HarnessDriver
from topnsigma_conformance.report import CheckResult

TESTS = Path(__file__).parents[2]

Outcome = tuple[str, str]
"""A status, and what the failure says."""

SILENT = ("crash", "no answer within 0.2 s")
MEMORY = ("error", "MemoryError")
TOO_LONG = ("crash", "wrote a line of more than 1048576 characters: '[[[")

OUTCOMES: dict[str, tuple[Outcome, Outcome]] = {
    # In a process of its own; behind a harness.
    "Unruly": (("pass", ""), ("pass", "")),
    "Raises": (("error", "KeyError: 'thirteen'"), ("error", "KeyError: 'thirteen'")),
    "LeavesPython": (("error", "SystemExit: 0"), ("crash", "died with exit status 0")),
    "Exits": (("crash", "died with exit status 7"), ("crash", "died with exit status 7")),
    "Aborts": (("crash", "died with signal 6: GGML_"), ("crash", "died with signal 6: GGML_")),
    "Hangs": (SILENT, SILENT),
    "ExhaustsMemory": (MEMORY, MEMORY),
    "KilledForMemory": (("crash", "died with signal 9"), ("crash", "died with signal 9")),
    "WritesAnywhere": (("crash", "died with signal 11"), ("crash", "died with signal 11")),
    # The memory around a harness's rows is its own affair.
    "WritesBehindItsRows": (("fail", "memory outside of the rows was written"), ("pass", "")),
    "ReturnsTooManyRows": (
        ("fail", "returned shape [2, 3] for [1, 3]"),
        ("crash", "24 bytes of logits where 12 were asked for"),
    ),
    "ReturnsTooFewTokens": (
        ("fail", "returned shape [1, 2] for [1, 3]"),
        ("crash", "8 bytes of logits where 12 were asked for"),
    ),
    "ReturnsNaN": (("fail", "got nan (0x7fc00000)"), ("fail", "got nan (0x7fc00000)")),
    # Standard output is where a harness answers.
    "Prints": (("pass", ""), ("crash", "not JSON: 'debug")),
    "AnswersNonsense": (("crash", "answered nonsense: 'nonsense"), ("crash", "not JSON: 'nons")),
    "AnswersWithoutEnd": (TOO_LONG, TOO_LONG),
    "AnswersForEver": (("crash", "answered nonsense: 'nonsense"), ("crash", "not JSON: 'nons")),
}

SEEN_BY = {"WritesBehindItsRows": "TNS-10.bounds", "ReturnsNaN": "TNS-6.survivors"}
"""Sampler to check, where it is not one of the cut."""


@pytest.fixture(autouse=True)
def _gallery_in_the_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS), prepend=os.pathsep)


def session_of(name: str, transport: str) -> Session:
    target = f"gallery.unruly:{name}"
    if transport == "isolated":
        return Session(getattr(unruly, name)(), isolate=True)
    return Session(Harness([sys.executable, "-m", "gallery.served", target]))


def result_at(session: Session, n: float) -> CheckResult:
    """Of a check that sees what is wrong, on one row of three tokens."""
    check = SEEN_BY.get(session.claims.name, "TNS-5.cut")
    case = Case(rows=(Row(values=(0.0, 1.0, 5.0)),), n=(n,))
    return session.replay(CHECKS[check], case, "float32")


@pytest.mark.parametrize("transport", ["isolated", "harness"])
@pytest.mark.parametrize("name", OUTCOMES)
def test_it_ends_in_a_status_and_the_run_goes_on(
    name: str, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, message = OUTCOMES[name][transport == "harness"]
    # What is read of an endless line has to fit into memory; here it need not take long either.
    monkeypatch.setattr(line_process, "LONGEST_ANSWER", 2**20)
    with session_of(name, transport) as session:
        assert isinstance(session.driver, Isolated | HarnessDriver)
        assert result_at(session, 1.0).status == "pass"
        with monkeypatch.context() as patch:
            if (status, message) == SILENT:
                # Short only where nothing can come: a process takes as long as it takes to start.
                patch.setattr(session.driver._process, "timeout", 0.2)
            result = result_at(session, 13.0)
        assert result.status == status, result
        assert message in str(result.failure)
        assert result_at(session, 1.0).status == "pass"


def test_each_sampler_of_the_module_has_its_outcome() -> None:
    samplers = {
        name
        for name, value in vars(unruly).items()
        if isinstance(value, type) and issubclass(value, unruly.Unruly)
    }
    # That one has no process; test_driver and test_cli try it.
    assert samplers - {"RaisesAtConstruction"} == set(OUTCOMES)
