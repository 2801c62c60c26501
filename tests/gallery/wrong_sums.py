"""Wrong samplers: the accuracy of the threshold, and a cut that is not one (TNS-9)."""

from __future__ import annotations

import numpy as np
from gallery.textbook import Mask, Row, Textbook


class OnePassVariance(Textbook):
    def sigma(self, row: Row) -> float:
        size = np.float32(row.size)
        mean = row.sum(dtype=np.float32) / size
        square = (row * row).sum(dtype=np.float32) / size
        variance = max(square - mean * mean, np.float32(0.0)) * (size / (size - np.float32(1)))
        return float(np.sqrt(variance))


class SerialSums(Textbook):
    """A few large deviations swallow the small ones that follow.

    Right on most rows that models emit; 2^-15 of σ is passed where some tokens are banned at -1e4.
    """

    def sigma(self, row: Row) -> float:
        # The last of the running sums is the serial one; .sum() would be pairwise.
        mean = np.cumsum(row, dtype=np.float32)[-1] / np.float32(row.size)
        squares = np.cumsum((row - mean) ** 2, dtype=np.float32)[-1]
        return float(np.sqrt(squares / np.float32(row.size - 1)))


class Float16Sums(Textbook):
    def sigma(self, row: Row) -> float:
        return float(row.astype(np.float16).std(ddof=1, dtype=np.float16))


class SquaresOverflow(Textbook):
    extreme = True

    def sigma(self, row: Row) -> float:
        return float(row.std(ddof=1))


class EverySecondTieLost(Textbook):
    """A parallel selection that counts to half of the tokens at the rounded threshold."""

    def masked(self, row: Row, threshold: float) -> Mask:
        rounded = min(np.float32(threshold), row.max())
        masked = np.asarray(row < rounded)
        at_the_cut = np.flatnonzero((row == rounded) & (row < row.max()))
        masked[at_the_cut[1::2]] = True
        return masked
