"""In which order reports speak of rules, and of what became of them."""

from __future__ import annotations

from collections.abc import Iterable

from topnsigma_conformance.report import CheckResult, Report, Status

WORST_FIRST: tuple[Status, ...] = (
    "crash",
    "error",
    "fail",
    "waived",
    "quality-warning",
    "pass",
    "unsupported",
)


def rule_of(result: CheckResult) -> str:
    """Id of the rule that a check belongs to; what it broke may be another one."""
    return result.check.partition(".")[0]


def rules_of(reports: Iterable[Report]) -> list[str]:
    """Ids of the rules that the reports have results for, in their order."""
    results = (result for report in reports for result in report.results)
    return list(dict.fromkeys(rule_of(result) for result in results))
