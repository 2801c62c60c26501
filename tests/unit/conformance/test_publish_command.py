"""``topnsigma-conformance summary``: what it prints, writes and refuses."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import sample_reports
from click.testing import CliRunner, Result

from topnsigma_conformance import Report
from topnsigma_conformance.cli import main


def summary(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["summary", *map(str, arguments)])


def written(path: Path, *reports: Report) -> Path:
    for report in reports:
        report.write(path)
    return path


def plain(output: str) -> str:
    return " ".join(output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("samples", "status"),
    [
        ([sample_reports.passing], 0),
        ([sample_reports.passing, sample_reports.waived, sample_reports.loose], 0),
        ([sample_reports.passing, sample_reports.failing], 1),
        ([sample_reports.passing, sample_reports.partial], 1),
        ([sample_reports.interrupted], 1),
    ],
)
def test_exit_status(samples: list[Callable[[], Report]], status: int, tmp_path: Path) -> None:
    paths = [written(tmp_path / f"{i}.jsonl", each()) for i, each in enumerate(samples)]
    result = summary(*paths)
    assert result.exit_code == status, result.output
    for sample in samples:
        assert sample().header.implementation in result.output


def test_the_number_of_waivers_is_always_shown(tmp_path: Path) -> None:
    assert "waived: 0\n" in summary(written(tmp_path / "a", sample_reports.passing())).output
    both = written(tmp_path / "b", sample_reports.waived(), sample_reports.waived())
    assert "waived: 2\n" in summary(both).output


def test_it_says_what_is_partial(tmp_path: Path) -> None:
    path = written(tmp_path / "r", sample_reports.interrupted(), sample_reports.partial())
    output = summary(path).output
    expected = sample_reports.partial().header.expected
    assert f"Stopped: interrupted, 1 of {expected} checks have a result" in output
    assert f"TwoPassFloat32: partial, 1 of {expected} checks have a result" in output
    assert output.count(" partial ") == 2


def test_it_writes_what_is_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", sample_reports.failing(), sample_reports.waived())
    junit, markdown = tmp_path / "r.xml", tmp_path / "r.md"
    html, badge = tmp_path / "r.html", tmp_path / "r.json"
    result = summary(
        path, "--junit", junit, "--markdown", markdown, "--html", html, "--badge", badge
    )
    assert result.exit_code == 1
    assert len(ElementTree.parse(junit).getroot()) == 2
    assert markdown.read_text("utf-8").startswith("## Top-nσ conformance\n")
    assert html.read_text("utf-8").startswith("<!doctype html>")
    assert json.loads(badge.read_text("utf-8"))["message"] == "3 failing, 1 waived"
    summary(path)
    assert len(list(tmp_path.iterdir())) == 5


def test_it_writes_what_no_encoding_holds(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", sample_reports.hostile())
    files = [tmp_path / name for name in ("r.xml", "r.md", "r.html", "r.json")]
    options = ("--junit", "--markdown", "--html", "--badge")
    pairs = [each for pair in zip(options, files, strict=True) for each in pair]
    assert summary(path, *pairs).exit_code == 1
    for file in files:
        file.read_text("utf-8")


def test_usage(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", sample_reports.passing())
    header = dataclasses.replace(sample_reports.failing().header, spec_version="9.9")
    other = written(
        tmp_path / "o.jsonl", dataclasses.replace(sample_reports.failing(), header=header)
    )
    odd = tmp_path / "odd.jsonl"
    odd.write_text("no report\n", encoding="utf-8")
    page = tmp_path / "page.html"
    for arguments, message in (
        ((), "Missing argument 'REPORT...'"),
        ((tmp_path / "nothing.jsonl",), "does not exist"),
        ((path, odd, "--html", page), "odd.jsonl, line 1: not a line of a report"),
        ((path, other, "--html", page), "reports of different spec versions: TwoPassFloat32 has 1"),
        ((path, "--html", tmp_path / "no" / "page.html"), "cannot write"),
    ):
        result = summary(*arguments)
        assert result.exit_code == 2, result.output
        assert message in plain(result.output)
        assert not page.exists()
