"""Wrong samplers: what they accept as n, and which rows they leave alone (TNS-1 to TNS-3)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gallery.textbook import Mask, Row, Textbook


class AcceptsZero(Textbook):
    """n = 0 means greedy."""

    breaks = "TNS-1"

    def number(self, value: Any) -> float | None:
        zero = isinstance(value, (int, float)) and not isinstance(value, bool) and value == 0
        return 0.0 if zero else super().number(value)


class AcceptsNegative(Textbook):
    """n < 0 switches off."""

    breaks = "TNS-1"

    def number(self, value: Any) -> float | None:
        if isinstance(value, (int, float)) and -math.inf < value < 0:
            return None
        return super().number(value)


class AcceptsNaN(Textbook):
    """A check of the form ``if n <= 0: raise`` lets NaN pass."""

    breaks = "TNS-1"

    def number(self, value: Any) -> float | None:
        nan = isinstance(value, float) and math.isnan(value)
        return None if nan else super().number(value)


class AcceptsInfinity(Textbook):
    """A check of the form ``if not n > 0: raise`` lets +inf pass."""

    breaks = "TNS-1"

    def number(self, value: Any) -> float | None:
        return None if value == math.inf else super().number(value)


class AcceptsBool(Textbook):
    """True is an int in Python."""

    breaks = "TNS-1"

    def number(self, value: Any) -> float | None:
        return 1.0 if value is True else super().number(value)


class AcceptsString(Textbook):
    """float("2.0") is a number in Python."""

    breaks = "TNS-1"

    def number(self, value: Any) -> float | None:
        return super().number(float(value) if isinstance(value, str) else value)


class DisabledRowMadeGreedy(Textbook):
    """None and 0 and greedy are one to it."""

    breaks = "TNS-2"

    def disabled(self, row: Row) -> None:
        if np.isfinite(row).all():
            row[row < row.max()] = self.fill


class NaNRowMasked(Textbook):
    """Comparing with a NaN threshold keeps nothing."""

    breaks = "TNS-3"

    def left_alone(self, row: Row) -> bool:
        return not np.isnan(row).any() and super().left_alone(row)

    def masked(self, row: Row, threshold: float) -> Mask:
        return np.asarray(~(row.astype(np.float64) >= threshold))


class NaNPayloadCanonicalised(Textbook):
    """Rewrites NaNs as the canonical one."""

    breaks = "TNS-3"

    def truncate(self, row: Row, n: float) -> None:
        row[np.isnan(row)] = np.nan
        super().truncate(row, n)


class PositiveInfinityRowMasked(Textbook):
    """Keeps only the +inf."""

    breaks = "TNS-3"

    def left_alone(self, row: Row) -> bool:
        return not np.isposinf(row).any() and super().left_alone(row)

    def masked(self, row: Row, threshold: float) -> Mask:
        return row != np.inf if np.isposinf(row).any() else super().masked(row, threshold)


class NegativeInfinityExcluded(Textbook):
    """Another dialect than it declares."""

    breaks = "TNS-3"

    def left_alone(self, row: Row) -> bool:
        counted = row[row != -np.inf]
        return counted.size < 2 or super().left_alone(counted)

    def sigma(self, row: Row) -> float:
        return super().sigma(row[row != -np.inf])
