"""The suite as pytest tests, one a check.

Run it on an implementation by name::

    pytest --pyargs topnsigma_conformance.suite --tns-implementation mymodule:Mine

or import it into a test module of your own that defines an ``implementation`` fixture (session
scope)::

    from topnsigma_conformance.suite import *
"""

from __future__ import annotations

import warnings

import pytest

from topnsigma_conformance.check import Check
from topnsigma_conformance.printable import printable, printable_lines
from topnsigma_conformance.report import CONFORMING
from topnsigma_conformance.session import Session

__all__ = ["QualityWarning", "test_conformance"]


class QualityWarning(UserWarning):
    """The implementation conforms, but not as tightly as it could."""


def test_conformance(tns_check: Check, tns_session: Session) -> None:
    """The implementation passes this check."""
    result = tns_session.run(tns_check)
    if result.status in ("unsupported", "waived"):
        pytest.skip(f"{result.status}: {printable(result.detail)}")
    if result.status == "quality-warning":
        warnings.warn(f"{result.check}: {result.detail}", QualityWarning, stacklevel=1)
    # The detail says so where a waiver has expired, or was not needed.
    failure = printable_lines(str(result.failure)) if result.failure else ""
    said = filter(None, (printable(result.detail), failure))
    assert result.status in CONFORMING, "\n".join(said)
