"""Reports as tables in a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.table import Table
from rich.text import Text

from topnsigma_conformance.printable import printable, printable_lines
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
        dialect = "\n".join(map(printable, header.dialect.split(",")))
        table.add_row(
            Text(printable(header.implementation)).append(
                f"\n{printable(header.version)}, {printable(header.device)}\n{dialect}", "dim"
            ),
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


def result_text(result: CheckResult) -> Text:
    """One line on one check; below it, what it says of a waiver, and its failure."""
    text = Text.assemble(
        (f"{result.status:>15}", STYLES[result.status]),
        f" {result.check:<20} {result.examples:>6} cases {result.seconds:7.2f} s",
    )
    if result.detail:
        text.append(f"\n{'':>16}{printable(result.detail)}", "dim")
    if result.failure is not None:
        text.append(f"\n{printable_lines(str(result.failure))}", "red")
    return text


def _verdict(conforms: bool) -> str:
    return "[green]yes[/]" if conforms else "[bold red]no[/]"
