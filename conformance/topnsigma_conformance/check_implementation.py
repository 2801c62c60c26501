"""The whole suite on one implementation, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from topnsigma_conformance.check import Check
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.explanation import fitting_dialects
from topnsigma_conformance.implementation import Implementation
from topnsigma_conformance.report import CONFORMING, CheckResult, Report, RfcResult
from topnsigma_conformance.session import Session
from topnsigma_reference import RFC, Dialect

Progress = Callable[[CheckResult], None]


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
    rfc: bool = True,
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
        rfc: also find out whether it meets RFC, when that is not its dialect.

    Raises:
        TypeError, ValueError: a claim of the implementation, or an argument, is not valid.
    """
    selected = [CHECKS[check] for check in _known(checks)]
    options: dict[str, object] = {
        "profile": profile,
        "seed": seed,
        "target": target,
        "isolate": isolate,
    }
    with Session(implementation, dialect=dialect, **options) as session:  # type: ignore[arg-type]
        header = session.header()
        results = []
        for check in selected:
            results.append(session.run(check))
            if progress is not None:
                progress(results[-1])
        evidence, own = session.evidence, session.dialect
    rfc_result = None
    if own == RFC:
        conforms = Report(header, tuple(results)).conforms
        failing = tuple(r.check for r in results if r.status in ("fail", "error", "crash"))
        rfc_result = RfcResult(conforms, failing)
    elif rfc:
        rfc_result = _under_rfc(implementation, selected, options, progress)
    failed = [CHECKS[result.check] for result in results if result.status == "fail"]
    explained_by = tuple(
        str(candidate)
        for candidate in fitting_dialects(evidence, own)
        if _passes_under(implementation, candidate, failed, options)
    )
    return Report(header, tuple(results), rfc_result, explained_by)


def _passes_under(
    implementation: Implementation,
    candidate: Dialect,
    failed: list[Check],
    options: dict[str, object],
) -> bool:
    """Whether ``candidate`` explains more than the few cases that the failures were shrunk to."""
    with Session(implementation, dialect=candidate, **options) as session:  # type: ignore[arg-type]
        return all(session.run(check, shrink=False).status in CONFORMING for check in failed)


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
            if result.status in ("fail", "error", "crash"):
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
