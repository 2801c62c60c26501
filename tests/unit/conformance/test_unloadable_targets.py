"""A module that does something else than to define a class: usage, with its words, and exit 2."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from topnsigma_conformance.cli import main
from topnsigma_conformance.target import TargetError, load

MODULES = {
    "raise RuntimeError('no device')": "RuntimeError: no device",
    "raise ValueError('no model')": "no model",
    "import nowhere": "No module named 'nowhere'",
    "x = (": "SyntaxError: '(' was never closed",
    "import sys; sys.exit(0)": "SystemExit: 0",
}

CONSTRUCTORS = {
    "raise RuntimeError('no device')": "no device",
    "raise SystemExit('no device')": "no device",
    "super().__init__(device); self.name = 3": "name must be a string; got 3",
}

CLASS = """
from gallery.textbook import Textbook

class Mine(Textbook):
    def __init__(self, device=None):
        {body}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return tmp_path


@pytest.mark.parametrize(("text", "message"), MODULES.items())
def test_a_module_that_cannot_be_imported(text: str, message: str, here: Path) -> None:
    (here / "unloadable.py").write_text(text + "\n", encoding="utf-8")
    with pytest.raises(TargetError) as caught:
        load("unloadable:Mine")
    assert str(caught.value).startswith(f"cannot load unloadable:Mine: {message}")
    assert CliRunner().invoke(main, ["run", "unloadable:Mine"]).exit_code == 2


@pytest.mark.parametrize(("body", "message"), CONSTRUCTORS.items())
def test_a_class_that_cannot_be_constructed(body: str, message: str, here: Path) -> None:
    (here / "unloadable.py").write_text(CLASS.format(body=body), encoding="utf-8")
    with pytest.raises(TargetError) as caught:
        load("unloadable:Mine")
    assert str(caught.value) == f"cannot construct unloadable:Mine: {message}"
    assert CliRunner().invoke(main, ["run", "unloadable:Mine"]).exit_code == 2
