"""Measure this working tree beside another revision, in turn, in two processes at once.

Two revisions of a package cannot be imported into one process. Each has one of its own, which works
on request and says what processor time a call took; the requests alternate.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

from bench.cases import Case
from bench.interleaved import WARM_UP
from bench.ratios import ratio
from bench.table import duration, interval
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
TOO_SLOW, USAGE = 1, 2


class Revision:
    """A process with one revision's `topnsigma_processor`.

    Args:
        package: the folder that holds it.
    """

    def __init__(self, package: Path) -> None:
        paths = [str(package), str(ROOT / "tests")]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            "OMP_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.revision_worker", str(package)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, case: str) -> float:
        """Processor time of one call.

        Raises:
            RuntimeError: the process ended, which a revision does that can't be called so.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(case + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process of a revision ended with {self._process.wait()}")
        return float(json.loads(answer))

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.communicate()


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
    for case, (here, there) in found.items():
        value = ratio(here, there)
        too_slow = value.lower > at_most
        slower |= too_slow
        table.add_row(
            str(case),
            *(duration(sorted(figures)[len(figures) // 2]) for figures in (here, there)),
            interval(value),
            f"{at_most:.2f}",
            "slower" if too_slow else "ok",
        )
    console.print(table)
    console.print("failed" if slower else "passed")
    return TOO_SLOW if slower else 0


def measure(
    here: Path, there: Path, cases: Sequence[Case], rounds: int
) -> dict[Case, tuple[list[float], list[float]]]:
    """Seconds of each case with the package of either folder, round by round together."""
    revisions = (Revision(here), Revision(there))
    found: dict[Case, tuple[list[float], list[float]]] = {}
    try:
        for case in cases:
            seconds: tuple[list[float], list[float]] = ([], [])
            chance = random.Random(case.batch)
            for turn in range(-WARM_UP, rounds):
                order = [0, 1]
                chance.shuffle(order)
                for index in order:
                    elapsed = revisions[index].seconds(str(case))
                    if turn >= 0:
                        seconds[index].append(elapsed)
            found[case] = seconds
    finally:
        for each in revisions:
            each.close()
    return found
