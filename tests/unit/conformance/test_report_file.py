"""A report is on disk line by line, so that a run that is killed leaves what it had found."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import sample_reports
from click.testing import CliRunner
from gallery import wrong
from gallery.right import TwoPassFloat32

from topnsigma_conformance import Report, check_implementation
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.cli import main
from topnsigma_conformance.publish.collection import read_reports
from topnsigma_conformance.report import CheckResult
from topnsigma_conformance.report_file import ReportFile

FEW = ["TNS-4.divisor", "TNS-4.one-token"]


@pytest.mark.parametrize("report", [sample_reports.failing(), sample_reports.interrupted()])
def test_line_by_line_it_is_what_is_written_at_once(report: Report, tmp_path: Path) -> None:
    report.write(tmp_path / "at-once")
    file = ReportFile(tmp_path / "by-line", report.header)
    for result in report.results:
        file.add(result)
    file.finish(report)
    assert (tmp_path / "by-line").read_text("utf-8") == (tmp_path / "at-once").read_text("utf-8")


def test_each_result_is_there_before_it_is_told(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    seen = []

    def told(result: CheckResult) -> None:
        (partial,) = read_reports([path])
        seen.append((partial.results[-1], partial.interrupted, result))

    report = check_implementation(TwoPassFloat32(), checks=FEW, progress=told, file=path)
    assert [(result, True, result) for result in report.results] == seen
    assert read_reports([path]) == [report]


def test_it_is_appended_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    reports = [
        check_implementation(each(), checks=FEW, file=path)
        for each in (TwoPassFloat32, wrong.PopulationDivisor)
    ]
    assert read_reports([path]) == reports


def test_an_error_of_ours_leaves_an_interrupted_one(tmp_path: Path) -> None:
    def told(_: CheckResult) -> None:
        raise ZeroDivisionError

    path = tmp_path / "r.jsonl"
    with pytest.raises(ZeroDivisionError):
        check_implementation(TwoPassFloat32(), checks=FEW, progress=told, file=path)
    (report,) = read_reports([path])
    assert (report.interrupted, len(report.results)) == (True, 1)


def test_a_file_that_cannot_be_written_is_noticed_before_the_run(tmp_path: Path) -> None:
    report = str(tmp_path / "nowhere" / "r.jsonl")
    result = CliRunner().invoke(main, ["run", "gallery.right:TwoPassFloat32", "--report", report])
    assert result.exit_code == 2
    assert "cannot write" in result.output
    assert "TNS-" not in result.output


def test_a_run_that_is_killed_leaves_an_interrupted_report(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    whole = sample_reports.passing()
    whole.write(path)
    process = subprocess.Popen(
        [
            *(str(Path(sys.executable).with_name("topnsigma-conformance")), "run"),
            *("gallery.right:TwoPassFloat32", "--isolate", "--report", str(path)),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert process.stdout is not None
    assert "pass TNS-1.reject" in process.stdout.readline()
    process.kill()
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    before, killed = read_reports([path])
    assert before == whole
    assert killed.interrupted
    assert 0 < len(killed.results) < len(CHECKS)
    assert json.loads(path.read_text("utf-8").splitlines()[-1])["kind"] == "result"
    summary = CliRunner().invoke(main, ["summary", str(path)])
    assert summary.exit_code == 1
    assert "TwoPassFloat32: interrupted, " in summary.output
