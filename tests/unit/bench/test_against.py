"""Two revisions side by side. Nothing is asked of the times."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bench.against import ROOT, USAGE, Revision, compare, extracted, measure
from bench.cases import Case
from rich.console import Console

CASE = Case(8, 151_936, rows="disabled")


def test_each_revision_has_a_process_and_a_package_of_its_own(tmp_path: Path) -> None:
    there = tmp_path / "processor"
    shutil.copytree(ROOT / "processor", there)
    (there / "topnsigma_processor" / "__init__.py").write_text(
        "def top_n_sigma_(logits, n, neg_inf): raise SystemExit(7)\n"
    )
    here = Revision(ROOT / "processor")
    assert here.seconds(str(CASE)) > 0
    here.close()
    other = Revision(there)
    with pytest.raises(RuntimeError, match="ended with 7"):
        other.seconds(str(CASE))
    other.close()


def test_a_package_from_elsewhere_is_not_measured(tmp_path: Path) -> None:
    stranger = Revision(tmp_path)
    with pytest.raises(RuntimeError, match="ended with 1"):
        stranger.seconds(str(CASE))
    stranger.close()


def test_both_have_every_round() -> None:
    with extracted("HEAD") as package:
        assert (package / "topnsigma_processor" / "__init__.py").exists()
        found = measure(ROOT / "processor", package, [CASE], rounds=3)
    assert list(found) == [CASE]
    assert [len(figures) for figures in found[CASE]] == [3, 3]


def test_a_revision_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare("no-such-revision", [CASE], 3, 1.1, Console()) == USAGE
    assert "no-such-revision" in capsys.readouterr().out
