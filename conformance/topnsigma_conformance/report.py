"""The result of a run: one entry a check, with what a maintainer needs to act on a failure."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from topnsigma_conformance.printable import printable, printable_lines
from topnsigma_conformance.shown_row import ShownRow

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
        row, size: where: the row, and how many tokens it has; None when no row shows it.
        token: of the row; None when no single one shows it.
        n: of the row, as text.
        logit: as decimal and ``logit_bits`` as hexadecimal.
        cut: the exact threshold as binary64.
        accept, tight: the intervals, as (lower, upper).
        distance_ulp: steps of float32 from the logit to the acceptance interval.
        matches: changes of the dialect, as ``FIELD=VALUE,…``, each of which would make this one
            result right.
        shown: tokens of the row, for a drawing.
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
    matches: tuple[str, ...] = ()
    shown: ShownRow | None = None

    def __str__(self) -> str:
        # Lines of a message could pass for those below it.
        message = self.message.replace("\n", "\n  | ")
        lines = [f"  dialect {self.dialect}, {self.dtype}"]
        if self.token is not None:
            lines.append(f"  row {self.row}, token {self.token} of {self.size}, n = {self.n}")
            lines.append(f"  logit {self.logit!r} ({self.logit_bits})")
        elif self.row is not None:
            lines.append(f"  row {self.row} of {self.size} tokens, n = {self.n}")
        if self.cut is not None and self.accept is not None and self.tight is not None:
            lines.append(f"  exact cut {self.cut!r} (nearest float32 {_bits(self.cut)})")
            for name, (lower, upper) in (("interval", self.accept), ("tight", self.tight)):
                lines.append(f"  {name} [{lower!r}, {upper!r}] ({_bits(lower)}, {_bits(upper)})")
            if self.distance_ulp is not None and self.logit is not None:
                where = "above" if self.logit > self.accept[1] else "below"
                where = where if self.distance_ulp else "inside"
                lines.append(f"  distance {self.distance_ulp} ulp (float32), {where} the interval")
        if self.matches:
            lines.append(f"  matches {' or '.join(self.matches)}")
        lines.append(f"  reproduce: {self.reproduce}")
        return "\n".join([f"{self.rule or 'error'}: {message}", *map(printable, lines)])


@dataclasses.dataclass(frozen=True)
class Waiver:
    """What the implementation says of a check that is known to fail.

    Attributes:
        reason: what is wrong.
        issue: that tracks it.
        expires: last day on which it holds, as ISO date.
    """

    reason: str
    issue: str
    expires: str


@dataclasses.dataclass(frozen=True)
class CheckResult:
    """Outcome of one check.

    Attributes:
        check: id of the check.
        rule: id of the rule that it enforces.
        status: of :data:`STATUSES`.
        examples: cases tried, over all dtypes.
        seconds: it took.
        detail: why it is unsupported or waived, or why a waiver does not help; the first quality
            warning.
        failure: for fail, error, crash and waived.
        waiver: of this check, whether it holds or not.
    """

    check: str
    rule: str
    status: Status
    examples: int
    seconds: float
    detail: str = ""
    failure: Failure | None = None
    waiver: Waiver | None = None


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
        interrupted: the run did not reach its end, or its report was cut short.
    """

    header: Header
    results: tuple[CheckResult, ...]
    rfc: RfcResult | None = None
    explained_by: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether the run reached its end and every check of the suite has a result."""
        # A check that ran twice does not make up for one that did not.
        ran = len({result.check for result in self.results})
        return ran == self.header.expected and not self.interrupted

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
            f"{printable(self.header.implementation)} does not conform to {self.header.dialect}:"
            f" {len(self.failures)} of {self.header.expected} checks"
        ]
        if not self.complete:
            what = "interrupted" if self.interrupted else "incomplete"
            lines.append(f"{what}: {len(self.results)} of {self.header.expected} checks ran")
        for result in self.failures:
            failure = printable_lines(str(result.failure)) if result.failure else ""
            said = filter(None, (printable(result.detail), failure))
            lines.append(f"{result.check}: {'; '.join(said)}")
        if self.explained_by:
            lines.append(f"all failures fit the dialect {' or '.join(self.explained_by)}")
        raise ConformanceError("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-ready values."""
        return {
            "header": dataclasses.asdict(self.header),
            "results": [_entry(result) for result in self.results],
            "footer": self._footer(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Report:
        """The report that :meth:`to_dict` described.

        Without a footer, as where a file was cut short, it is an interrupted one.

        Raises:
            KeyError, TypeError: ``data`` is something else.
        """
        footer = data.get("footer") or {"rfc": None, "explained_by": [], "interrupted": True}
        rfc = footer["rfc"]
        return cls(
            header=Header(**data["header"]),
            results=tuple(_result(entry) for entry in data["results"]),
            rfc=rfc and RfcResult(rfc["conforms"], tuple(rfc["failing"])),
            explained_by=tuple(footer["explained_by"]),
            interrupted=footer["interrupted"],
        )

    def lines(self) -> Iterator[str]:
        """The report as JSON Lines: header, one line a check, footer."""
        data = self.to_dict()
        yield json.dumps({"kind": "header", **data["header"]})
        for result in data["results"]:
            yield json.dumps({"kind": "result", **result}, allow_nan=False)
        yield json.dumps({"kind": "footer", **data["footer"]})

    def write(self, path: Path) -> None:
        """Append the report to a JSON Lines file."""
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in self.lines())

    def _footer(self) -> dict[str, Any]:
        return {
            "complete": self.complete,
            "interrupted": self.interrupted,
            "conforms": self.conforms,
            "counts": {status: self.count(status) for status in STATUSES},
            "rfc": None if self.rfc is None else dataclasses.asdict(self.rfc),
            "explained_by": list(self.explained_by),
        }


def _bits(value: float) -> str:
    with np.errstate(over="ignore"):
        return f"0x{int(np.float32(value).view(np.uint32)):08x}"


def _entry(result: CheckResult) -> dict[str, Any]:
    entry = dataclasses.asdict(result)
    if entry["failure"] is not None:
        for key in _FLOATS:
            entry["failure"][key] = _map_floats(entry["failure"][key], _to_json)
    return entry


def _result(entry: dict[str, Any]) -> CheckResult:
    failure, waiver = entry["failure"], entry.get("waiver")
    if failure is not None:
        floats = {key: _map_floats(failure[key], float) for key in _FLOATS}
        matches, shown = tuple(failure.get("matches", ())), failure.get("shown")
        if shown is not None:
            shown = ShownRow(**{**shown, "tokens": tuple(shown["tokens"])})
        failure = Failure(**{**failure, **floats, "matches": matches, "shown": shown})
    return CheckResult(**{**entry, "failure": failure, "waiver": waiver and Waiver(**waiver)})


_FLOATS = ("logit", "cut", "accept", "tight")


def _map_floats(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, list | tuple):
        return tuple(change(each) for each in value)
    return None if value is None else change(value)


def _to_json(value: float) -> float | str:
    # JSON has neither NaN nor infinities; float() reads their names back.
    return value if math.isfinite(value) else str(value)
