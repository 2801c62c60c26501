"""The parameter n: what is accepted, and as which exact number (TNS-1)."""

from __future__ import annotations

import math
import numbers
from fractions import Fraction

from topnsigma_reference.dialect import RFC, Dialect

ACCEPTED = "a finite real number > 0 (not a bool), or None to disable"


def parse_n(value: object, dialect: Dialect = RFC, *, name: str = "n") -> Fraction | None:
    """The exact n that ``value`` means, or None where the row is disabled (TNS-1).

    The number meant is the binary64 nearest to ``value``: that is what JSON, C and every engine
    carry. A value that is 0 or infinite as binary64 (``10**400``) is therefore outside the domain.

    Args:
        value: what a caller passed as n. Numbers are the instances of :class:`numbers.Real` other
            than bool: int, float, Fraction, numpy's real scalars; not Decimal, not 0-d arrays.
        dialect: ``invalid_n`` says whether a value outside the domain raises or disables.
        name: the parameter's name in the error.

    Raises:
        ValueError: ``value`` is outside the domain and ``dialect.invalid_n`` is ``reject``.
    """
    if value is None:
        return None
    number = _binary64(value)
    if math.isfinite(number) and number > 0:
        return Fraction(number)
    if dialect.invalid_n == "disable":
        return None
    raise ValueError(f"{name} must be {ACCEPTED}; got {_shown(value)}")


def _binary64(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return math.nan
    # A number of somebody else's making may raise anything; TNS-1 promises a ValueError that names
    # the value, so "does not convert" and "is not a number" have to come out alike.
    try:
        return float(value)
    except Exception:
        return math.nan


def _shown(value: object, limit: int = 80) -> str:
    # repr of an int of a million digits raises (and would be no use if it did not).
    try:
        text = repr(value)
    except Exception:
        text = f"an unprintable {type(value).__name__}"
    return text if len(text) <= limit else f"{text[:limit]}… ({type(value).__name__})"
