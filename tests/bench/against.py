"""Measure this working tree beside another revision, in turn, in two processes at once.

Two revisions of a package cannot be imported into one process. Each has one of its own, which works
on request and says what processor time a call took; the requests alternate.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

from bench.cases import Case
from bench.interleaved import in_turn
from bench.ratios import ratio
from bench.table import duration, interval
from bench.worker_process import WorkerProcess
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
TOO_SLOW, USAGE = 1, 2


class Revision:
    """A process with one revision's `topnsigma_processor`. A stopwatch of its operation.

    Args:
        package: the folder that holds it.

    Attributes:
        case: what is measured next.
    """

    def __init__(self, package: Path) -> None:
        paths = [str(package), str(ROOT / "tests")]
        environment = {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
        self.case: Case | None = None
        self._process = WorkerProcess(
            ["bench.revision_worker", str(package)], os.environ | environment
        )

    def restore(self) -> None:
        """Nothing: the process restores what it works on."""

    def restored(self) -> bool:
        """True; the process ends where it has not."""
        return True

    def seconds(self) -> float:
        """Processor time of one call.

        Raises:
            WorkerEndedError: the revision can't be called so.
        """
        return float(self._process.ask(self.case))

    def close(self) -> None:
        """End the process."""
        self._process.close()


@contextlib.contextmanager
def extracted(revision: str) -> Iterator[Path]:
    """The folder `processor` as it is in a revision.

    Raises:
        subprocess.CalledProcessError: there is no such revision, or it has no such folder.
    """
    packed = subprocess.run(
        ["git", "archive", revision, "processor"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder) / "processor"


def compare(
    revision: str, cases: Sequence[Case], rounds: int, at_most: float, console: Console
) -> int:
    """Print a table; the exit status says whether a case has certainly become slower."""
    try:
        with extracted(revision) as package:
            found = measure(ROOT / "processor", package, cases, rounds)
    except subprocess.CalledProcessError as error:
        console.print(error.stderr.decode().strip(), markup=False)
        return USAGE
    table = Table(title=f"this working tree beside {revision}", title_justify="left")
    for heading in ("case", "here", "there", "ratio (95 %)", "limit", "verdict"):
        table.add_column(heading)
    slower = False
    for case, seconds in found.items():
        value = ratio(seconds["here"], seconds["there"])
        too_slow = value.lower > at_most
        slower |= too_slow
        table.add_row(
            str(case),
            *(duration(statistics.median(figures)) for figures in seconds.values()),
            interval(value),
            f"{at_most:.2f}",
            "slower" if too_slow else "ok",
        )
    console.print(table)
    console.print("failed" if slower else "passed")
    return TOO_SLOW if slower else 0


def measure(
    here: Path, there: Path, cases: Sequence[Case], rounds: int
) -> dict[Case, dict[str, list[float]]]:
    """Seconds of each case with the package of either folder, "here" and "there", in turn."""
    revisions = {"here": Revision(here), "there": Revision(there)}
    found = {}
    try:
        for case in cases:
            for revision in revisions.values():
                revision.case = case
            found[case] = in_turn(revisions, rounds, seed=case.batch)
    finally:
        for revision in revisions.values():
            revision.close()
    return found
