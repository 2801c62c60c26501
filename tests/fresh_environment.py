"""A virtual environment that holds nothing but what a test installs."""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

CONSTRAINTS = Path(__file__).with_name("constraints.txt")

# Of the run that this is a test of: a run inside of the environment is another one.
_OF_THIS_RUN = ("PYTHON", "PYTEST_", "TOX_", "HYPOTHESIS_", "VIRTUAL_ENV", "COV_")


def output_of(*command: str | Path, cwd: Path | None = None) -> str:
    """Standard output of a command; its errors are shown when it fails."""
    finished = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


class FreshEnvironment:
    """A fresh virtual environment.

    Args:
        path: where to make it.

    Attributes:
        scripts: the folder of its commands.
        python: its interpreter.
    """

    def __init__(self, path: Path) -> None:
        # A pip of its own takes seconds to install, and does what the one of this run does.
        venv.create(path, with_pip=False)
        self.scripts = path / "bin"
        self.python = self.scripts / "python"

    def install(self, *requirements: str | Path) -> None:
        """Install wheels, or requirements as pip takes them."""
        self._pip("install", "-q", "-c", CONSTRAINTS, *requirements)

    def installed(self) -> set[str]:
        """Names of the distributions in it."""
        listed = json.loads(self._pip("list", "--format=json"))
        return {entry["name"].lower().replace("_", "-") for entry in listed}

    def _pip(self, *arguments: str | Path) -> str:
        return output_of(sys.executable, "-m", "pip", "--python", self.python, *arguments)

    def run(self, code: str) -> str:
        """What ``code`` prints."""
        # -I: neither the current directory nor the user's site may help out.
        return output_of(self.python, "-I", "-c", code).strip()

    def shell(self, line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a line of shell as one does who has activated it; standard error joins the output."""
        kept: Mapping[str, str] = {
            name: value for name, value in os.environ.items() if not name.startswith(_OF_THIS_RUN)
        }
        path = f"{self.scripts}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["sh", "-c", line],
            cwd=cwd,
            env={**kept, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
