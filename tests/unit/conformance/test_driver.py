"""An implementation in a process of its own: however that ends, the run goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from gallery import unruly

from topnsigma_conformance import Session
from topnsigma_conformance.batch import Batch, Layout
from topnsigma_conformance.driver import InProcess, Isolated, driver_for
from topnsigma_conformance.line_process import DEFAULT_TIMEOUT, ImplementationCrashed
from topnsigma_reference import top_n_sigma

TESTS = Path(__file__).parents[2]
ROW = np.array([[0.0, 1.0, 5.0, 5.5, -0.0]], np.float32)


def batch(n: object) -> Batch:
    return Batch(ROW.view(np.uint32), "float32", (n,), Layout(padding=3))


@pytest.fixture(autouse=True)
def _gallery_in_the_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS), prepend=os.pathsep)


@pytest.fixture
def isolated(request: pytest.FixtureRequest) -> Iterator[Isolated]:
    with closing(Isolated(f"gallery.unruly:{request.param}", "cpu")) as made:
        yield made


def assert_usable(driver: Isolated) -> None:
    observation = driver.observe(batch(1.0))
    assert observation.outcome == "returned"
    assert observation.bits is not None
    np.testing.assert_array_equal(observation.bits, top_n_sigma(ROW, 1.0).view(np.uint32))
    assert observation.guards_intact


@pytest.mark.parametrize(
    ("isolated", "message"),
    [
        ("Aborts", r"died with signal 6: GGML_ASSERT failed"),
        ("Exits", r"died with exit status 7"),
        ("AnswersNonsense", r"answered nonsense: 'nonsense"),
    ],
    indirect=["isolated"],
)
def test_a_process_that_fails_is_a_crash_and_is_started_again(
    isolated: Isolated, message: str
) -> None:
    assert_usable(isolated)
    for _ in range(2):
        with pytest.raises(ImplementationCrashed, match=message):
            isolated.observe(batch(13.0))
        assert_usable(isolated)


@pytest.mark.parametrize("isolated", ["Hangs"], indirect=True)
def test_a_process_that_hangs_is_a_crash(isolated: Isolated) -> None:
    assert_usable(isolated)
    # Short only where nothing can come: the start of a process takes as long as it takes.
    isolated._process.timeout = 0.2
    with pytest.raises(ImplementationCrashed, match=r"no answer within 0\.2 s"):
        isolated.observe(batch(13.0))
    isolated._process.timeout = DEFAULT_TIMEOUT
    assert_usable(isolated)


@pytest.mark.parametrize("isolated", ["Prints"], indirect=True)
def test_what_it_prints_does_not_mix_with_its_answers(isolated: Isolated) -> None:
    observation = isolated.observe(batch(13.0))
    assert observation.outcome == "returned"
    assert_usable(isolated)


@pytest.mark.parametrize("isolated", ["RaisesAtConstruction"], indirect=True)
def test_a_construction_that_fails_is_a_crash_every_time(isolated: Isolated) -> None:
    for _ in range(2):
        with pytest.raises(ImplementationCrashed, match=r"exit status 1: .*no such library"):
            isolated.observe(batch(1.0))


@pytest.mark.parametrize("isolated", ["Raises"], indirect=True)
def test_exceptions_are_outcomes(isolated: Isolated) -> None:
    observation = isolated.observe(batch(13.0))
    assert observation.outcome == "raised"
    assert observation.message.startswith("KeyError: 'thirteen' (misbehave, line ")
    assert isolated.observe(batch(-1.0)).outcome == "rejected"
    assert_usable(isolated)


@pytest.mark.parametrize("isolated", ["Unruly"], indirect=True)
def test_both_drivers_see_the_same(isolated: Isolated) -> None:
    here = InProcess(unruly.Unruly())
    for n in (1.0, None, -1.0, float("nan"), True, "2.0"):
        one, other = here.observe(batch(n)), isolated.observe(batch(n))
        assert (one.outcome, one.message) == (other.outcome, other.message)
        np.testing.assert_array_equal(one.input_bits, other.input_bits)
        assert (one.bits is None) == (other.bits is None)
        if one.bits is not None:
            np.testing.assert_array_equal(one.bits, other.bits)


@pytest.mark.parametrize("isolated", ["Unruly"], indirect=True)
def test_closing_ends_the_process_and_can_be_repeated(isolated: Isolated) -> None:
    assert_usable(isolated)
    pid = isolated._process.pid
    assert pid is not None
    isolated.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    isolated.close()
    assert_usable(isolated)


def test_who_is_isolated() -> None:
    class Fragile(unruly.Unruly):
        isolated = True

    assert isinstance(
        driver_for(unruly.Unruly(), "gallery.unruly:Unruly", isolate=False), InProcess
    )
    assert isinstance(driver_for(unruly.Unruly(), "gallery.unruly:Unruly", isolate=True), Isolated)
    assert isinstance(driver_for(Fragile(), "gallery.unruly:Fragile", isolate=False), Isolated)


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan"), float("inf")])
def test_a_timeout_is_a_time_to_wait(timeout: float) -> None:
    with pytest.raises(ValueError, match=r"timeout must be a finite number of seconds > 0; got"):
        driver_for(unruly.Unruly(), "", isolate=True, timeout=timeout)


def test_a_session_passes_its_timeout_on() -> None:
    with Session(unruly.Unruly(), isolate=True, timeout=7.5) as session:
        assert isinstance(session.driver, Isolated)
        assert session.driver._process.timeout == 7.5


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("isolated", ["Unruly"], indirect=True)
def test_each_driver_sees_the_memory_of_its_process(isolated: Isolated) -> None:
    assert isolated.resident_bytes() is None
    assert_usable(isolated)
    other, here = isolated.resident_bytes(), InProcess(unruly.Unruly()).resident_bytes()
    assert other is not None
    assert here is not None
    assert other != here
    held = np.ones(200_000_000, np.uint8)
    grown = InProcess(unruly.Unruly()).resident_bytes()
    assert grown is not None
    assert held.nbytes * 0.9 < grown - here < held.nbytes * 1.1
    assert abs((isolated.resident_bytes() or 0) - other) < held.nbytes / 10


def test_a_process_starts_without_what_it_does_not_need() -> None:
    code = (
        "import sys, topnsigma_conformance.worker\n"
        "print({'hypothesis', 'pytest', 'rich', 'torch'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
