"""Two revisions side by side. Nothing is asked of the times."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bench.against import ROOT, USAGE, Revision, compare, extracted, measure
from bench.cases import Case
from bench.worker_process import WorkerEndedError
from rich.console import Console

CASE = Case(8, 151_936, rows="disabled")


def test_each_revision_has_a_process_and_a_package_of_its_own(tmp_path: Path) -> None:
    there = tmp_path / "processor"
    shutil.copytree(ROOT / "processor", there)
    (there / "topnsigma_processor" / "__init__.py").write_text(
        "def top_n_sigma_(logits, n, neg_inf): raise SystemExit(7)\n"
    )
    here = Revision(ROOT / "processor")
    here.case = CASE
    assert here.seconds() > 0
    here.close()
    other = Revision(there)
    other.case = CASE
    with pytest.raises(WorkerEndedError, match="ended with 7"):
        other.seconds()
    other.close()


def test_a_package_from_elsewhere_is_not_measured(tmp_path: Path) -> None:
    stranger = Revision(tmp_path)
    stranger.case = CASE
    with pytest.raises(WorkerEndedError, match="ended with 1"):
        stranger.seconds()
    stranger.close()


def test_both_have_every_round() -> None:
    with extracted("HEAD") as package:
        assert (package / "topnsigma_processor" / "__init__.py").exists()
        found = measure(ROOT / "processor", package, [CASE], rounds=3)
    assert list(found) == [CASE]
    assert {name: len(figures) for name, figures in found[CASE].items()} == {"here": 3, "there": 3}


def test_a_revision_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare("no-such-revision", [CASE], 3, 1.1, Console()) == USAGE
    assert "no-such-revision" in capsys.readouterr().out
