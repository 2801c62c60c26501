"""Right samplers that sum in other orders, or about other points."""

from __future__ import annotations

import math

import numpy as np
from gallery.textbook import Float32Threshold, Row, Textbook


class ReversedOrder(Float32Threshold):
    """Sums from the last token to the first."""

    def sigma(self, row: Row) -> float:
        return float(row[::-1].std(ddof=1))


class SortedOrder(Float32Threshold):
    """Sums from the smallest logit to the largest."""

    def sigma(self, row: Row) -> float:
        return float(np.sort(row).std(ddof=1))


class PairwiseSums(Float32Threshold):
    """Adds neighbours, then neighbouring sums, down to one, in float32."""

    def sigma(self, row: Row) -> float:
        deviations = row - _pairwise(row) / np.float32(row.size)
        return float(np.sqrt(_pairwise(deviations * deviations) / np.float32(row.size - 1)))


def _pairwise(values: Row) -> np.float32:
    while values.size > 1:
        even, odd = values[0::2], values[1::2]
        sums = even.copy()
        sums[: odd.size] += odd
        values = sums
    return np.float32(values[0])


class ShiftedByFirst(Textbook):
    """One pass over x - x₀ in float64: the squares of distances, less the square of their sum."""

    def sigma(self, row: Row) -> float:
        distances = row.astype(np.float64) - float(row[0])
        squares = float((distances * distances).sum()) - float(distances.sum()) ** 2 / row.size
        return math.sqrt(max(squares, 0.0) / (row.size - 1))


class PlainPython(Textbook):
    """Python's own floats, one token after the other."""

    def sigma(self, row: Row) -> float:
        values = row.tolist()
        mean = 0.0
        for value in values:
            mean += value
        mean /= len(values)
        squares = 0.0
        for value in values:
            squares += (value - mean) * (value - mean)
        return math.sqrt(squares / (len(values) - 1))
