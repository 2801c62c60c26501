"""Reports as tables in a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.markup import escape
from rich.table import Table

from topnsigma_conformance.report import CheckResult, Report, Status

STYLES: dict[Status, str] = {
    "pass": "green",
    "quality-warning": "yellow",
    "fail": "bold red",
    "unsupported": "dim",
    "waived": "magenta",
    "error": "bold red",
    "crash": "bold red",
}


def summary_table(reports: Iterable[Report]) -> Table:
    """One row for each report: what ran, how it ended, and whether the implementation conforms."""
    table = Table(title="top-nσ conformance", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("implementation", overflow="fold")
    for column in ("run", "pass", "warn", "fail", "n/a", "waived"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("own\ndialect", no_wrap=True)
    table.add_column("RFC", no_wrap=True)
    for report in reports:
        header = report.header
        failed = report.count("fail") + report.count("error") + report.count("crash")
        dialect = header.dialect.replace(",", "\n")
        table.add_row(
            f"{escape(header.implementation)}"
            f"\n[dim]{escape(header.version)}, {escape(header.device)}\n{escape(dialect)}[/]",
            f"{len(report.results)}/{header.expected}",
            str(report.count("pass")),
            str(report.count("quality-warning")),
            str(failed),
            str(report.count("unsupported")),
            str(report.count("waived")),
            _verdict(report.conforms) if report.complete else "[yellow]partial[/]",
            "–" if report.rfc is None or not report.complete else _verdict(report.rfc.conforms),
        )
    return table


def result_line(result: CheckResult) -> str:
    """One line of rich markup on one check."""
    style = STYLES[result.status]
    line = f"[{style}]{result.status:>15}[/] {result.check:<20}"
    return f"{line} {result.examples:>6} cases {result.seconds:7.2f} s"


def _verdict(conforms: bool) -> str:
    return "[green]yes[/]" if conforms else "[bold red]no[/]"
