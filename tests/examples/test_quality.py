"""The quality example: figures by hand, cells that outlive an interruption, and the command."""

import contextlib
import csv
import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import quality
import quality_figures
from quality_cells import SETTINGS, Cell, CellFile, Key, Sample, Settings
from rich.console import Console

from examples import committed

TINY = SETTINGS["tiny"]


def _cell(key: Key, settings: Settings = TINY) -> Cell:
    """Made up, and different from that of another key."""
    method, temperature, seed = key
    number = len(method) + round(10 * (temperature or 0)) + 4 * (seed or 0)
    samples = [
        Sample(name, f"{name}é by {key}", (1, number, at), (at + number) % 3 == 0, 4, -2.5, number)
        for at, name in enumerate(settings.prompts)
    ]
    return Cell(key, tuple(samples), 1.5, 1.25, 2.0)


def _cells(settings: Settings = TINY) -> dict[Key, Cell]:
    return {key: _cell(key, settings) for key in settings.all_keys()}


def test_the_settings_are_those_of_the_question() -> None:
    small = SETTINGS["small"]
    assert len(small.prompts) == 60
    assert small.temperatures == (0.7, 1.0, 1.5, 2.0, 3.0)
    assert len(small.methods) == 9
    keys = small.all_keys()
    assert len(keys) == len(set(keys)) == 8 * 5 * small.seeds + 1
    assert small.seeds >= 2
    assert set(keys) <= set(SETTINGS["full"].all_keys())
    assert {prompt.kind.name for prompt in TINY.chosen()} == {
        prompt.kind.name for prompt in small.chosen()
    }


def test_an_interval_worked_out_by_hand() -> None:
    # z² = 3.8416; half of four: middle (0.5 + z²/8) / (1 + z²/4), half-width
    # 1.96 sqrt(0.25/4 + z²/64) / (1 + z²/4) = 0.7 / 1.9604 sqrt(1.9604).
    assert quality_figures.wilson(0.5, 4) == pytest.approx((0.150036, 0.849964), abs=1e-5)
    # None of ten: [0, z²/(10 + z²)].
    assert quality_figures.wilson(0.0, 10) == pytest.approx((0.0, 3.8416 / 13.8416))
    assert quality_figures.wilson(1.0, 10) == pytest.approx((10 / 13.8416, 1.0))


def test_a_difference_worked_out_by_hand() -> None:
    # Differences 0.5, 0, -0.5 and 1: mean 0.25, standard deviation sqrt(1.25/3), 1.96 of it by 2.
    found = quality_figures.paired([1.0, 0.5, 0.0, 1.0], [0.5, 0.5, 0.5, 0.0])
    half = 0.98 * (1.25 / 3) ** 0.5
    assert found == pytest.approx((0.25, 0.25 - half, 0.25 + half))


def test_diversity_worked_out_by_hand() -> None:
    # Pairs 12 23 31 12 and 12 24: four are different, of six; {12 23 31} and {12 24} share one.
    texts = [(1, 2, 3, 1, 2), (1, 2, 4)]
    assert quality_figures.distinct_2(texts) == pytest.approx(4 / 6)
    assert quality_figures.self_overlap(texts) == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert quality_figures.self_overlap([(1, 2), (1, 2)]) == 1
    assert quality_figures.distinct_2([(1,), ()]) == 0
    assert quality_figures.self_overlap([(1, 2)]) is None


def test_the_seeds_of_a_prompt_count_as_one_prompt() -> None:
    """The interval of ten seeds that answer alike is that of one."""
    one = dataclasses.replace(TINY, seeds=1)
    many = dataclasses.replace(TINY, seeds=10)
    alike = {key: _cell((key[0], key[1], 0)) for key in many.all_keys()}
    for first, second in zip(
        quality_figures.figures(one, _cells(one)),
        quality_figures.figures(many, alike),
        strict=True,
    ):
        for name in ("correct", "correct_low", "correct_high", "difference_high"):
            expected = getattr(first, name)
            assert getattr(second, name) == (expected and pytest.approx(expected))


def test_figures_are_means_over_prompts_and_seeds() -> None:
    cells = _cells()
    for line in quality_figures.figures(TINY, cells):
        seeds = [None, None] if line.temperature is None else [0, 1]
        samples = [s for seed in seeds for s in cells[line.method, line.temperature, seed].samples]
        assert line.correct == pytest.approx(sum(s.correct for s in samples) / len(samples))
        assert line.log_likelihood == pytest.approx(-2.5 / 4)
        assert line.candidates == pytest.approx(
            sum(s.candidates for s in samples) / len(samples) / 4
        )
        assert line.tokens == 4
        facts = [sample.correct for sample in samples if sample.prompt.startswith("fact")]
        assert line.by_kind["fact"] == pytest.approx(sum(facts) / len(facts))
        if line.method == "greedy":
            assert (line.difference, line.self_overlap) == (None, 1)
        if line.method == quality_figures.BASELINE:
            assert (line.difference, line.difference_low, line.difference_high) == (0, 0, 0)


def _measure_until(most: int, seen: list[Key]) -> Any:
    """A stand-in for ``measure`` that is interrupted after ``most`` cells."""

    def measure(settings: Settings, keys: Sequence[Key], workers: int) -> Iterator[Cell]:
        # Cells are finished in another order than they are begun.
        for count, key in enumerate(reversed(keys)):
            if count == most:
                raise KeyboardInterrupt
            seen.append(key)
            yield _cell(key, settings)

    return measure


@pytest.mark.parametrize("torn", [b"", b'{"key": ["min_p', '{"key": ["é'.encode()[:-1]])
def test_a_run_goes_on_where_it_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torn: bytes
) -> None:
    seen: list[Key] = []
    path, console = tmp_path / "folder" / "cells.jsonl", Console(quiet=True)
    monkeypatch.setattr(quality, "measure", _measure_until(2, seen))
    with pytest.raises(KeyboardInterrupt):
        quality.run(TINY, path, 1, console)
    assert len(seen) == 2
    with path.open("ab") as file:
        file.write(torn)
    monkeypatch.setattr(quality, "measure", _measure_until(99, seen))
    assert list(quality.run(TINY, path, 1, console).items()) == list(_cells().items())
    assert sorted(map(str, seen)) == sorted(map(str, TINY.all_keys()))
    assert quality.run(TINY, path, 1, console) == _cells()
    assert len(seen) == len(TINY.all_keys())
    assert len(path.read_text().splitlines()) == len(seen) + 1


def test_a_head_that_is_torn_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    path.write_text('{"setti')
    cell = _cell(TINY.all_keys()[0])
    CellFile(path, TINY).add(cell)
    assert CellFile(path, TINY).cells == {cell.key: cell}


def test_cells_of_other_settings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    CellFile(path, SETTINGS["small"]).add(_cell(SETTINGS["small"].all_keys()[0]))
    before = path.read_bytes()
    with pytest.raises(ValueError, match="holds cells of other prompts or limits"):
        CellFile(path, TINY)
    with pytest.raises(SystemExit, match="holds cells of other prompts or limits"):
        quality.main(["--tiny", "--cells", str(path)])
    assert path.read_bytes() == before
    # More seeds are no other cells.
    assert len(CellFile(path, SETTINGS["full"]).cells) == 1


@pytest.mark.parametrize("line", ["nonsense", "{}", '{"key": 1, "samples": []}', "[]"])
def test_a_line_that_is_no_cell_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "cells.jsonl"
    CellFile(path, TINY)
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=r"line 2 of .* is not a cell"):
        CellFile(path, TINY)


@pytest.mark.parametrize("workers", ["0", "-1"])
def test_without_workers_nothing_begins(workers: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        quality.main(["--tiny", "--workers", workers])
    assert "argument --workers: must be > 0" in capsys.readouterr().err


def _command(folder: Path) -> list[str]:
    options = {"cells": "cells.jsonl", "figures": "figures", "images": "images"}
    paths = [part for name, to in options.items() for part in (f"--{name}", str(folder / to))]
    return [sys.executable, str(committed.ROOT / "examples" / "quality.py"), "--tiny", *paths]


def _results(folder: Path) -> tuple[dict[str, Any], str]:
    found: dict[str, Any] = json.loads((folder / "figures" / "quality.json").read_text())
    del found["run"]
    return found, (folder / "figures" / "quality.csv").read_text()


def test_a_run_that_was_killed_comes_to_the_same(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    shown = subprocess.run(_command(whole), check=True, capture_output=True, text=True).stdout
    assert "A sketch: one model of 135 million parameters, 9 prompts, 2 seeds." in shown
    with subprocess.Popen(
        [*_command(killed), "--workers", "1"], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        cells = killed / "cells.jsonl"
        while not cells.exists() or cells.read_bytes().count(b"\n") < 3:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
                pytest.fail("it ended before it could be killed")
        os.killpg(process.pid, signal.SIGKILL)
    assert not (killed / "figures").exists()
    content = cells.read_bytes()
    cells.write_bytes(content[:-20])
    subprocess.run(_command(killed), check=True, capture_output=True)
    assert _results(killed) == _results(whole)
    images = ("accuracy-dark", "accuracy-light", "trade-off-dark", "trade-off-light")
    assert sorted(path.stem for path in (whole / "images").iterdir()) == [
        f"quality-{name}" for name in images
    ]


def _check_csv(found: dict[str, Any], text: str) -> None:
    """The table says what the JSON says, to the digit."""
    lines = list(csv.DictReader(text.splitlines()))
    assert len(lines) == len(found["figures"])
    for line, figures in zip(lines, found["figures"], strict=True):
        kinds = {f"correct_{kind}": share for kind, share in figures["by_kind"].items()}
        flat = {name: value for name, value in figures.items() if name != "by_kind"} | kinds
        assert line == {n: "" if value is None else str(value) for n, value in flat.items()}


def test_json_and_csv_agree(tmp_path: Path) -> None:
    settings = SETTINGS["small"]
    cells = _cells(settings)
    found = quality.results(settings, cells, quality_figures.figures(settings, cells))
    path = tmp_path / "quality.csv"
    quality.write_csv(path, found["figures"])
    _check_csv(found, path.read_text())


def test_the_committed_json_and_csv_agree() -> None:
    text = (committed.DOCS / "evidence" / "quality.csv").read_text(encoding="utf-8")
    _check_csv(committed.figures("quality.json"), text)


def test_the_committed_figures_are_of_a_whole_setting() -> None:
    found = committed.figures("quality.json")
    settings = SETTINGS[found["settings"]["name"]]
    again = json.loads(json.dumps(dataclasses.asdict(settings)))
    assert {name: found["settings"][name] for name in again} == again
    assert len(found["figures"]) == 8 * 5 + 1
    assert "sketch" in found["note"]
    for line in found["figures"]:
        assert line["correct_low"] <= line["correct"] <= line["correct_high"]
