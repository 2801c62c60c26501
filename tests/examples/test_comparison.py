"""``comparison``: the worked example by hand, the reference, the committed evidence."""

import json
import statistics
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import comparison
import numpy as np
import pytest
import synthetic_rows
from examples.committed import ROOT, figures

from topnsigma_reference import classify


@pytest.fixture(scope="module")
def fresh() -> dict[str, Any]:
    return comparison.evidence()


def test_the_worked_example_by_hand(fresh: dict[str, Any]) -> None:
    row = [Fraction(int(x)) for x in synthetic_rows.worked_example()[0]]
    assert [max(row), statistics.mean(row), statistics.variance(row)] == [10, 2, 4]
    found = fresh["cases"]["worked example"]
    assert (found["maximum"], found["sigma"], found["vocabulary"]) == (10, 2, 39)
    for n, (threshold, tokens) in {1: (8, 2), 2: (6, 3)}.items():
        kept = found["kept"][f"top_n_sigma {n}"]
        assert (kept["threshold"], kept["tokens"]) == (threshold, tokens)


@pytest.mark.parametrize("name", comparison.CASES)
@pytest.mark.parametrize("n", [1, 2])
def test_top_n_sigma_is_that_of_the_reference(name: str, n: int, fresh: dict[str, Any]) -> None:
    (row,) = comparison.CASES[name]()
    verdict = classify(row, n)
    kept = fresh["cases"][name]["kept"][f"top_n_sigma {n}"]
    assert kept["tokens"] == verdict.keep.sum()
    assert kept["threshold"] == pytest.approx(verdict.cut, rel=1e-5)


@pytest.mark.parametrize("name", comparison.CASES)
def test_thresholds_and_masses_belong_to_what_is_kept(name: str, fresh: dict[str, Any]) -> None:
    row = np.sort(comparison.CASES[name]()[0].astype(np.longdouble))[::-1]
    shares = np.exp(row - row[0])
    shares /= shares.sum()
    for setting, kept in fresh["cases"][name]["kept"].items():
        assert kept["mass"] == pytest.approx(float(shares[: kept["tokens"]].sum()), rel=1e-5)
        least, slack = row[kept["tokens"] - 1], 1e-5 * abs(row[0])
        assert kept["threshold"] <= least + slack, setting
        if kept["tokens"] < len(row):
            assert kept["threshold"] >= row[kept["tokens"]] - slack, setting


def test_the_rows_of_the_rfc_author_give_his_counts(fresh: dict[str, Any]) -> None:
    """Experiments 1 and 2 in ``top_n_sigma_results.json`` of his repository."""
    cases = fresh["cases"]
    assert cases["bimodal"]["kept"]["top_n_sigma 2"]["tokens"] == 7
    assert cases["flat logits"]["kept"]["top_n_sigma 2"]["tokens"] == 942
    assert cases["bimodal"]["sigma"] == pytest.approx(1.0099350214, rel=1e-5)
    assert cases["flat logits"]["maximum"] == pytest.approx(19.510162353515625, rel=1e-5)
    at_two = comparison.SCALES.index(2.0)
    counts = {setting: counts[at_two] for setting, counts in fresh["scales"].items()}
    assert list(counts.values()) == [50, 7458, 260, 61, 942]


def test_a_larger_sigma_alone_changes_nothing_for_top_n_sigma(fresh: dict[str, Any]) -> None:
    for n in (1, 2):
        assert len(set(fresh["scales"][f"top_n_sigma {n}"])) == 1
    for setting in ("top_p 0.9", "min_p 0.05"):
        counts = fresh["scales"][setting]
        assert counts == sorted(set(counts), reverse=True)


def test_peaks_and_noise_add_up(fresh: dict[str, Any]) -> None:
    for setting, kept in fresh["peaks"].items():
        whole = fresh["cases"]["bimodal"]["kept"][setting]["tokens"]
        assert kept["raised"] + kept["noise"] == whole
    # min_p keeps both peaks and nothing else: its cut lies between the second peak and the noise.
    assert fresh["peaks"]["min_p 0.05"] == {"raised": len(comparison.RAISED), "noise": 0}


def test_remarks_hold_for_those_that_meet_the_criterion(fresh: dict[str, Any]) -> None:
    over_retains, poor, grows = fresh["remarks"].values()
    assert over_retains == ["top_k 50", "top_p 0.9"]
    assert poor == ["top_k 50", "top_n_sigma 1"]
    assert grows == []


def test_a_method_that_grows_with_sigma_is_named(fresh: dict[str, Any]) -> None:
    grown = {"top_k 50": [50, 50, 50, 50], "top_p 0.9": [1, 2, 2, 3], "min_p 0.05": [1, 3, 2, 4]}
    assert list(comparison.remarks(fresh | {"scales": grown}).values())[2] == ["top_p 0.9"]


def test_a_user_runs_it_and_gets_the_committed_evidence(tmp_path: Path) -> None:
    command = [sys.executable, "examples/comparison.py", "--write", str(tmp_path)]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    written = (tmp_path / "evidence" / "comparison.json").read_text("utf-8")
    assert json.loads(written) == figures("comparison.json")
    for theme in ("light", "dark"):
        assert (tmp_path / "images" / f"comparison-{theme}.png").read_bytes().startswith(b"\x89PNG")
    assert "worked example: V = 39, maximum 10, σ 2" in finished.stdout
    assert "sharp keeps fewer, flat keeps more: grows with σ: none" in finished.stdout
