"""Reports read back: what was written, what was cut short, and what is none."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import sample_reports

from topnsigma_conformance import Report
from topnsigma_conformance.publish.collection import check_comparable, read_reports
from topnsigma_conformance.publish.title import titles


def written(path: Path, *reports: Report) -> Path:
    for report in reports:
        report.write(path)
    return path


def with_header(report: Report, **fields: object) -> Report:
    return dataclasses.replace(report, header=dataclasses.replace(report.header, **fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "sample", [each for each in sample_reports.ALL if each is not sample_reports.not_a_number]
)
def test_what_was_written_is_read_back(sample: Callable[[], Report], tmp_path: Path) -> None:
    assert read_reports([written(tmp_path / "r.jsonl", sample())]) == [sample()]


def test_a_logit_that_is_not_a_number_is_read_back(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", sample_reports.not_a_number())
    (report,) = read_reports([path])
    failure = report.results[0].failure
    assert failure is not None
    assert failure.logit is not None
    assert math.isnan(failure.logit)
    assert '"logit": "nan"' in path.read_text("utf-8")


def test_several_reports_in_several_files(tmp_path: Path) -> None:
    one, two, three = sample_reports.passing(), sample_reports.failing(), sample_reports.waived()
    paths = [written(tmp_path / "a", one, two), written(tmp_path / "b", three)]
    assert read_reports(paths) == [one, two, three]


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_report_that_was_cut_short_is_interrupted(cut: int, tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", sample_reports.failing())
    text = path.read_text("utf-8")
    *_, last = text.splitlines()
    # Within the footer, at its start, and within the line before.
    path.write_text(text[: -1 - cut * len(last) // 8], encoding="utf-8")
    (report,) = read_reports([path])
    assert report.interrupted
    assert not report.complete
    assert not report.conforms
    whole = sample_reports.failing().results
    assert report.results == whole[: len(report.results)]
    assert len(report.results) >= len(whole) - 1


def test_one_without_footer_is_interrupted_also_before_another(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", sample_reports.passing())
    path.write_text("".join(path.read_text("utf-8").splitlines(True)[:-1]), encoding="utf-8")
    written(path, sample_reports.failing())
    cut, whole = read_reports([path])
    assert cut.interrupted
    assert cut.results == sample_reports.passing().results
    assert whole == sample_reports.failing()


def header() -> str:
    return next(sample_reports.passing().lines())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no report in it"),
        ("\n", "there is no report in it"),
        ("odd\n", "line 1: not a line of a report: no JSON"),
        ("[1]\n", "line 1: not a line of a report"),
        ('{"kind":"odd"}\n', "line 1: not a line of a report"),
        ('{"kind":"header"}\n', r"line 1: not a line of a report: \$: 'suite_version' is a req"),
        (lambda: list(sample_reports.passing().lines())[1], "line 1: a result without a header"),
        (lambda: list(sample_reports.passing().lines())[-1], "line 1: a footer without a header"),
        (lambda: f"{header()}\nodd\n{header()}\n", "line 2: not a line of a report: no JSON"),
        (lambda: f'{header()[:-1]}, "more": 1}}', "line 1: not a line.*'more' was unexpected"),
        (
            lambda: json.dumps({**json.loads(header()), "suite_version": "9.9", "more": 1}),
            "line 1: a report of suite 9.9, which .* cannot read",
        ),
    ],
)
def test_what_is_no_report(text: str | Callable[[], str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(text if isinstance(text, str) else text(), encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        read_reports([path])
    assert str(path) in str(caught.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"kind": "\xff"}\n')
    with pytest.raises(ValueError, match="line 1: not a line of a report"):
        read_reports([path])


@pytest.mark.parametrize(("field", "what"), [("suite_version", "suite"), ("spec_version", "spec")])
def test_other_versions_cannot_be_compared(field: str, what: str) -> None:
    one, other = sample_reports.passing(), sample_reports.failing()
    check_comparable([one, other])
    check_comparable([])
    with pytest.raises(
        ValueError,
        match=f"different {what} versions: TwoPassFloat32 has .*, PopulationDivisor has 9.9",
    ):
        check_comparable([one, one, with_header(other, **{field: "9.9"})])


def test_titles_say_what_tells_reports_apart() -> None:
    one = with_header(sample_reports.passing(), version="unknown")
    assert titles([one]) == ["TwoPassFloat32"]
    assert titles([with_header(one, version="2", device="cuda")]) == ["TwoPassFloat32 2 (cuda)"]
    other = with_header(one, implementation="another")
    assert titles([one, with_header(one, seed=5), other]) == [
        "TwoPassFloat32, seed 0",
        "TwoPassFloat32, seed 5",
        "another",
    ]
    both = [with_header(one, dialect="sigma=population"), one, with_header(one, seed=5)]
    assert titles(both) == [
        "TwoPassFloat32, dialect sigma=population",
        "TwoPassFloat32, dialect RFC, seed 0",
        "TwoPassFloat32, dialect RFC, seed 5",
    ]
    assert titles([one, one]) == ["TwoPassFloat32, no. 1", "TwoPassFloat32, no. 2"]
