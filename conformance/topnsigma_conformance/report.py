"""The result of a run: one entry a check, with what a maintainer needs to act on a failure."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

Status = Literal["pass", "quality-warning", "fail", "unsupported", "waived", "error", "crash"]

STATUSES: tuple[Status, ...] = (
    "pass",
    "quality-warning",
    "fail",
    "unsupported",
    "waived",
    "error",
    "crash",
)

CONFORMING: frozenset[Status] = frozenset(("pass", "quality-warning", "unsupported", "waived"))


class ConformanceError(AssertionError):
    """An implementation does not conform; the message lists its failures."""


@dataclasses.dataclass(frozen=True)
class Failure:
    """What is wrong, shown on one case.

    Attributes:
        rule: id of the rule that is broken; empty for an error or a crash.
        message: expected and got, in words.
        dialect, dtype: under which it was found.
        case: the case as JSON.
        reproduce: a command that shows it again.
        row, token, size: where; None when no single token shows it.
        n: of the row, as text.
        logit: as decimal and ``logit_bits`` as hexadecimal.
        cut: the exact threshold as binary64.
        accept, tight: the intervals, as (lower, upper).
        distance_ulp: steps of float32 from the logit to the acceptance interval.
    """

    rule: str
    message: str
    dialect: str
    dtype: str
    case: str
    reproduce: str
    row: int | None = None
    token: int | None = None
    size: int | None = None
    n: str | None = None
    logit: float | None = None
    logit_bits: str | None = None
    cut: float | None = None
    accept: tuple[float, float] | None = None
    tight: tuple[float, float] | None = None
    distance_ulp: int | None = None

    def __str__(self) -> str:
        lines = [f"{self.rule or 'error'}: {self.message}"]
        lines.append(f"  dialect {self.dialect}, {self.dtype}")
        if self.token is not None:
            lines.append(
                f"  row {self.row}, token {self.token} of {self.size}, n = {self.n},"
                f" logit {self.logit!r} ({self.logit_bits})"
            )
        if self.cut is not None and self.accept is not None and self.tight is not None:
            lines.append(
                f"  exact threshold {self.cut!r},"
                f" interval [{self.accept[0]!r}, {self.accept[1]!r}],"
                f" tight [{self.tight[0]!r}, {self.tight[1]!r}]"
            )
        if self.distance_ulp is not None:
            lines.append(f"  distance from the interval: {self.distance_ulp} ulp (float32)")
        lines.append(f"  reproduce: {self.reproduce}")
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True)
class CheckResult:
    """Outcome of one check.

    Attributes:
        check: id of the check.
        rule: id of the rule that it enforces.
        status: of :data:`STATUSES`.
        examples: cases tried, over all dtypes.
        seconds: it took.
        detail: why it is unsupported or waived; the first quality warning.
        failure: for fail, error, crash and waived.
    """

    check: str
    rule: str
    status: Status
    examples: int
    seconds: float
    detail: str = ""
    failure: Failure | None = None


@dataclasses.dataclass(frozen=True)
class Header:
    """What was checked, by which suite, how, and how many results belong to a whole report."""

    suite_version: str
    spec_version: str
    implementation: str
    version: str
    target: str
    dialect: str
    device: str
    profile: str
    seed: int
    expected: int
    started: str
    python: str
    platform: str


@dataclasses.dataclass(frozen=True)
class RfcResult:
    """Whether the implementation also meets the RFC dialect.

    Attributes:
        conforms: it does.
        failing: ids of the checks that say no.
    """

    conforms: bool
    failing: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Report:
    """A whole run.

    Attributes:
        header: see :class:`Header`.
        results: one for each check of the suite.
        rfc: the same implementation under RFC; None when it was not asked.
        explained_by: dialects under which every failure seen would be right, and the checks that
            failed pass.
    """

    header: Header
    results: tuple[CheckResult, ...]
    rfc: RfcResult | None = None
    explained_by: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every check of the suite has a result."""
        # A check that ran twice does not make up for one that did not.
        return len({result.check for result in self.results}) == self.header.expected

    @property
    def conforms(self) -> bool:
        """Whether the run is complete and nothing in it speaks against the implementation."""
        return self.complete and all(result.status in CONFORMING for result in self.results)

    @property
    def failures(self) -> tuple[CheckResult, ...]:
        """Results that speak against the implementation, in the order of the suite."""
        return tuple(result for result in self.results if result.status not in CONFORMING)

    def count(self, status: Status) -> int:
        """How many checks ended in ``status``."""
        return sum(result.status == status for result in self.results)

    def raise_for_failures(self) -> None:
        """Raise :class:`ConformanceError` unless the implementation conforms."""
        if self.conforms:
            return
        lines = [
            f"{self.header.implementation} does not conform to {self.header.dialect}:"
            f" {len(self.failures)} of {self.header.expected} checks"
        ]
        if not self.complete:
            lines.append(f"incomplete: {len(self.results)} of {self.header.expected} checks ran")
        lines += [f"{result.check}: {result.failure or result.detail}" for result in self.failures]
        if self.explained_by:
            lines.append(f"all failures fit the dialect {' or '.join(self.explained_by)}")
        raise ConformanceError("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-ready values; a report that was cut short lacks its footer."""
        return {
            "header": dataclasses.asdict(self.header),
            "results": [dataclasses.asdict(result) for result in self.results],
            "footer": self._footer(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Report:
        """The report that :meth:`to_dict` described.

        Raises:
            KeyError, TypeError: ``data`` is something else.
        """
        footer = data["footer"]
        return cls(
            header=Header(**data["header"]),
            results=tuple(_result(entry) for entry in data["results"]),
            rfc=footer["rfc"]
            and RfcResult(footer["rfc"]["conforms"], tuple(footer["rfc"]["failing"])),
            explained_by=tuple(footer["explained_by"]),
        )

    def lines(self) -> Iterator[str]:
        """The report as JSON Lines: header, one line a check, footer."""
        data = self.to_dict()
        yield json.dumps({"kind": "header", **data["header"]})
        for result in data["results"]:
            yield json.dumps({"kind": "result", **result})
        yield json.dumps({"kind": "footer", **data["footer"]})

    def write(self, path: Path) -> None:
        """Append the report to a JSON Lines file."""
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in self.lines())

    def _footer(self) -> dict[str, Any]:
        return {
            "complete": self.complete,
            "conforms": self.conforms,
            "counts": {status: self.count(status) for status in STATUSES},
            "rfc": None if self.rfc is None else dataclasses.asdict(self.rfc),
            "explained_by": list(self.explained_by),
        }


def _result(entry: dict[str, Any]) -> CheckResult:
    failure = entry["failure"]
    if failure is not None:
        intervals = {key: failure[key] and tuple(failure[key]) for key in ("accept", "tight")}
        failure = Failure(**{**failure, **intervals})
    return CheckResult(**{**entry, "failure": failure})
