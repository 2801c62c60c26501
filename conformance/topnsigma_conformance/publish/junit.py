"""Reports as JUnit XML, which continuous integration reads: one test case a check."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from topnsigma_conformance.publish.title import titles
from topnsigma_conformance.report import CONFORMING, CheckResult, Report

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_TOTALS = ("tests", "failures", "errors", "skipped")


def junit_xml(reports: Sequence[Report]) -> str:
    """One ``testsuite`` a report. ``unsupported`` and ``waived`` are skipped with their reason.

    A partial report has one test case more, ``complete``, which is an error.
    """
    root = ElementTree.Element("testsuites", name="topnsigma-conformance")
    for report, title in zip(reports, titles(reports), strict=True):
        root.append(_suite(report, _text(title)))
    for total in _TOTALS:
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in root)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(report: Report, title: str) -> ElementTree.Element:
    header = report.header
    missing = int(not report.complete)
    suite = ElementTree.Element(
        "testsuite",
        name=title,
        timestamp=_text(header.started),
        tests=str(len(report.results) + missing),
        failures=str(report.count("fail")),
        errors=str(report.count("error") + report.count("crash") + missing),
        skipped=str(report.count("unsupported") + report.count("waived")),
        time=f"{sum(result.seconds for result in report.results):.3f}",
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (*vars(header).items(), ("waived", report.count("waived"))):
        ElementTree.SubElement(properties, "property", name=name, value=_text(str(value)))
    for result in report.results:
        suite.append(_case(title, result))
    if missing:
        case = ElementTree.SubElement(suite, "testcase", classname=title, name="complete")
        what = "interrupted" if report.interrupted else "partial"
        message = f"{what}: {len(report.results)} of {header.expected} checks have a result"
        ElementTree.SubElement(case, "error", type="partial", message=message)
    return suite


def _case(title: str, result: CheckResult) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase",
        classname=f"{title}.{_text(result.rule)}",
        name=_text(result.check),
        time=f"{result.seconds:.3f}",
    )
    parts = [result.detail, str(result.failure) if result.failure else ""]
    text = _text("\n".join(part for part in parts if part))
    message = text.partition("\n")[0]
    if result.status in ("unsupported", "waived"):
        tag = ElementTree.SubElement(case, "skipped", message=f"{result.status}: {message}")
        tag.text = text
    elif result.status == "quality-warning":
        ElementTree.SubElement(case, "system-out").text = text
    elif result.status not in CONFORMING:
        tag = ElementTree.SubElement(
            case,
            "failure" if result.status == "fail" else "error",
            type=result.status,
            message=message,
        )
        tag.text = text
    return case


def _text(text: str) -> str:
    # What an engine prints when it dies can hold anything; XML cannot.
    return _NOT_IN_XML.sub("\ufffd", text)
