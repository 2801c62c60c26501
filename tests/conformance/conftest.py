"""The one table at the end of ``tox -e conformance``, from what the tests recorded."""

import json
import sys

import pytest
from recorded_properties import recorded
from rich.console import Console

from topnsigma_conformance import Report
from topnsigma_conformance.table import summary_table


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    found = recorded(terminalreporter, ("passed", "failed"))
    reports = [Report.from_dict(json.loads(text)) for name, text in found if name == "tns_report"]
    console = Console(file=sys.__stdout__, width=110, highlight=False, soft_wrap=True)
    terminalreporter.ensure_newline()
    reports.sort(key=lambda report: report.header.implementation, reverse=True)
    console.print(summary_table(reports))
    for report in reports:
        _print_verdict(console, report)
    for name, line in found:
        if name == "real_logits":
            console.print(line)


def _print_verdict(console: Console, report: Report) -> None:
    for result in report.failures:
        failure = result.failure
        located = ""
        if failure is not None and failure.token is not None:
            located = (
                f", token {failure.token} of {failure.size}, {failure.distance_ulp} ulp from"
                f" {failure.accept}"
            )
        console.print(f"{report.header.implementation}: {result.check} ({result.rule}){located}")
    if report.rfc is not None and report.rfc.failing:
        failing = ", ".join(report.rfc.failing)
        console.print(f"{report.header.implementation} under RFC fails: {failing}")
