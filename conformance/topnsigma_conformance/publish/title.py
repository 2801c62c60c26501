"""What reports are called where several are shown side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from topnsigma_conformance.report import Report

_TELL_APART = ("dialect", "profile", "seed", "target", "started")


def titles(reports: Sequence[Report]) -> list[str]:
    """One for each report: name and version, and what tells it from others of that name."""
    found = [_plain(report) for report in reports]
    for field in _TELL_APART:
        often = Counter(found)
        values = [getattr(report.header, field) for report in reports]
        # What all of them share tells nothing apart.
        groups = {
            title: {v for t, v in zip(found, values, strict=True) if t == title} for title in often
        }
        found = [
            f"{title}, {field} {value}" if len(groups[title]) > 1 else title
            for title, value in zip(found, values, strict=True)
        ]
    often, seen = Counter(found), Counter[str]()
    for index, title in enumerate(found):
        seen[title] += 1
        if often[title] > 1:
            found[index] = f"{title}, no. {seen[title]}"
    return found


def _plain(report: Report) -> str:
    header = report.header
    version = "" if header.version == "unknown" else f" {header.version}"
    device = "" if header.device == "cpu" else f" ({header.device})"
    return f"{header.implementation}{version}{device}"
