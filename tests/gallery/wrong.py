"""Samplers that are wrong in one way each, named after it. ``breaks`` is the rule to blame.

Each has been seen in some engine, or is a mistake that is easily made. ``blamed`` is the rule that
the first failing check may name instead, where its evidence (a token kept or masked wrongly) fits
more than one fault; a check of the rule that is broken fails all the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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


class BatchWideSigma(Textbook):
    """One σ over all rows of the batch."""

    breaks = "TNS-8"

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        self._batch = logits[np.isfinite(logits).all(axis=1)]
        return super().apply(logits, n)

    def sigma(self, row: Row) -> float:
        return float(self._batch.astype(np.float64).std(ddof=1))


class FirstRowsNForAll(Textbook):
    """One request's parameter for the whole batch."""

    breaks = "TNS-8"

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        for entry in n:
            self.number(entry)
        return super().apply(logits, [n[0]] * len(n))


class StridesIgnored(Textbook):
    """Reads the rows as if they were contiguous."""

    breaks = "TNS-8"

    def output(self, logits: Row) -> Row:
        rows, tokens = logits.shape
        # Within the memory of the batch: a batch that was packed reaches at least as far.
        flat = np.lib.stride_tricks.as_strided(
            logits, shape=(rows, tokens), strides=(tokens * logits.itemsize, logits.itemsize)
        )
        return flat.copy()


class OnePassFloat32(Textbook):
    """E[x²] - E[x]² in float32."""

    breaks = "TNS-9"
    blamed = "TNS-5"

    def sigma(self, row: Row) -> float:
        size = np.float32(row.size)
        mean = row.sum(dtype=np.float32) / size
        square = (row * row).sum(dtype=np.float32) / size
        variance = max(square - mean * mean, np.float32(0.0)) * (size / (size - np.float32(1)))
        return float(np.sqrt(variance))


class SerialFloat32(Textbook):
    """One token after the other: a few large deviations swallow the small ones that follow.

    Right on most rows that models emit; 2^-15 of σ is passed where some tokens are banned at -1e4.
    """

    breaks = "TNS-9"

    def sigma(self, row: Row) -> float:
        # The last of the running sums is the serial one; .sum() would be pairwise.
        mean = np.cumsum(row, dtype=np.float32)[-1] / np.float32(row.size)
        squares = np.cumsum((row - mean) ** 2, dtype=np.float32)[-1]
        return float(np.sqrt(squares / np.float32(row.size - 1)))


class Float16Sums(Textbook):
    """Sums in float16."""

    breaks = "TNS-9"
    blamed = "TNS-4"

    def sigma(self, row: Row) -> float:
        return float(row.astype(np.float16).std(ddof=1, dtype=np.float16))


class Float64Returned(Textbook):
    """The result of arithmetic that nobody cast back."""

    breaks = "TNS-10"

    def output(self, logits: Row) -> Row:
        return logits.astype(np.float64)


class InputAltered(Textbook):
    """Declares to copy, and scribbles on its input."""

    breaks = "TNS-10"

    def output(self, logits: Row) -> Row:
        result = logits.copy()
        logits[:, 0] = 0.0
        return result


class CutWanders(Textbook):
    """A sum whose rounding depends on which thread finishes first."""

    breaks = "TNS-11"
    _calls = 0

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        self._calls += 1
        return super().apply(logits, n)

    def sigma(self, row: Row) -> float:
        # Short rows have one thread.
        drift = 0.0 if row.size <= 32 else 1e-6 if self._calls % 2 else -1e-6
        return super().sigma(row) * (1 + drift)


class LastCallLeaks(Textbook):
    """A workspace that is not cleared: σ of the last call is in this one, a little."""

    breaks = "TNS-11"
    _last = 0.0

    def sigma(self, row: Row) -> float:
        sigma, last = super().sigma(row), self._last
        self._last = sigma
        return sigma * (1 + 1e-6 * (last > sigma)) if row.size > 32 else sigma


ALL = tuple(
    value
    for value in list(globals().values())
    if isinstance(value, type) and issubclass(value, Textbook) and value is not Textbook
)
"""Every class above, in the order of the rules."""
