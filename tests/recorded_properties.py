"""What tests have recorded as properties, for the summary at the end of their run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest


def recorded(
    terminalreporter: pytest.TerminalReporter, outcomes: Sequence[str]
) -> list[tuple[str, str]]:
    """Name and value of each property of the tests that ended so."""
    return [
        (name, text)
        for outcome in outcomes
        for report in terminalreporter.getreports(outcome)
        for name, text in getattr(report, "user_properties", ())
    ]
