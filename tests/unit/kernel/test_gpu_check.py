"""The check for GPU machines runs here at small sizes, and never calls anything a latency."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench import gpu_check

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "tests" / "bench" / "gpu_check.sh"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"OUT": str(folder), "PYTHON": sys.executable}
    environment.pop("TRITON_INTERPRET", None)
    return subprocess.run(
        [str(SCRIPT), *arguments], env=environment, cwd=folder, capture_output=True, text=True
    )


def test_without_a_gpu_the_same_code_is_interpreted(tmp_path: Path) -> None:
    finished = run(tmp_path, "--interpret")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    result = json.loads((tmp_path / "gpu_check.json").read_text(encoding="utf-8"))
    assert result["interpreted"] is True
    assert result["faults"] == []
    assert result["rows_checked"] > 200
    assert result["latency"] == []
    contenders = ["copy", "top_n_sigma_", "one-launch", "textbook", "min_p"]
    assert result["contenders_exercised"] == contenders
    assert "µs" not in finished.stdout


def test_a_machine_without_a_gpu_is_told_so(tmp_path: Path) -> None:
    finished = run(tmp_path)
    assert finished.returncode == 2
    assert "no GPU" in finished.stdout
    assert not (tmp_path / "gpu_check.json").exists()


@pytest.fixture
def sanitizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What stands for compute-sanitizer; does as PATH's only command of that name."""
    tool = tmp_path / gpu_check.SANITIZER
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return tool


def write(tool: Path, script: str) -> None:
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)


def test_what_the_sanitizer_says_is_reported(sanitizer: Path, tmp_path: Path) -> None:
    write(sanitizer, f'echo "$@" >> {tmp_path}/calls; echo "===== ERROR SUMMARY: 0 errors"')
    report: list[str] = []
    assert gpu_check.sanitize(60, report) == dict.fromkeys(
        ("memcheck", "racecheck"), "ERROR SUMMARY: 0 errors"
    )
    assert report == []
    calls = (tmp_path / "calls").read_text().splitlines()
    script = gpu_check.__file__
    assert calls == [
        f"--tool {tool} --error-exitcode 9 {sys.executable} {script} --rules-only"
        for tool in ("memcheck", "racecheck")
    ]


def test_what_the_sanitizer_finds_is_a_fault(sanitizer: Path) -> None:
    write(sanitizer, 'echo "== Invalid __global__ write"; echo "== ERROR SUMMARY: 1 error"; exit 9')
    report: list[str] = []
    assert set(gpu_check.sanitize(60, report).values()) == {"ERROR SUMMARY: 1 error"}
    assert len(report) == 2
    assert "Invalid __global__ write" in report[0]


def test_a_sanitizer_that_takes_too_long_is_stopped(sanitizer: Path) -> None:
    write(sanitizer, "exec cat /dev/zero > /dev/null")
    report: list[str] = []
    assert gpu_check.sanitize(0, report)["memcheck"] == "out of time after 0 s"
    assert report == []


def test_without_a_sanitizer_nothing_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(gpu_check, "SANITIZER", "no-such-sanitizer")
    report: list[str] = []
    assert set(gpu_check.sanitize(60, report).values()) == {"not there"}
    assert report == []


def test_the_run_that_is_sanitized(tmp_path: Path) -> None:
    finished = run(tmp_path, "--interpret", "--rules-only")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert not (tmp_path / "gpu_check.json").exists()
