"""Reports: when one conforms, what is written, and what a failing one says."""

from __future__ import annotations

import dataclasses
import datetime
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from gallery import wrong
from gallery.right import OneRowAtATime, TwoPassFloat32
from gallery.textbook import Textbook
from hypothesis.internal.conjecture.engine import ConjectureRunner

from topnsigma_conformance import (
    CheckResult,
    ConformanceError,
    Dialect,
    KnownFailure,
    Report,
    check_implementation,
)
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.implementation_check import Interrupted
from topnsigma_conformance.report import STATUSES, Failure, Status

SOME = ["TNS-1.reject", "TNS-4.divisor", "TNS-4.one-token"]


def whole(status: Status, implementation: Textbook | None = None) -> Report:
    """A complete report in which one check ended in ``status`` and all others passed."""
    header = check_implementation(implementation or TwoPassFloat32(), checks=[]).header
    results = [CheckResult(check, CHECKS[check].rule, "pass", 1, 0.0) for check in CHECKS]
    results[3] = dataclasses.replace(results[3], status=status)
    return Report(header, tuple(results))


@pytest.mark.parametrize("status", STATUSES)
def test_which_statuses_conform(status: Status) -> None:
    report = whole(status)
    conforms = status in ("pass", "quality-warning", "unsupported", "waived")
    assert report.complete
    assert report.conforms is conforms
    assert len(report.failures) == (not conforms)
    assert report.count(status) == (len(CHECKS) if status == "pass" else 1)


def test_a_report_on_some_checks_is_never_complete() -> None:
    report = check_implementation(TwoPassFloat32(), checks=SOME)
    assert [result.status for result in report.results] == ["pass"] * 3
    assert not report.failures
    assert not report.interrupted
    assert not report.complete
    assert not report.conforms
    with pytest.raises(ConformanceError, match=f"incomplete: 3 of {len(CHECKS)} checks ran"):
        report.raise_for_failures()


def test_a_check_that_ran_twice_does_not_make_up_for_one_that_did_not() -> None:
    report = whole("pass")
    doubled = (*report.results[:-1], report.results[0])
    assert not dataclasses.replace(report, results=doubled).complete


def test_a_conforming_report_raises_nothing() -> None:
    whole("pass").raise_for_failures()


def test_the_message_of_a_failing_report() -> None:
    report = check_implementation(
        wrong.PopulationDivisor(), checks=SOME, target="gallery.wrong:PopulationDivisor"
    )
    with pytest.raises(ConformanceError) as caught:
        report.raise_for_failures()
    text = str(caught.value)
    failure = report.failures[0].failure
    assert failure is not None
    assert f"PopulationDivisor does not conform to RFC: 1 of {len(CHECKS)} checks" in text
    assert f"TNS-4.divisor: {failure}" in text
    assert failure.accept is not None
    for part in ("TNS-4:", "row 0", repr(failure.cut), repr(failure.accept[0]), " ulp", "--case"):
        assert part in text
    assert "all failures fit the dialect sigma=population" in text


@pytest.mark.parametrize(
    ("cls", "checks", "dialect"),
    [
        (wrong.PopulationDivisor, ["TNS-4.divisor"], "sigma=population"),
        (wrong.GreaterForGreaterEqual, ["TNS-5.boundary"], "boundary=drop"),
        (wrong.NegativeInfinityExcluded, ["TNS-3.neg-inf", "TNS-3.mixed"], "neg_inf=exclude"),
        (wrong.LowestFloatFill, ["TNS-5.fill"], "fill=lowest"),
        (wrong.VarianceForDeviation, ["TNS-4.divisor", "TNS-5.cut"], None),
        (wrong.MaximumFromZero, ["TNS-5.cut"], None),
    ],
)
def test_the_dialect_that_explains_the_failures(
    cls: type[Textbook], checks: list[str], dialect: str | None
) -> None:
    report = check_implementation(cls(), checks=["TNS-4.one-token", *checks])
    assert [result.check for result in report.failures] == checks
    # Small cases may fit another dialect as well, but never one that changes more fields.
    assert (dialect is None and report.explained_by == ()) or dialect in report.explained_by
    assert all("," not in each for each in report.explained_by)


def test_a_boundary_is_explained_only_by_what_masks_it() -> None:
    report = check_implementation(wrong.GreaterForGreaterEqual(), checks=["TNS-5.boundary"])
    # The threshold of the other divisor lies above the boundary on all of these rows.
    assert report.explained_by == ("boundary=drop", "sigma=population")


def test_nothing_explains_one_failure_that_fits_and_one_that_does_not() -> None:
    class Two(wrong.PopulationDivisor):
        def disabled(self, row: Any) -> None:
            row[0] = 1.0

    report = check_implementation(Two(), checks=["TNS-2.disabled", "TNS-4.divisor"])
    assert len(report.failures) == 2
    assert report.explained_by == ()


def test_the_other_dialect_is_right_under_its_own_name_and_fails_rfc() -> None:
    class Population(wrong.PopulationDivisor):
        dialect = Dialect(sigma="population")

    report = check_implementation(Population(), checks=SOME)
    assert not report.failures
    assert report.header.dialect == "sigma=population"
    assert report.rfc is not None
    assert (report.rfc.conforms, report.rfc.failing) == (False, ("TNS-4.divisor",))
    assert check_implementation(Population(), checks=SOME, rfc=False).rfc is None


def test_lines(tmp_path: Path) -> None:
    report = check_implementation(wrong.PopulationDivisor(), checks=SOME, seed=4)
    path = tmp_path / "report.jsonl"
    report.write(path)
    report.write(path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert lines[:5] == lines[5:]
    header, *results, footer = lines[:5]
    assert [line["kind"] for line in lines[:5]] == ["header", *["result"] * 3, "footer"]
    assert header["expected"] == len(CHECKS)
    assert (header["implementation"], header["seed"]) == ("PopulationDivisor", 4)
    assert [result["check"] for result in results] == SOME
    assert results[1]["failure"]["rule"] == "TNS-4"
    assert results[0]["failure"] is None
    assert (footer["complete"], footer["conforms"]) == (False, False)
    assert (footer["counts"]["pass"], footer["counts"]["fail"]) == (2, 1)
    assert footer["explained_by"] == ["sigma=population"]


FAILURE = Failure(
    rule="TNS-4",
    message="expected kept; got -inf",
    dialect="RFC",
    dtype="float32",
    case="{}",
    reproduce="topnsigma-conformance run …",
    row=0,
    token=1,
    size=2,
    n="1.5",
    logit=1.0,
    logit_bits="0x3f800000",
    cut=-2.0,
    accept=(-2.5, 0.5),
    tight=(-2.25, -0.0),
    distance_ulp=8388608,
    matches=("sigma=population", "neg_inf=exclude,fill=lowest"),
)


def test_a_failure_in_words() -> None:
    assert str(FAILURE).splitlines() == [
        "TNS-4: expected kept; got -inf",
        "  dialect RFC, float32",
        "  row 0, token 1 of 2, n = 1.5",
        "  logit 1.0 (0x3f800000)",
        "  exact cut -2.0 (nearest float32 0xc0000000)",
        "  interval [-2.5, 0.5] (0xc0200000, 0x3f000000)",
        "  tight [-2.25, -0.0] (0xc0100000, 0x80000000)",
        "  distance 8388608 ulp (float32), above the interval",
        "  matches sigma=population or neg_inf=exclude,fill=lowest",
        "  reproduce: topnsigma-conformance run …",
    ]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"logit": -3.0}, "  distance 8388608 ulp (float32), below the interval"),
        ({"distance_ulp": 0, "logit": 0.5}, "  distance 0 ulp (float32), inside the interval"),
        ({"cut": -1e39}, "  exact cut -1e+39 (nearest float32 0xff800000)"),
    ],
)
def test_lines_of_a_failure(changes: dict[str, Any], line: str) -> None:
    assert line in str(dataclasses.replace(FAILURE, **changes)).splitlines()


def test_a_failure_without_a_token_says_what_it_can() -> None:
    error = Failure("", "KeyError: 13", "RFC", "float32", "{}", "topnsigma-conformance run …")
    assert str(error).splitlines() == [
        "error: KeyError: 13",
        "  dialect RFC, float32",
        "  reproduce: topnsigma-conformance run …",
    ]


def test_a_failure_of_a_row_without_a_token() -> None:
    failure = dataclasses.replace(FAILURE, token=None, logit=None, distance_ulp=None)
    assert str(failure).splitlines()[2:4] == [
        "  row 0 of 2 tokens, n = 1.5",
        "  exact cut -2.0 (nearest float32 0xc0000000)",
    ]


def test_numbers_of_any_length_fit_the_terminal() -> None:
    long = (-1.1754943508222875e-38, -1.1754942106924411e-38)
    failure = dataclasses.replace(
        FAILURE, logit=long[0], cut=long[1], accept=long, tight=long, distance_ulp=2**32
    )
    assert max(map(len, str(failure).splitlines())) <= 100


def test_a_report_is_read_back_as_it_was() -> None:
    report = check_implementation(
        wrong.PopulationDivisor(), checks=[*SOME, "TNS-5.fill"], target="gallery.wrong:Any"
    )
    (failed,) = report.failures
    assert failed.failure is not None
    assert failed.failure.matches == ("sigma=population",)
    data = json.loads(json.dumps(report.to_dict()))
    assert data["results"][1]["failure"]["matches"] == ["sigma=population"]
    assert Report.from_dict(data) == report
    # Of a suite that did not look for matches yet.
    del data["results"][1]["failure"]["matches"]
    old = Report.from_dict(data).failures[0].failure
    assert old == dataclasses.replace(failed.failure, matches=())


def test_to_dict_is_json() -> None:
    data = check_implementation(wrong.PopulationDivisor(), checks=SOME).to_dict()
    assert set(data) == {"header", "results", "footer"}
    # Without NaN and Infinity, which JSON does not have.
    footer = json.loads(json.dumps(data, allow_nan=False))["footer"]
    assert footer["counts"] == data["footer"]["counts"]


def test_a_waived_failure_conforms_to_its_own_dialect_and_not_to_rfc() -> None:
    class Waived(wrong.OneTokenRowMasked):
        known_failures = {  # noqa: RUF012
            "TNS-4.one-token": KnownFailure("masks its only token", "#12", "2026-01-31")
        }

    report = check_implementation(Waived(), checks=SOME, today=datetime.date(2026, 1, 31))
    assert report.results[2].status == "waived"
    assert not report.failures
    assert report.rfc is not None
    assert (report.rfc.conforms, report.rfc.failing) == (False, ("TNS-4.one-token",))


def test_a_waiver_expires_in_every_session_of_a_run() -> None:
    class Waived(wrong.OneTokenRowMasked):
        dialect = Dialect(boundary="drop")
        known_failures = {  # noqa: RUF012
            "TNS-4.one-token": KnownFailure("masks its only token", "#12", "2026-01-31")
        }

    for day, status in ((31, "waived"), (1, "fail")):
        today = datetime.date(2026, 1 + (day == 1), day)
        report = check_implementation(Waived(), checks=["TNS-4.one-token"], today=today)
        assert report.results[0].status == status
        if status == "fail":
            with pytest.raises(ConformanceError, match=r"one-token: waiver expired on 2026-01-31"):
                report.raise_for_failures()
        # A waiver does not make it meet RFC.
        assert report.rfc is not None
        assert report.rfc.failing == ("TNS-4.one-token",)


class Stopped(Textbook):
    """Ctrl-C at the first row of more than one token."""

    def truncate(self, row: Any, n: float) -> None:
        if row.size > 1:
            raise KeyboardInterrupt
        super().truncate(row, n)


def test_ctrl_c_passes_through_with_what_was_found() -> None:
    checks = ["TNS-4.one-token", "TNS-4.divisor", "TNS-5.cut"]
    with pytest.raises(KeyboardInterrupt, match=f"Stopped: 1 of {len(CHECKS)} checks") as caught:
        check_implementation(Stopped(), checks=checks)
    assert isinstance(caught.value, Interrupted)
    report = caught.value.report
    assert [result.check for result in report.results] == ["TNS-4.one-token"]
    assert report.interrupted
    assert (report.complete, report.conforms, report.rfc) == (False, False, None)
    assert Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    with pytest.raises(ConformanceError, match=f"interrupted: 1 of {len(CHECKS)} checks ran"):
        report.raise_for_failures()


def test_a_run_that_was_stopped_after_its_last_check_is_not_complete() -> None:
    class StopsUnderRfc(TwoPassFloat32):
        dialect = Dialect(sigma="population")
        seen = 0

    def stop(_: CheckResult) -> None:
        StopsUnderRfc.seen += 1
        if StopsUnderRfc.seen > 1:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        check_implementation(StopsUnderRfc(), checks=["TNS-4.one-token"], progress=stop)
    report = caught.value.report
    header = dataclasses.replace(report.header, expected=1)
    assert len(report.results) == 1
    assert not dataclasses.replace(report, header=header).complete


@pytest.mark.parametrize(
    "where", [(ConjectureRunner, "__init__"), (threading.Thread, "start")], ids=["search", "call"]
)
def test_ctrl_c_shows_where_cleaning_up_fails(
    monkeypatch: pytest.MonkeyPatch, where: tuple[type, str]
) -> None:
    def stopped(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    def stop_next(_: CheckResult) -> None:
        monkeypatch.setattr(*where, stopped)

    checks = ["TNS-4.one-token", "TNS-4.divisor"]
    with pytest.raises(Interrupted) as caught:
        check_implementation(TwoPassFloat32(), checks=checks, isolate=True, progress=stop_next)
    assert [result.check for result in caught.value.report.results] == checks[:1]


@pytest.mark.parametrize("missing", ["footer", "interrupted"])
def test_without_a_footer_it_was_interrupted(missing: str) -> None:
    data = whole("pass").to_dict()
    assert Report.from_dict(data).conforms
    if missing == "footer":
        del data["footer"]
    else:
        data["footer"]["interrupted"] = True
    report = Report.from_dict(data)
    assert report.interrupted
    assert not report.complete
    assert not report.conforms


def test_progress_and_order() -> None:
    seen: list[str] = []
    check_implementation(
        OneRowAtATime(), checks=SOME, progress=lambda result: seen.append(result.check)
    )
    assert seen == SOME


def test_unknown_check() -> None:
    with pytest.raises(ValueError, match=r"unknown check TNS-5\.odd; known: TNS-1\.reject"):
        check_implementation(TwoPassFloat32(), checks=["TNS-5.odd"])
