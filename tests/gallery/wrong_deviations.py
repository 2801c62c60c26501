"""Wrong samplers: what they take for σ (TNS-4)."""

from __future__ import annotations

import math

import numpy as np
from gallery.textbook import Mask, Row, Textbook


class PopulationDivisor(Textbook):
    def sigma(self, row: Row) -> float:
        return float(row.astype(np.float64).std())


class VarianceForDeviation(Textbook):
    def sigma(self, row: Row) -> float:
        return super().sigma(row) ** 2


class MedianForDeviation(Textbook):
    def sigma(self, row: Row) -> float:
        values = row.astype(np.float64)
        return 1.4826 * float(np.median(np.abs(values - np.median(values))))


class EpsilonInDeviation(Textbook):
    def sigma(self, row: Row) -> float:
        return math.sqrt(super().sigma(row) ** 2 + 1e-5)


class DeviationOffByThousandth(Textbook):
    def sigma(self, row: Row) -> float:
        return 1.001 * super().sigma(row)


class DeviationOffByTenThousandth(Textbook):
    def sigma(self, row: Row) -> float:
        return 1.0001 * super().sigma(row)


class FirstTokenNotCounted(Textbook):
    def sigma(self, row: Row) -> float:
        return super().sigma(row[1:] if row.size > 2 else row)


class TailNotCounted(Textbook):
    def sigma(self, row: Row) -> float:
        return super().sigma(row[: row.size - row.size % 8] if row.size > 8 else row)


class PaddingCounted(Textbook):
    def sigma(self, row: Row) -> float:
        return super().sigma(np.pad(row, (0, -row.size % 8)))


class DeviationOfBest(Textbook):
    def sigma(self, row: Row) -> float:
        return super().sigma(np.sort(row)[-max(2, row.size // 2) :])


class DeviationOfDistinct(Textbook):
    def sigma(self, row: Row) -> float:
        return super().sigma(np.unique(row))


class OneTokenRowMasked(Textbook):
    """No comparison with NaN holds."""

    def left_alone(self, row: Row) -> bool:
        return row.size > 1 and super().left_alone(row)

    def sigma(self, row: Row) -> float:
        return super().sigma(row) if row.size > 1 else math.nan

    def masked(self, row: Row, threshold: float) -> Mask:
        return np.asarray(~(row.astype(np.float64) >= threshold))


class ConstantRowMasked(Textbook):
    def truncate(self, row: Row, n: float) -> None:
        if np.isfinite(row).all() and row.size > 1 and np.ptp(row) == 0:
            distance = (row - row.max()) / np.float64(0.0)
            row[~(distance >= -n)] = self.fill
        else:
            super().truncate(row, n)
