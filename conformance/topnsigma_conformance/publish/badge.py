"""Reports as the JSON that a badge is drawn from (shields.io's endpoint schema, version 1)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from topnsigma_conformance.report import Report


def badge(reports: Sequence[Report]) -> str:
    """One badge for all reports: it says no if one of them does, and how many checks are waived.

    Raises:
        ValueError: there is no report.
    """
    if not reports:
        raise ValueError("reports must not be empty: a badge needs at least one")
    failed = sum(len(report.failures) for report in reports)
    waived = sum(report.count("waived") for report in reports)
    whole = all(report.complete for report in reports)
    if failed:
        message, color = f"{failed} failing" + ("" if whole else ", partial"), "red"
    elif not whole:
        message, color = "partial", "lightgrey"
    else:
        dialects = {report.header.dialect for report in reports}
        dialect = dialects.pop() if len(dialects) == 1 else "own dialects"
        message = f"spec {reports[0].header.spec_version}, {dialect}"
        color = "yellow" if waived else "brightgreen"
    content = {
        "schemaVersion": 1,
        "label": "top-nσ",
        "message": f"{message}, {waived} waived",
        "color": color,
    }
    return json.dumps(content, ensure_ascii=False) + "\n"
