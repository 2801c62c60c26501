"""The whole suite on one implementation, in one call."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Iterable
from pathlib import Path

from topnsigma_conformance.check import Check
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.explanation import fitting_dialects
from topnsigma_conformance.implementation import Implementation
from topnsigma_conformance.line_process import DEFAULT_TIMEOUT
from topnsigma_conformance.report import CONFORMING, CheckResult, Report, RfcResult
from topnsigma_conformance.report_file import ReportFile
from topnsigma_conformance.session import Session
from topnsigma_reference import RFC, Dialect

Progress = Callable[[CheckResult], None]


class Interrupted(KeyboardInterrupt):
    """The run was interrupted (Ctrl-C).

    Attributes:
        report: what had been found until then, marked as interrupted.
    """

    def __init__(self, report: Report) -> None:
        header = report.header
        super().__init__(
            f"{header.implementation}: {len(report.results)} of {header.expected} checks ran"
        )
        self.report = report


def check_implementation(
    implementation: Implementation,
    profile: str = "quick",
    seed: int | None = None,
    *,
    dialect: Dialect | None = None,
    checks: Iterable[str] | None = None,
    progress: Progress | None = None,
    target: str = "",
    isolate: bool = False,
    timeout: float = DEFAULT_TIMEOUT,
    rfc: bool = True,
    today: datetime.date | None = None,
    file: Path | None = None,
) -> Report:
    """Check an implementation, and say whether it conforms.

    Args:
        implementation: under test.
        profile: ``quick`` (seconds), ``full`` (minutes) or ``soak`` (one round of it).
        seed: of all draws; the default is the derandomised run.
        dialect: to check under; the implementation's own by default.
        checks: ids of the checks to run; all by default. A report on some is never complete.
        progress: called with each result as it comes.
        target: how the command line names the implementation, for lines that reproduce a failure.
        isolate: run it in a process of its own even if it does not ask for that.
        timeout: seconds that one call in a process of its own may take.
        rfc: also find out whether it meets RFC, when that is not its dialect.
        today: by which known failures expire; the date in UTC by default.
        file: JSON Lines file to append the report to, line by line as results come.

    Raises:
        Interrupted: Ctrl-C, with the report on what had been found until then.
        OSError: ``file`` cannot be written.
        TypeError, ValueError: a claim of the implementation, or an argument, is not valid.
    """
    selected = [CHECKS[check] for check in _known(checks)]
    options: dict[str, object] = {
        "profile": profile,
        "seed": seed,
        "target": target,
        "isolate": isolate,
        "timeout": timeout,
        "today": today,
    }
    session = Session(implementation, dialect=dialect, **options)  # type: ignore[arg-type]
    report = Report(session.header(), (), interrupted=True)
    written = None if file is None else ReportFile(file, report.header)
    try:
        with session:
            for check in selected:
                result = session.run(check)
                report = dataclasses.replace(report, results=(*report.results, result))
                if written is not None:
                    written.add(result)
                if progress is not None:
                    progress(result)
        if session.dialect == RFC:
            report = dataclasses.replace(report, rfc=_as_rfc(report))
        elif rfc:
            under_rfc = _under_rfc(implementation, selected, options, progress)
            report = dataclasses.replace(report, rfc=under_rfc)
        failed = [CHECKS[result.check] for result in report.results if result.status == "fail"]
        explained_by = tuple(
            str(candidate)
            for candidate in fitting_dialects(session.evidence, session.dialect)
            if _passes_under(implementation, candidate, failed, options)
        )
        report = dataclasses.replace(report, explained_by=explained_by, interrupted=False)
    except BaseException as error:
        if not _by_ctrl_c(error):
            raise
        raise Interrupted(report) from error
    finally:
        if written is not None:
            written.finish(report)
    return report


def _by_ctrl_c(error: BaseException | None) -> bool:
    """Whether it is Ctrl-C, or what came of cleaning up after Ctrl-C: Hypothesis, and threads,
    raise errors of their own when they had hardly begun."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _passes_under(
    implementation: Implementation,
    candidate: Dialect,
    failed: list[Check],
    options: dict[str, object],
) -> bool:
    """Whether ``candidate`` explains more than the few cases that the failures were shrunk to."""
    with Session(implementation, dialect=candidate, **options) as session:  # type: ignore[arg-type]
        return all(session.run(check, shrink=False).status in CONFORMING for check in failed)


def _as_rfc(report: Report) -> RfcResult:
    """The result under RFC of an implementation whose own dialect that is."""
    whole = dataclasses.replace(report, interrupted=False)
    # A waiver excuses a failure, it does not undo it.
    failing = tuple(result.check for result in report.results if result.failure is not None)
    return RfcResult(whole.conforms and not failing, failing)


def _under_rfc(
    implementation: Implementation,
    selected: list[Check],
    options: dict[str, object],
    progress: Progress | None,
) -> RfcResult:
    failing = []
    with Session(implementation, dialect=RFC, **options) as session:  # type: ignore[arg-type]
        for check in selected:
            result = session.run(check, shrink=False)
            if result.failure is not None:
                failing.append(check.id)
            if progress is not None:
                progress(result)
    return RfcResult(not failing and len(selected) == len(CHECKS), tuple(failing))


def _known(checks: Iterable[str] | None) -> list[str]:
    if checks is None:
        return list(CHECKS)
    wanted = list(checks)
    unknown = [check for check in wanted if check not in CHECKS]
    if unknown:
        raise ValueError(f"unknown check {', '.join(unknown)}; known: {', '.join(CHECKS)}")
    return wanted
