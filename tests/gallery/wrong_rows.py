"""Wrong samplers: which rows they leave alone (TNS-2 and TNS-3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gallery.textbook import Mask, Row, Textbook


class DisabledRowMadeGreedy(Textbook):
    def disabled(self, row: Row) -> None:
        if np.isfinite(row).all():
            row[row < row.max()] = self.fill


class DisabledRowMadeGreedyInBatch(Textbook):
    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        self._all_disabled = all(entry is None for entry in n)
        return super().apply(logits, n)

    def disabled(self, row: Row) -> None:
        if not self._all_disabled and np.isfinite(row).all():
            row[row < row.max()] = self.fill


class DisabledRowNormalised(Textbook):
    def disabled(self, row: Row) -> None:
        row += 0.0


class _KeepsWhatIsAbove(Textbook):
    """Nothing is above a threshold that is NaN."""

    def masked(self, row: Row, threshold: float) -> Mask:
        return np.asarray(~(row.astype(np.float64) >= threshold))


class NaNRowMasked(_KeepsWhatIsAbove):
    def left_alone(self, row: Row) -> bool:
        return not np.isnan(row).any() and super().left_alone(row)


class NaNIgnored(Textbook):
    def left_alone(self, row: Row) -> bool:
        numbers = row[~np.isnan(row)]
        return not numbers.size or super().left_alone(numbers)

    def maximum(self, row: Row) -> float:
        return float(np.fmax.reduce(row))

    def sigma(self, row: Row) -> float:
        return float(np.nanstd(row.astype(np.float64), ddof=1))


class NaNPayloadCanonicalised(Textbook):
    def truncate(self, row: Row, n: float) -> None:
        row[np.isnan(row)] = np.nan
        super().truncate(row, n)


class PositiveInfinityRowMasked(Textbook):
    def left_alone(self, row: Row) -> bool:
        return not np.isposinf(row).any() and super().left_alone(row)

    def masked(self, row: Row, threshold: float) -> Mask:
        return row != np.inf if np.isposinf(row).any() else super().masked(row, threshold)


class PositiveInfinityDropped(Textbook):
    def truncate(self, row: Row, n: float) -> None:
        infinite = np.isposinf(row)
        rest = row[~infinite]
        super().truncate(rest, n)
        row[~infinite] = rest
        row[infinite] = self.fill


class NegativeInfinityRowMasked(_KeepsWhatIsAbove):
    def left_alone(self, row: Row) -> bool:
        return not np.isneginf(row).any() and super().left_alone(row)


class NegativeInfinityExcluded(Textbook):
    def left_alone(self, row: Row) -> bool:
        counted = row[row != -np.inf]
        return counted.size < 2 or super().left_alone(counted)

    def sigma(self, row: Row) -> float:
        return super().sigma(row[row != -np.inf])


class NegativeInfinityAsZero(Textbook):
    def left_alone(self, row: Row) -> bool:
        return bool(np.isneginf(row).all()) or super().left_alone(_zeroed(row))

    def sigma(self, row: Row) -> float:
        return super().sigma(_zeroed(row))


def _zeroed(row: Row) -> Row:
    return np.where(np.isneginf(row), np.zeros_like(row), row)


class FinitenessSampled(_KeepsWhatIsAbove):
    def left_alone(self, row: Row) -> bool:
        return super().left_alone(row[:64])
