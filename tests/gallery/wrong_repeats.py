"""Wrong samplers: calls that differ though their input does not (TNS-11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gallery.textbook import Row, Textbook


class CutWanders(Textbook):
    _calls = 0

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        self._calls += 1
        return super().apply(logits, n)

    def sigma(self, row: Row) -> float:
        # Short rows have one thread, and so one order.
        drift = 0.0 if row.size <= 32 else 1e-6 if self._calls % 2 else -1e-6
        return super().sigma(row) * (1 + drift)


class LastDeviationLeaks(Textbook):
    _last = 0.0

    def sigma(self, row: Row) -> float:
        sigma, last = super().sigma(row), self._last
        self._last = sigma
        return sigma * (1 + 1e-6 * (last > sigma)) if row.size > 32 else sigma


class LastNUsed(Textbook):
    """Takes the row for a sign that the request is the same."""

    _logits: Row = np.empty((0, 0), np.float32)
    _n: Sequence[Any] = ()

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        for entry in n:
            self.number(entry)
        same = np.array_equal(logits, self._logits)
        used = self._n if same else n
        self._logits, self._n = logits.copy(), n
        return super().apply(logits, used)
