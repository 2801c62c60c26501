"""The check for GPU machines runs here at small sizes, and never calls anything a latency."""

import json
import os
import subprocess
import sys
from pathlib import Path

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
