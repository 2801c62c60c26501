"""Isolated implementations import the examples here, in a process of their own."""

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(autouse=True, scope="session")
def _examples_on_the_path_of_other_processes() -> None:
    inherited = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE.parent), inherited]))
