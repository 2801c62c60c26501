"""Harnesses made for one test."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from unit.conformance.harness.echo import ECHO, Make


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes an echoing harness with something inserted, and returns the command that runs it."""

    def made(inserted: str = "") -> list[str]:
        script = tmp_path / "harness.py"
        script.write_text(ECHO.format(inserted=inserted), "utf-8")
        return [sys.executable, str(script)]

    return made
