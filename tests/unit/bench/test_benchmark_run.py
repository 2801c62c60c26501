"""Whatever keeps the benchmarks from being measured is noticed. Nothing is asked of the times."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench.benchmark_run import NotMeasuredError, Run, checked, run
from bench.cases import Case

CASE = Case(8, 151_936, rows="disabled")
ROUNDS = 3


@pytest.fixture(scope="module")
def measured() -> Run:
    return run([CASE], "cpu", ROUNDS)


def test_a_run_has_every_contender_and_round(measured: Run) -> None:
    assert list(measured.seconds) == [CASE]
    assert list(measured.seconds[CASE]) == ["copy", "top_n_sigma_"]
    assert [len(figures) for figures in measured.seconds[CASE].values()] == [ROUNDS, ROUNDS]


def test_its_json_says_what_it_was_measured_on(measured: Run) -> None:
    for key in ("device", "device_name", "torch", "triton", "threads"):
        assert key in measured.machine
    assert measured.machine["threads"] == 1
    assert measured.document["commit_info"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--benchmark-disable", "ended with 0 and measured nothing"),
        ("-n 1", "ended with 0 and measured nothing"),
        ("--benchmark-skip", "ended with 1 and measured nothing"),
        ("-p no:benchmark", "ended with 4 and measured nothing"),
        ("-k copy", "not measured: test_latency.*-top_n_sigma_"),
    ],
)
def test_a_plugin_or_an_option_that_measures_nothing(
    monkeypatch: pytest.MonkeyPatch, options: str, message: str
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", options)
    with pytest.raises(NotMeasuredError, match=message):
        run([CASE], "cpu", ROUNDS)


def test_a_run_that_ends_badly_after_it_has_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plugin = "def pytest_sessionfinish(session):\n    session.exitstatus = 3\n"
    (tmp_path / "ends_badly.py").write_text(plugin, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p ends_badly")
    with pytest.raises(NotMeasuredError, match="pytest ended with 3:"):
        run([CASE], "cpu", ROUNDS)


def _renamed(document: dict[str, Any]) -> None:
    document["benchmarks"][0]["name"] = "test_speed[copy]"


def _one_more(document: dict[str, Any]) -> None:
    document["benchmarks"].append(document["benchmarks"][0] | {"name": "test_more[copy]"})


def _twice(document: dict[str, Any]) -> None:
    document["benchmarks"].append(document["benchmarks"][0])


def _one_less(document: dict[str, Any]) -> None:
    del document["benchmarks"][0]


def _round_less(document: dict[str, Any]) -> None:
    del document["benchmarks"][0]["stats"]["data"][0]


def _no_time(document: dict[str, Any]) -> None:
    document["benchmarks"][0]["stats"]["data"][0] = 0.0


def _other_machine(document: dict[str, Any]) -> None:
    document["machine_info"]["device"] = "cuda"


def _other_device(document: dict[str, Any]) -> None:
    document["benchmarks"][0]["extra_info"]["device"] = "cuda"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_renamed, "not measured: test_latency"),
        (_one_less, "not measured: test_latency"),
        (_one_more, "unknown benchmarks: test_more"),
        (_twice, "the same name"),
        (_round_less, "2 rounds instead of 3"),
        (_no_time, "is no time"),
        (_other_machine, "measured on 'cuda' instead of 'cpu'"),
        (_other_device, "not measured on 'cpu'"),
    ],
)
def test_a_document_that_is_not_whole(
    measured: Run, damage: Callable[[dict[str, Any]], None], message: str
) -> None:
    document = copy.deepcopy(measured.document)
    assert checked(document, [CASE], "cpu", ROUNDS)
    damage(document)
    with pytest.raises(NotMeasuredError, match=message):
        checked(document, [CASE], "cpu", ROUNDS)
