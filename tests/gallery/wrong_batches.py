"""Wrong samplers: rows that depend on other rows, or on where they lie (TNS-8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gallery.textbook import Row, Textbook


class _SeesTheBatch(Textbook):
    """Keeps the rows that have a deviation at hand."""

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        self._batch = logits[np.isfinite(logits).all(axis=1)].astype(np.float64)
        return super().apply(logits, n)


class BatchWideDeviation(_SeesTheBatch):
    def sigma(self, row: Row) -> float:
        return float(self._batch.std(ddof=1))


class BatchWideMaximum(_SeesTheBatch):
    def maximum(self, row: Row) -> float:
        return float(self._batch.max())


class FirstRowsNForAll(Textbook):
    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        for entry in n:
            self.number(entry)
        return super().apply(logits, [n[0]] * len(n))


class RowOffByOne(Textbook):
    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        return super().apply(logits, [*n[1:], n[0]] if len(n) % 2 else n)


class StridesIgnored(Textbook):
    def output(self, logits: Row) -> Row:
        rows, tokens = logits.shape
        # Within the memory of the batch: a batch that was packed reaches at least as far.
        flat = np.lib.stride_tricks.as_strided(
            logits, shape=(rows, tokens), strides=(tokens * logits.itemsize, logits.itemsize)
        )
        return flat.copy()


class RowsAliased(Textbook):
    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        return np.broadcast_to(super().apply(logits, n)[-1:], logits.shape)
