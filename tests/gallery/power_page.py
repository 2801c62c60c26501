"""The page that says what ``gallery.power`` measured: ``docs/power.md``."""

from __future__ import annotations

import collections
import datetime
import inspect
import platform
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import hypothesis
import numpy as np
from gallery import right

from topnsigma_conformance import SUITE_VERSION
from topnsigma_conformance.faults import FAULTS
from topnsigma_reference import SPEC_VERSION

if TYPE_CHECKING:
    from gallery.power import Caught, Cleared

COMMAND = "PYTHONPATH=tests python -m gallery.power --write docs/power.md"
SHORT = 8
"""Tokens that a shrunk counterexample should not exceed."""


def page(caught: Sequence[Caught], cleared: Sequence[Cleared], seeds: int) -> str:
    """Markdown of the whole page."""
    return "\n".join(
        (
            "# The suite's power, measured",
            "",
            f"Written by `{COMMAND}` (`tox -e power`)",
            f"on {datetime.date.today().isoformat()}: suite {SUITE_VERSION}, spec {SPEC_VERSION},"
            f" Hypothesis {hypothesis.__version__},",
            f"numpy {np.__version__}, Python {platform.python_version()}, {platform.system()}"
            f" {platform.machine()}. All runs in profile `quick`.",
            "",
            *_summary(caught, cleared, seeds),
            "",
            "## Wrong samplers",
            "",
            "One for each fault in `topnsigma_conformance.faults`, and those whose process fails.",
            "*First check*: the first that says no in the derandomised run.",
            "*Tokens*: of the row in its shrunk counterexample. *Seeds*: how many of"
            f" {seeds} random seeds catch it.",
            "",
            *_table(
                ("sampler", "breaks", "what it does", "seen in", "first check", "tokens", "seeds"),
                (_wrong_row(each) for each in caught),
            ),
            "",
            *_notes(caught),
            "## Right samplers",
            "",
            "They differ in arithmetic, all conform, and none may be blamed. *Rows*: that came back"
            " and were judged.",
            "",
            *_table(
                ("sampler", "arithmetic", "seeds", "rows", "blamed"),
                _right_rows(cleared),
            ),
            "",
        )
    )


def _summary(caught: Sequence[Caught], cleared: Sequence[Cleared], seeds: int) -> Iterable[str]:
    derandomised = [each for each in caught if each.check]
    named = [each for each in derandomised if each.named]
    certain = [each for each in caught if not each.escaped]
    worst = min((each.seeds for each in caught), default=0)
    short = [each for each in derandomised if each.tokens <= SHORT]
    rows = sum(each.rows for each in cleared)
    alarms = sum(len(each.blamed) for each in cleared)
    yield from _table(
        ("figure", "value"),
        (
            ("wrong samplers caught, derandomised", f"{len(derandomised)} of {len(caught)}"),
            (
                "… by the rule they break (or as the crash or error they are), first",
                f"{len(named)} of {len(caught)}",
            ),
            (f"… with every one of {seeds} random seeds", f"{len(certain)} of {len(caught)}"),
            ("the one caught least", f"{worst} of {seeds} seeds"),
            (f"shrunk to at most {SHORT} tokens", f"{len(short)} of {len(caught)}"),
            ("right samplers", f"{len({each.name for each in cleared})}"),
            ("rows of theirs judged", f"{rows:,}"),
            ("false alarms", f"{alarms}"),
        ),
    )


def _wrong_row(each: Caught) -> tuple[str, ...]:
    fault = FAULTS.get(each.name)
    return (
        f"`{each.name}`",
        each.breaks,
        fault.summary if fault else "",
        fault.seen if fault else "",
        (each.check or "**none**") + (" ¹" if each.check and not each.named else ""),
        f"{each.tokens}" if each.check else "",
        f"{each.seeds}" + ("" if not each.escaped else " ²"),
    )


def _notes(caught: Sequence[Caught]) -> Iterable[str]:
    other = [each for each in caught if each.check and not each.named]
    if other:
        yield (
            "¹ The first check names another rule, on evidence that fits both: "
            + ", ".join(f"{each.name} ({each.rule})" for each in other)
            + ". A check of the rule that is broken fails as well."
        )
        yield ""
    escaped = [each for each in caught if each.escaped]
    if escaped:
        yield (
            "² Not caught with these seeds: "
            + "; ".join(f"{each.name}: {', '.join(map(str, each.escaped))}" for each in escaped)
            + "."
        )
        yield ""

    long = [each for each in caught if each.tokens > SHORT]
    if long:
        yield (
            f"Counterexamples of more than {SHORT} tokens: "
            + ", ".join(f"{each.name} ({each.tokens:,})" for each in long)
            + "."
        )
        yield ""


def _right_rows(cleared: Sequence[Cleared]) -> Iterable[tuple[str, ...]]:
    by_name = collections.defaultdict(list)
    for each in cleared:
        by_name[each.name].append(each)
    for cls in right.ALL:
        runs = by_name[cls.__name__]
        first_line = (inspect.getdoc(cls) or "").partition("\n")[0]
        yield (
            f"`{cls.__name__}`",
            first_line,
            f"{len(runs)}",
            f"{sum(run.rows for run in runs):,}",
            ", ".join(check for run in runs for check in run.blamed) or "0",
        )


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterable[str]:
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        # A bar would end the cell.
        yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |"
