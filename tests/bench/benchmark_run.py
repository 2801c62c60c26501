"""Runs the benchmarks in a process of their own, and believes nothing that it does not see.

pytest-benchmark ends well when nothing was measured: after a benchmark was renamed, with xdist,
with ``--benchmark-disable``, when all was skipped. So the names, the rounds, the device and the
figures are asked for one by one.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.benchmark_ids import benchmark_id, contenders_of
from bench.cases import Case

HERE = Path(__file__).parent


class NotMeasuredError(Exception):
    """The run did not measure what it had to."""


@dataclasses.dataclass(frozen=True)
class Run:
    """What was measured, and the JSON that pytest-benchmark wrote of it.

    Attributes:
        seconds: case to contender to one figure a round.
        document: the JSON.
    """

    seconds: dict[Case, dict[str, list[float]]]
    document: dict[str, Any]

    @property
    def machine(self) -> dict[str, Any]:
        """See `machine.describe`."""
        found: dict[str, Any] = self.document["machine_info"]
        return found


def run(cases: Sequence[Case], device: str, rounds: int) -> Run:
    """Measure the cases.

    Raises:
        NotMeasuredError: pytest failed, or its JSON is not what it has to be.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "benchmarks.json"
        command = [
            *(sys.executable, "-m", "pytest", str(HERE / "test_latency.py"), "-q"),
            *("-p", "no:randomly", "-p", "no:cacheprovider", f"--benchmark-json={path}"),
            *(f"--bench-device={device}", "--bench-grid=full", f"--bench-rounds={rounds}"),
            "--bench-cases=" + ",".join(map(str, cases)),
        ]
        # A worker of xdist may have started this; what it starts is none.
        outside = {name: x for name, x in os.environ.items() if not name.startswith("PYTEST_XDIST")}
        environment = outside | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            command, cwd=HERE.parents[1], env=environment, capture_output=True, text=True
        )
        if done.returncode != 0 or not path.exists():
            wrote = "" if path.exists() else " and measured nothing"
            raise NotMeasuredError(
                f"pytest ended with {done.returncode}{wrote}:\n{done.stdout}{done.stderr}"
            )
        document = json.loads(path.read_text(encoding="utf-8"))
    return Run(checked(document, cases, device, rounds), document)


def checked(
    document: dict[str, Any], cases: Sequence[Case], device: str, rounds: int
) -> dict[Case, dict[str, list[float]]]:
    """The figures of a document in which each of the cases has been measured.

    Raises:
        NotMeasuredError: a benchmark is missing or too many, another device was measured, or there
            are not as many figures as rounds, each of them a time.
    """
    expected = {
        benchmark_id(case, contender): (case, contender)
        for case in cases
        for contender in contenders_of(case, device)
    }
    found = {benchmark["name"]: benchmark for benchmark in document["benchmarks"]}
    if missing := sorted(expected.keys() - found.keys()):
        raise NotMeasuredError(f"not measured: {', '.join(missing)}")
    if unknown := sorted(found.keys() - expected.keys()):
        raise NotMeasuredError(f"unknown benchmarks: {', '.join(unknown)}")
    if len(found) != len(document["benchmarks"]):
        raise NotMeasuredError("two benchmarks have the same name")
    if document["machine_info"].get("device") != device:
        raise NotMeasuredError(
            f"measured on {document['machine_info'].get('device')!r} instead of {device!r}"
        )
    seconds: dict[Case, dict[str, list[float]]] = {case: {} for case in cases}
    for name, (case, contender) in expected.items():
        figures = found[name]["stats"]["data"]
        if len(figures) != rounds:
            raise NotMeasuredError(f"{name}: {len(figures)} rounds instead of {rounds}")
        if not all(math.isfinite(figure) and figure > 0 for figure in figures):
            raise NotMeasuredError(f"{name}: what it took is no time: {min(figures)}")
        if found[name]["extra_info"].get("device") != device:
            raise NotMeasuredError(f"{name}: not measured on {device!r}")
        seconds[case][contender] = figures
    return seconds
