"""The script that runs tests many times: it tells luck from what always comes out the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "flakiness.py"

LUCK = """
def test_luck(request):
    assert request.config.getoption("--tns-seed") != 2

def test_no_luck():
    pass
"""


def run(path: Path, rounds: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--jobs", "1", "--rounds", str(rounds), str(path)]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_test_that_depends_on_its_seed_is_named(tmp_path: Path) -> None:
    path = tmp_path / "test_of_luck.py"
    path.write_text(LUCK)
    done = run(path, 2)
    assert done.returncode == 1
    assert "test_of_luck::test_luck {'passed': [1], 'failed': [2]}" in done.stdout
    assert done.stdout.endswith("2 rounds, 2 tests: 1 flaky, 1 failed\n")
    done = run(path, 1)
    assert done.returncode == 0
    assert done.stdout.endswith("1 rounds, 2 tests: 0 flaky, 0 failed\n")


def test_a_round_that_cannot_run_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "test_broken.py"
    path.write_text("import nothing_of_that_name\n")
    done = run(path, 1)
    assert done.returncode == 1
    assert done.stdout.endswith("1 rounds, 1 tests: 0 flaky, 1 failed\n")
