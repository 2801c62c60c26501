"""A report on disk while its run goes on, so that one that is killed leaves what it had found."""

from __future__ import annotations

from pathlib import Path

from topnsigma_conformance.report import CheckResult, Header, Report


class ReportFile:
    """Appends one report to a JSON Lines file, each line as soon as it is known.

    Until :meth:`finish` there is no footer, and whoever reads the file takes the run for
    interrupted. Two runs must not write to one file at the same time: their lines would mix.

    Args:
        path: of the file, which is created where there is none.
        header: of the report.

    Raises:
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self._path = path
        self._header = header
        first, *_ = Report(header, ()).lines()
        self._append(first)

    def add(self, result: CheckResult) -> None:
        """Append the line of one check."""
        _, line, _ = Report(self._header, (result,)).lines()
        self._append(line)

    def finish(self, report: Report) -> None:
        """Append the footer of the whole report, whose results have all been added."""
        *_, footer = report.lines()
        self._append(footer)

    def _append(self, line: str) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
