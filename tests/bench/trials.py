"""Does the gate hold? Faults that it has to notice, and a busy machine that it has to bear.

    PYTHONPATH=tests python -m bench.trials [--unchanged 20] [--together 5] [--no-faults]

Each trial runs `python -m bench` in a copy of this tree, with something broken in it or nothing.
Unchanged ones run several at a time: each keeps the machine busy for the others, caches and memory
included. Exit status 1 if a fault was missed or an unchanged tree was blamed.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.cases import DEFAULT

ROOT = Path(__file__).parents[2]

_SLOWER = """

import time as _time

_at_full_speed = top_n_sigma_


def top_n_sigma_(*args, **kwargs):
    start = _time.process_time_ns()
    result = _at_full_speed(*args, **kwargs)
    end = start + 13 * (_time.process_time_ns() - start) // 10
    while _time.process_time_ns() < end:
        pass
    return result
"""

_ONE = str(DEFAULT[0])

_LAUNCH = "    first[grid](logits, n, exclude, *statistics, size, tiles, *strides, **options)\n"


@dataclasses.dataclass(frozen=True)
class Fault:
    """Something to break.

    Attributes:
        name: in a few words.
        path: the file, from the root of the tree.
        old: what is in it; empty to add at its end.
        new: what is put there.
        noticed_by: what the command has to say.
        cases: names of those that suffice; empty for all, and the counters.
    """

    name: str
    path: str
    old: str
    new: str
    noticed_by: str
    cases: str = ""

    def plant(self, tree: Path) -> None:
        """Break a tree.

        Raises:
            ValueError: what has to be replaced does not stand in the file once.
        """
        path = tree / self.path
        text = path.read_text(encoding="utf-8")
        if not self.old:
            path.write_text(text + self.new, encoding="utf-8")
            return
        if text.count(self.old) != 1:
            raise ValueError(f"{self.path} must hold once what {self.name!r} replaces: {self.old}")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


FAULTS = (
    Fault(
        "1.3 times slower", "processor/topnsigma_processor/__init__.py", "", _SLOWER, "too slow: "
    ),
    Fault(
        "one more launch",
        "processor/topnsigma_processor/triton_path.py",
        _LAUNCH,
        2 * _LAUNCH,
        "gpu/two-launch-B64-V151936/launches: 3, has to be 2",
    ),
    Fault(
        "a renamed benchmark",
        "tests/bench/test_latency.py",
        "def test_latency(",
        "def test_speed(",
        "failed: not measured: test_latency[",
        _ONE,
    ),
    Fault(
        "the hot path",
        "tests/bench/interleaved.py",
        "        self._logits.copy_(self._source)\n",
        "",
        "the logits were not restored",
        _ONE,
    ),
)


@contextlib.contextmanager
def tree(fault: Fault | None = None) -> Iterator[Path]:
    """A copy of what the command needs, broken or not."""
    with tempfile.TemporaryDirectory() as folder:
        for part in ("processor", "tests"):
            ignored = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(ROOT / part, Path(folder) / part, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", folder)
        if fault is not None:
            fault.plant(Path(folder))
        yield Path(folder)


def bench(folder: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run the command there."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder / "processor"), str(folder / "tests")])
    }
    command = [sys.executable, "-m", "bench", "--device", "cpu", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def unchanged(index: int) -> subprocess.CompletedProcess[str]:
    """Run the command in a copy of its own; print what came of it."""
    # What is counted comes out the same on a busy machine: times only.
    with tree() as folder:
        done = bench(folder, [f"--cases={','.join(map(str, DEFAULT))}"])
    verdict = "passed" if done.returncode == 0 else "BLAMED"
    print("\n".join([f"unchanged, {index}: {verdict}", *_of_interest(done.stdout)]), flush=True)
    return done


def main() -> int:
    """Run the trials and print what came of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unchanged", type=int, default=20, help="runs of an unchanged tree")
    parser.add_argument("--together", type=int, default=5, help="how many of them at a time")
    parser.add_argument("--no-faults", action="store_true", help="unchanged ones alone")
    options = parser.parse_args()
    wrong = 0
    for fault in () if options.no_faults else FAULTS:
        with tree(fault) as folder:
            done = bench(folder, [f"--cases={fault.cases}"])
        noticed = done.returncode == 1 and fault.noticed_by in done.stdout
        wrong += not noticed
        print(f"{fault.name}: {'noticed' if noticed else 'MISSED'}", flush=True)
        print(*_of_interest(done.stdout), sep="\n", flush=True)
    with ThreadPoolExecutor(options.together) as pool:
        runs = list(pool.map(unchanged, range(1, options.unchanged + 1)))
    blamed = sum(done.returncode != 0 for done in runs)
    again = sum("measured again" in done.stdout for done in runs)
    print(
        f"{options.unchanged} unchanged runs, {options.together} at a time on {os.cpu_count()} "
        f"processors: {blamed} blamed, {again} measured something again; {wrong} faults missed"
    )
    return 1 if wrong or blamed else 0


def _of_interest(output: str) -> list[str]:
    words = ("too slow:", "measured again,", "has to be", "failed:", "not restored")
    return [f"    {line[:200]}" for line in output.splitlines() if line.startswith(words)][:8]


if __name__ == "__main__":
    sys.exit(main())
