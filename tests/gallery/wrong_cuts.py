"""Wrong samplers: σ, the threshold, and what becomes of a token (TNS-4 to TNS-7)."""

from __future__ import annotations

import math

import numpy as np
from gallery.textbook import Mask, Row, Textbook


class PopulationDivisor(Textbook):
    """V for V - 1."""

    breaks = "TNS-4"

    def sigma(self, row: Row) -> float:
        return float(row.astype(np.float64).std())


class VarianceForSigma(Textbook):
    """The square root is missing."""

    breaks = "TNS-4"

    def sigma(self, row: Row) -> float:
        return super().sigma(row) ** 2


class FirstTokenNotCounted(Textbook):
    """A sum that starts at index 1."""

    breaks = "TNS-4"

    def sigma(self, row: Row) -> float:
        return super().sigma(row[1:]) if row.size > 2 else super().sigma(row)


class TailNotCounted(Textbook):
    """A sum over whole blocks of 8, where there is one."""

    breaks = "TNS-4"

    def sigma(self, row: Row) -> float:
        return super().sigma(row[: row.size - row.size % 8] if row.size > 8 else row)


class OneTokenRowMasked(Textbook):
    """The sample deviation of one number is 0/0, and no comparison with NaN holds."""

    breaks = "TNS-4"

    def left_alone(self, row: Row) -> bool:
        return row.size > 1 and super().left_alone(row)

    def sigma(self, row: Row) -> float:
        return super().sigma(row) if row.size > 1 else math.nan

    def masked(self, row: Row, threshold: float) -> Mask:
        return np.asarray(~(row.astype(np.float64) >= threshold))


class ConstantRowMasked(Textbook):
    """Divides by σ, which is 0."""

    breaks = "TNS-4"

    def truncate(self, row: Row, n: float) -> None:
        if np.isfinite(row).all() and row.size > 1 and np.ptp(row) == 0:
            distance = (row - row.max()) / np.float64(0.0)
            row[~(distance >= -n)] = self.fill
        else:
            super().truncate(row, n)


class MeanForMaximum(Textbook):
    """Counts deviations from the mean."""

    breaks = "TNS-5"
    blamed = "TNS-4"

    def maximum(self, row: Row) -> float:
        return float(row.astype(np.float64).mean())


class MaximumFromZero(Textbook):
    """A running maximum that starts at 0."""

    breaks = "TNS-5"

    def maximum(self, row: Row) -> float:
        return max(0.0, super().maximum(row))


class GreaterForGreaterEqual(Textbook):
    """Masks a logit that is equal to t, unless it is the maximum."""

    breaks = "TNS-5"

    def masked(self, row: Row, threshold: float) -> Mask:
        return np.asarray((row.astype(np.float64) <= threshold) & (row < row.max()))


class LowestFloatFill(Textbook):
    """torch.finfo(...).min."""

    breaks = "TNS-5"
    fill = float(np.finfo(np.float32).min)


class BillionFill(Textbook):
    """-1e9 was -inf enough."""

    breaks = "TNS-5"
    fill = -1e9


class TailNotMasked(Textbook):
    """A masking loop over whole vectors of 4, where there is one."""

    breaks = "TNS-5"
    blamed = "TNS-4"

    def masked(self, row: Row, threshold: float) -> Mask:
        masked = super().masked(row, threshold)
        if row.size > 4:
            masked[row.size - row.size % 4 :] = False
        return masked


class SurvivorsShifted(Textbook):
    """Returns x - max, as a softmax would."""

    breaks = "TNS-6"

    def truncate(self, row: Row, n: float) -> None:
        alone = self.left_alone(row)
        super().truncate(row, n)
        if not alone:
            row -= row.max()


class NegativeZeroNormalised(Textbook):
    """x + 0.0."""

    breaks = "TNS-6"

    def truncate(self, row: Row, n: float) -> None:
        alone = self.left_alone(row)
        super().truncate(row, n)
        if not alone:
            row += 0.0


class OneOfTiedMaximaLost(Textbook):
    """Keeps what is above t, and the argmax."""

    breaks = "TNS-7"

    def masked(self, row: Row, threshold: float) -> Mask:
        masked = super().masked(row, threshold)
        top = np.flatnonzero(row == row.max())
        masked[top[1:]] = True
        return masked
