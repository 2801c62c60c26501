"""Run our tests many times, each time with other seeds and in another order, and name those that
do not always come out the same.

    python tests/flakiness.py --rounds 20 [PATH ...]

Every round draws anew whatever Hypothesis draws in our own tests, the cases of the suite on our
processor, and the order of the tests. Exit status 1 if a test failed in any round.
"""

from __future__ import annotations

import argparse
import collections
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]


def outcomes(paths: list[str], seed: int, jobs: int) -> dict[str, str]:
    """Test id to ``passed``, ``failed`` or ``skipped``, of one round. Prints what failed.

    Raises:
        RuntimeError: pytest did not run to its end.
    """
    # Under CI Hypothesis would draw the same in every round.
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [
            *(sys.executable, "-m", "pytest", "-q", "-n", str(jobs), "-p", "no:cacheprovider"),
            *(f"--randomly-seed={seed}", f"--hypothesis-seed={seed}", f"--tns-seed={seed}"),
            *(f"--junitxml={report}", *paths),
        ]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    for case in cases:
        for fault in (*case.iter("failure"), *case.iter("error")):
            print(f"{_name(case)}, seed {seed}:\n{fault.text}", flush=True)
    return {_name(case): _outcome(case) for case in cases}


def _name(case: ElementTree.Element) -> str:
    return f"{case.get('classname')}::{case.get('name')}"


def _outcome(case: ElementTree.Element) -> str:
    tags = {child.tag for child in case}
    if tags & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in tags else "passed"


def main() -> int:
    """Run the rounds and print what they found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("paths", nargs="*", default=["tests/unit", "tests/acceptance"])
    arguments = parser.parse_args()
    seen: dict[str, dict[str, list[int]]] = collections.defaultdict(
        lambda: collections.defaultdict(list)
    )
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.rounds):
        round_ = outcomes(arguments.paths, seed, arguments.jobs)
        for test, outcome in round_.items():
            seen[test][outcome].append(seed)
        print(f"seed {seed}: {dict(collections.Counter(round_.values()))}", flush=True)
    flaky = {test: found for test, found in seen.items() if len(found) > 1}
    failed = [test for test, found in seen.items() if "failed" in found]
    for test in sorted({*flaky, *failed}):
        print(test, dict(seen[test]))
    print(f"{arguments.rounds} rounds, {len(seen)} tests: {len(flaky)} flaky, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
