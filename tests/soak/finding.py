"""What a soak looks at, and what it found."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rich.table import Table


@dataclasses.dataclass(frozen=True)
class Finding:
    """One line of the result.

    Attributes:
        name: what must be so.
        tried: how often it was looked at.
        failed: how often it was not so.
        detail: figures beside it, or the first failure.
    """

    name: str
    tried: int
    failed: int
    detail: str = ""


def finding(name: str, tried: int, failures: Sequence[str], detail: str = "") -> Finding:
    """With the first failure as its detail, if there is one."""
    return Finding(name, tried, len(failures), failures[0] if failures else detail)


def table(found: Sequence[Finding], title: str) -> Table:
    """A line a finding."""
    shown = Table(title=title, title_justify="left")
    shown.add_column("must be so")
    for heading in ("tried", "failed"):
        shown.add_column(heading, justify="right", no_wrap=True)
    shown.add_column("")
    for each in found:
        shown.add_row(each.name, f"{each.tried:,}", f"{each.failed:,}", each.detail)
    return shown
