"""What ``explain`` prints on a rule: why it is so, who broke it, who checks it, and an example."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from topnsigma_conformance.check import Check
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.faults import FAULTS, Fault
from topnsigma_conformance.rule_examples import example_of
from topnsigma_reference import RULES, Rule


@dataclasses.dataclass(frozen=True)
class Subject:
    """A rule, with the check or the fault by which it was asked for."""

    rule: Rule
    check: Check | None = None
    fault: Fault | None = None


def find_subject(name: str) -> Subject:
    """What ``name`` stands for: the id of a rule or a check, or a fault's name, in any case.

    Raises:
        ValueError: it stands for nothing; the message says what is known.
    """
    known = {known.casefold(): known for known in (*RULES, *CHECKS, *FAULTS)}
    found = known.get(name.strip().casefold())
    if found is None:
        close = difflib.get_close_matches(name.strip().casefold(), known, n=3)
        meant = f"; did you mean {' or '.join(known[each] for each in close)}?" if close else ""
        raise ValueError(
            f"unknown rule {name}; known: {', '.join(RULES)}, their checks (see 'list') and the"
            f" faults that 'explain' of a rule names{meant}"
        )
    if found in RULES:
        return Subject(RULES[found])
    if found in CHECKS:
        return Subject(RULES[CHECKS[found].rule], check=CHECKS[found])
    return Subject(RULES[FAULTS[found].rule], fault=FAULTS[found])


def page(subject: Subject) -> Iterator[RenderableType]:
    """What to print, part by part, on a console of 80 columns that takes no markup."""
    rule = subject.rule
    if subject.check is not None:
        yield _heading(f"Check {subject.check.id}")
        yield Text(f"{subject.check.title}\n")
    if subject.fault is not None:
        yield _heading(f"Fault {subject.fault.name}, breaks {rule.id}")
        yield Text(f"{_described(subject.fault)}\n")
    yield _heading(f"{rule.id}: {rule.title}\n")
    yield Text(f"{rule.statement}\n")
    yield Text(f"{rule.rationale}\n")
    faults = [fault for fault in FAULTS.values() if fault.rule == rule.id]
    if faults:
        yield _heading("Known faults")
        yield _definitions([(fault.name, _described(fault)) for fault in faults])
    yield _heading("Checks")
    yield _definitions([(c.id, c.title) for c in CHECKS.values() if c.rule == rule.id])
    yield _heading("Example\n")
    yield from example_of(rule.id)


def _heading(text: str) -> Text:
    return Text(text, style="bold")


def _described(fault: Fault) -> str:
    return f"{fault.summary}; seen: {fault.seen}" if fault.seen else fault.summary


def _definitions(entries: list[tuple[str, str]]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 0, 0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for name, meaning in entries:
        table.add_row(name, Text(meaning))
    # A line of its own, to set the next heading off.
    table.add_row()
    return table
