"""Wrong samplers: other tensors than they were given, and memory (TNS-10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gallery.textbook import Row, Textbook


class Float64Returned(Textbook):
    def output(self, logits: Row) -> Row:
        return logits.astype(np.float64)


class ShapeFlattened(Textbook):
    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        return super().apply(logits, n).reshape(-1)


class DeviceChanged(Textbook):
    arrays = "torch"

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        super().apply(logits.numpy(), n)
        return logits.to("meta")


class InputAltered(Textbook):
    def output(self, logits: Row) -> Row:
        result = logits.copy()
        logits[:, 0] = 0.0
        return result


class InputNotAltered(Textbook):
    in_place = True


class WritesOutsideItsRows(Textbook):
    in_place = True

    def output(self, logits: Row) -> Row:
        rows, tokens = logits.shape
        pitch = logits.strides[0] // logits.strides[1]
        if pitch > tokens:
            padded = np.lib.stride_tricks.as_strided(
                logits, shape=(rows, pitch), strides=logits.strides
            )
            padded[:, tokens:] = self.fill
        return logits


class MemoryLeaked(Textbook):
    def __init__(self, device: str | None = None) -> None:
        super().__init__(device)
        self._results: list[Row] = []

    def output(self, logits: Row) -> Row:
        self._results.append(logits.copy())
        return self._results[-1]
