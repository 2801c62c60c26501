"""``topnsigma-conformance summary``: reports read back, side by side, and published."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from rich.console import Console

from topnsigma_conformance.printable import printable, printable_lines
from topnsigma_conformance.publish.badge import badge
from topnsigma_conformance.publish.collection import check_comparable, read_reports
from topnsigma_conformance.publish.junit import junit_xml
from topnsigma_conformance.publish.markdown import markdown
from topnsigma_conformance.publish.page import page
from topnsigma_conformance.report import Report
from topnsigma_conformance.table import summary_table

_WRITERS: dict[str, Callable[[Sequence[Report]], str]] = {
    "junit": junit_xml,
    "markdown": markdown,
    "html": page,
    "badge": badge,
}

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument(
    "reports",
    nargs=-1,
    required=True,
    metavar="REPORT...",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option("--junit", type=_FILE, help="Write JUnit XML.")
@click.option("--markdown", type=_FILE, help="Write a Markdown table and the failures.")
@click.option("--html", type=_FILE, help="Write a page that needs nothing beside it.")
@click.option("--badge", type=_FILE, help="Write the JSON of a shields.io endpoint badge.")
def summary(reports: tuple[Path, ...], **files: Path | None) -> None:
    """Show reports side by side, and write them for people and for tools.

    REPORT is a file that 'run --report' wrote; it may hold several reports.

    Exit status: 0 all are complete and conform, 1 one is not or does not, 2 usage, a file that is
    no report, or reports of different versions of the suite or the specification.
    """
    try:
        found = read_reports(reports)
        check_comparable(found)
    except (OSError, ValueError) as error:
        raise click.UsageError(printable_lines(str(error))) from error
    for name, path in files.items():
        if path is not None:
            try:
                # What an implementation prints need not be text.
                path.write_text(_WRITERS[name](found), encoding="utf-8", errors="replace")
            except OSError as error:
                raise click.UsageError(f"cannot write {path}: {error.strerror}") from error
    console = Console(soft_wrap=True)
    console.print(summary_table(found))
    waived = sum(report.count("waived") for report in found)
    console.print(f"waived: {waived}", highlight=False)
    for report in found:
        if not report.complete:
            ran = f"{len(report.results)} of {report.header.expected} checks have a result"
            what = "interrupted" if report.interrupted else "partial"
            name = printable(report.header.implementation)
            console.print(f"{name}: {what}, {ran}", markup=False, emoji=False)
    sys.exit(0 if all(report.conforms for report in found) else 1)
