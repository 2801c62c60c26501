"""JUnit XML, Markdown and the badge, on reports that say everything a report can say."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
import sample_reports

from topnsigma_conformance import Report
from topnsigma_conformance.publish.badge import badge
from topnsigma_conformance.publish.junit import junit_xml
from topnsigma_conformance.publish.markdown import markdown
from topnsigma_conformance.report import Status


def all_samples() -> list[Report]:
    return [sample() for sample in sample_reports.ALL]


def test_junit_counts_are_those_of_the_cases() -> None:
    root = ElementTree.fromstring(junit_xml(all_samples()))
    suites = list(root)
    assert [suite.tag for suite in suites] == ["testsuite"] * len(sample_reports.ALL)
    tags = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for total, tag in tags.items():
        for suite in suites:
            assert int(suite.attrib[total]) == len(list(suite.iter(tag))), suite.attrib["name"]
        assert int(root.attrib[total]) == len(list(root.iter(tag))) > 0


@pytest.mark.parametrize(
    ("sample", "tag", "message"),
    [
        (sample_reports.failing, "failure", "TNS-4: expected kept: above the acceptance interval"),
        (sample_reports.hostile, "error", "error: RuntimeError: ```"),
        (sample_reports.crashing, "error", "error: its process died with signal 6"),
        (sample_reports.waived, "skipped", "waived: masks with -1e9 (https://issues.invalid/12)"),
        (sample_reports.passing, "skipped", "unsupported: does not claim the extreme domain"),
        (sample_reports.expired, "failure", "waiver expired on 2026-05-31: masks with -1e9 (#12)"),
        (sample_reports.mended, "failure", "unexpected pass: masks with -1e9 (#12)"),
        (sample_reports.interrupted, "error", "interrupted: 1 of 38 checks have a result"),
        (sample_reports.partial, "error", "partial: 1 of 38 checks have a result"),
    ],
)
def test_junit_says_how_a_check_ended(sample: Callable[[], Report], tag: str, message: str) -> None:
    root = ElementTree.fromstring(junit_xml([sample()]))
    found = next(root.iter(tag))
    wanted = message.replace("38", str(sample().header.expected))
    assert found.attrib["message"].startswith(wanted)


def test_junit_holds_the_line_that_reproduces() -> None:
    root = ElementTree.fromstring(junit_xml([sample_reports.failing()]))
    for failure in root.iter("failure"):
        assert "reproduce: topnsigma-conformance run" in (failure.text or "")
    (case,) = (case for case in root.iter("testcase") if case.get("name") == "TNS-4.divisor")
    assert case.attrib["classname"] == "PopulationDivisor gallery.TNS-4"
    properties = {each.attrib["name"]: each.attrib["value"] for each in root.iter("property")}
    assert (properties["dialect"], properties["seed"], properties["waived"]) == ("RFC", "0", "0")


def test_junit_of_a_passing_check_is_empty() -> None:
    root = ElementTree.fromstring(junit_xml([sample_reports.passing()]))
    (case,) = (case for case in root.iter("testcase") if case.get("name") == "TNS-4.divisor")
    assert list(case) == []


def test_junit_survives_what_xml_cannot_hold() -> None:
    text = junit_xml([sample_reports.hostile()])
    root = ElementTree.fromstring(text.encode("utf-8"))
    error = next(root.iter("error"))
    assert "```�� <img src=x onerror=alert(1)> ]]> | \u2028 & �" in (error.text or "")
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", text)


def table(text: str) -> dict[str, list[str]]:
    """The first column of a table, and the cells beside it."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    cells = [re.split(r"(?<!\\)\|", row)[1:-1] for row in rows]
    assert len({len(row) for row in cells}) == 1, rows
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in cells}


def test_markdown_matrix() -> None:
    reports = [
        sample_reports.passing(),
        sample_reports.failing(),
        sample_reports.waived(),
        sample_reports.loose(),
        sample_reports.crashing(),
        sample_reports.partial(),
    ]
    rows = table(markdown(reports))
    expected = sample_reports.partial().header.expected
    assert rows["**conforms**"] == [
        "yes",
        "**no**",
        "yes",
        "yes",
        "**no**",
        f"**partial**: 1 of {expected}",
    ]
    assert rows["waived"] == ["0", "0", "1", "0", "0", "0"]
    assert rows["TNS-4"] == ["✓", "**✗** divisor", "not run", "not run", "**crash** divisor", "✓"]
    assert rows["TNS-5"] == ["not run", "**✗** boundary", "waived", *["not run"] * 3]
    assert rows["TNS-9"] == ["–", "**✗** core", "not run", "✓ (warning)", "not run", "not run"]
    assert rows["meets RFC"][4] == "not asked"


WORST_FIRST: tuple[Status, ...] = (
    "crash",
    "error",
    "fail",
    "waived",
    "quality-warning",
    "pass",
    "unsupported",
)


def test_the_matrix_shows_the_worst_result_of_a_rule() -> None:
    report = sample_reports.passing()
    (result, *_) = report.results
    marks = ["**crash** x", "**error** x", "**✗** x", "waived", "✓ (warning)", "✓", "–"]
    for place, mark in enumerate(marks):
        order = [*WORST_FIRST[place + 1 :], WORST_FIRST[place]]
        results = tuple(
            dataclasses.replace(
                result, check=f"TNS-4.{'x' if status == order[-1] else 'y'}", status=status
            )
            for status in order
        )
        rows = table(markdown([dataclasses.replace(report, results=results)]))
        assert rows["TNS-4"] == [mark]


def test_markdown_lists_failures_and_waivers() -> None:
    text = markdown([sample_reports.failing(), sample_reports.waived(), sample_reports.mended()])
    failure = sample_reports.failing().failures[0].failure
    assert f"TNS-4.divisor, fail:\n\n```text\n{failure}\n```" in text
    assert "All failures fit the dialect sigma=population." in text
    assert "### Known failures" in text
    assert (
        "- Waived gallery, TNS-5.fill (waived): masks with -1e9 (https://issues.invalid/12),"
        " until 2026-06-01"
    ) in text.replace("\\", "")
    assert "TNS-5.fill (fail): masks with -1e9 (#12), until 2027-01-01" in text.replace("\\", "")
    assert "```text\nunexpected pass: masks with -1e9 (#12)\n```" in text


def test_markdown_says_that_a_report_is_partial() -> None:
    text = markdown([sample_reports.interrupted(), sample_reports.partial()])
    assert "> **Partial**: the report on Stopped gallery was interrupted; 1 of" in text
    assert "> **Partial**: the report on TwoPassFloat32 gallery is partial; 1 of" in text
    assert "Partial" not in markdown([sample_reports.passing()])


def test_markdown_survives_what_it_could_take_for_markup() -> None:
    text = markdown([sample_reports.hostile(), sample_reports.passing()])
    assert len(table(text)[""]) == 2
    # The message holds three backticks; the fence around it is longer.
    fences = re.findall(r"^(`{3,})(?:text)?$", text, re.MULTILINE)
    assert fences == ["````", "````"]
    outside = re.sub(r"````text.*?````", "", text, flags=re.DOTALL)
    assert not re.search(r"(?<!\\)<script", outside)


@pytest.mark.parametrize(
    ("samples", "message", "color"),
    [
        ([sample_reports.passing], "spec 1.0, RFC, 0 waived", "brightgreen"),
        ([sample_reports.waived, sample_reports.passing], "spec 1.0, RFC, 1 waived", "yellow"),
        ([sample_reports.failing, sample_reports.waived], "3 failing, 1 waived", "red"),
        ([sample_reports.partial, sample_reports.passing], "partial, 0 waived", "lightgrey"),
        (
            [sample_reports.interrupted, sample_reports.mended],
            "1 failing, partial, 0 waived",
            "red",
        ),
    ],
)
def test_badge(samples: list[Callable[[], Report]], message: str, color: str) -> None:
    content = json.loads(badge([sample() for sample in samples]))
    assert content == {"schemaVersion": 1, "label": "top-nσ", "message": message, "color": color}


def test_a_badge_of_nothing() -> None:
    with pytest.raises(ValueError, match="reports must not be empty"):
        badge([])
