"""Wrong samplers: rows that see others, bad sums, foreign tensors, memory (TNS-8 to TNS-11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gallery.textbook import Row, Textbook


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
