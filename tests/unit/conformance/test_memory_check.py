"""TNS-10.memory: growth that goes on fails, growth that ends does not, and not knowing is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gallery.right import TwoPassFloat32
from gallery.wrong import MemoryLeaked

from topnsigma_conformance import Session, resident_memory
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.driver import InProcess
from topnsigma_conformance.report import CheckResult

CHECK = CHECKS["TNS-10.memory"]
ALLOWED = 24 * 151_936 * 4 // 2


class Scripted(InProcess):
    """Says how much memory it has, one value a question."""

    def __init__(self, resident: list[int | None]) -> None:
        super().__init__(TwoPassFloat32())
        self._resident: Iterator[int | None] = iter(resident)

    def resident_bytes(self) -> int | None:
        return next(self._resident)


def run(resident: list[int | None]) -> CheckResult:
    with Session(TwoPassFloat32()) as session:
        session.driver = Scripted(resident)
        return session.run(CHECK, shrink=False)


def test_growth_that_goes_on_fails() -> None:
    result = run([0, ALLOWED + 1, 2 * ALLOWED + 2])
    assert (result.status, result.rule) == ("fail", "TNS-10")
    assert result.failure is not None
    assert result.failure.message == (
        "memory grew by 7,292,929 bytes in 24 calls, and by 7,292,929 in 24 more, on rows of"
        " 607,744 bytes"
    )


@pytest.mark.parametrize(
    "resident",
    [
        [0, ALLOWED],
        [10**9, 10**8],
        [0, 10**9, 10**9 + ALLOWED],
        [None, 10**9],
        [0, None],
    ],
    ids=["half", "shrinks", "grows once", "unknown", "unknown later"],
)
def test_other_growth_does_not(resident: list[int | None]) -> None:
    assert run(resident).status == "pass"


@pytest.mark.parametrize("isolate", [False, True])
def test_the_memory_of_the_right_process_is_read(
    isolate: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    with Session(MemoryLeaked(), isolate=isolate) as session:
        assert session.run(CHECK).status == "fail"
    with Session(TwoPassFloat32(), isolate=isolate) as session:
        assert session.run(CHECK).status == "pass"


def test_where_it_cannot_be_read_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resident_memory, "_PROCESSES", tmp_path)
    with Session(TwoPassFloat32()) as session:
        result = session.run(CHECK)
    assert (result.status, result.detail) == (
        "unsupported",
        "resident memory can be read on Linux only",
    )
