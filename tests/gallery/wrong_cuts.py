"""Wrong samplers: the threshold, and what becomes of the tokens below it (TNS-5)."""

from __future__ import annotations

import numpy as np
from gallery.textbook import Mask, Row, Textbook


class MeanForMaximum(Textbook):
    def maximum(self, row: Row) -> float:
        return float(row.astype(np.float64).mean())


class MaximumFromZero(Textbook):
    def maximum(self, row: Row) -> float:
        return max(0.0, super().maximum(row))


class LastTokenNotCompared(Textbook):
    def maximum(self, row: Row) -> float:
        return super().maximum(row[:-1])


class GreaterForGreaterEqual(Textbook):
    """Keeps the maximum all the same."""

    def masked(self, row: Row, threshold: float) -> Mask:
        return np.asarray((row.astype(np.float64) <= threshold) & (row < row.max()))


class Bfloat16Threshold(Textbook):
    def masked(self, row: Row, threshold: float) -> Mask:
        bits = int(np.float32(threshold).view(np.uint32))
        nearest_even = bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000
        return super().masked(row, float(np.uint32(nearest_even).view(np.float32)))


class TemperatureOnOneSide(Textbook):
    def masked(self, row: Row, threshold: float) -> Mask:
        return np.asarray(row.astype(np.float64) / 0.8 < threshold)


class AbsoluteValues(Textbook):
    def masked(self, row: Row, threshold: float) -> Mask:
        return super().masked(np.abs(row), threshold)


class ThresholdLoosened(Textbook):
    def masked(self, row: Row, threshold: float) -> Mask:
        return super().masked(row, threshold - 0.001)


class LowestFloatFill(Textbook):
    fill = float(np.finfo(np.float32).min)


class BillionFill(Textbook):
    fill = -1e9


class TailNotMasked(Textbook):
    def masked(self, row: Row, threshold: float) -> Mask:
        masked = super().masked(row, threshold)
        if row.size > 4:
            masked[row.size - row.size % 4 :] = False
        return masked


class FirstTokenLost(Textbook):
    def masked(self, row: Row, threshold: float) -> Mask:
        masked = super().masked(row, threshold)
        masked[0] |= row[0] < row.max()
        return masked


class KeepsTwo(Textbook):
    def masked(self, row: Row, threshold: float) -> Mask:
        masked = super().masked(row, threshold)
        masked[np.argsort(-row, kind="stable")[:2]] = False
        return masked


class KeepsSixtyFour(Textbook):
    def masked(self, row: Row, threshold: float) -> Mask:
        masked = super().masked(row, threshold)
        masked[np.argsort(-row, kind="stable")[64:]] = True
        return masked
