"""Reports as Markdown: implementations by rules, and each failure below."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from topnsigma_conformance.printable import printable, printable_lines
from topnsigma_conformance.publish.rule_order import WORST_FIRST, rule_of, rules_of
from topnsigma_conformance.publish.title import titles
from topnsigma_conformance.report import CONFORMING, Report, Status

_MARKS: dict[Status, str] = {
    "pass": "✓",
    "quality-warning": "✓ (warning)",
    "unsupported": "–",
    "waived": "waived",
    "fail": "**✗**",
    "error": "**error**",
    "crash": "**crash**",
}

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&])")


def markdown(reports: Sequence[Report]) -> str:
    """The matrix, the waivers and the failures."""
    named = list(zip(map(inline, titles(reports)), reports, strict=True))
    parts = [
        "## Top-nσ conformance",
        *_partial(named),
        matrix(reports),
        *_waivers(named),
        *_failures(named),
    ]
    return "\n\n".join(parts) + "\n"


def matrix(reports: Sequence[Report]) -> str:
    """A table with a column for each report and a row for each rule."""
    lines = [
        _row("", list(map(inline, titles(reports)))),
        "|---" * (len(reports) + 1) + "|",
        _row("dialect", [inline(report.header.dialect) for report in reports]),
        _row("**conforms**", list(map(_verdict, reports))),
        _row("meets RFC", list(map(_rfc, reports))),
        _row("waived", [str(report.count("waived")) for report in reports]),
    ]
    for rule in rules_of(reports):
        lines.append(_row(inline(rule), [_mark(report, rule) for report in reports]))
    return "\n".join(lines)


def inline(text: str) -> str:
    """``text`` on one line, with nothing in it that Markdown would read."""
    return _SPECIAL.sub(r"\\\1", printable(" ".join(text.split())))


def block(text: str) -> str:
    """``text``, line by line, whatever it holds."""
    text = printable_lines(text)
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


_Named = Sequence[tuple[str, Report]]


def _partial(named: _Named) -> Iterator[str]:
    for title, report in named:
        if not report.complete:
            what = "was interrupted" if report.interrupted else "is partial"
            ran = f"{len(report.results)} of {report.header.expected} checks have a result"
            yield f"> **Partial**: the report on {title} {what}; {ran}."


def _waivers(named: _Named) -> Iterator[str]:
    lines = [
        f"- {title}, {inline(result.check)} ({result.status}): {inline(waiver.reason)}"
        f" ({inline(waiver.issue)}), until {inline(waiver.expires)}"
        for title, report in named
        for result in report.results
        if (waiver := result.waiver) is not None
    ]
    if lines:
        yield "### Known failures"
        yield "\n".join(lines)


def _failures(named: _Named) -> Iterator[str]:
    """Every result that speaks against an implementation, with its counterexample."""
    for title, report in named:
        if report.failures:
            yield f"### {title}"
        if report.explained_by:
            fitting = " or ".join(report.explained_by)
            yield f"All failures fit the dialect {inline(fitting)}."
        for result in report.failures:
            text = "\n".join(str(part) for part in (result.detail, result.failure) if part)
            yield f"{inline(result.check)}, {result.status}:\n\n{block(text)}"


def _row(head: str, cells: Sequence[str]) -> str:
    return f"| {' | '.join([head, *cells])} |"


def _verdict(report: Report) -> str:
    if not report.complete:
        return f"**partial**: {len(report.results)} of {report.header.expected}"
    return "yes" if report.conforms else "**no**"


def _rfc(report: Report) -> str:
    if report.rfc is None:
        return "not asked"
    return "yes" if report.rfc.conforms else "no"


def _mark(report: Report, rule: str) -> str:
    results = [result for result in report.results if rule_of(result) == rule]
    for status in WORST_FIRST:
        found = [result.check.partition(".")[2] for result in results if result.status == status]
        if found:
            names = f" {inline(', '.join(found))}" if status not in CONFORMING else ""
            return _MARKS[status] + names
    return "not run"
