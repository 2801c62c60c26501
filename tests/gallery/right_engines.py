"""Right samplers that do not compute in numpy."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any

from gallery.textbook import Row, Textbook


class TorchFloat32(Textbook):
    """torch.std over each row, in float32."""

    arrays = "torch"

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        import torch

        numbers = [self.number(entry) for entry in n]
        result = logits.clone()
        for row, number in zip(result, numbers, strict=True):
            wide = row.float()
            if number is None or row.numel() < 2 or not torch.isfinite(wide).all():
                continue
            if (wide != wide[0]).any():
                row.masked_fill_(wide < wide.max() - number * wide.std(), -math.inf)
        return result


class NarrowStorage(TorchFloat32):
    """The same for logits of two bytes."""

    dtypes = ("bfloat16", "float16")


class Compiled(Textbook):
    """Two passes with float64 accumulators, by numba."""

    def sigma(self, row: Row) -> float:
        return _compiled_deviation()(row)


@functools.cache
def _compiled_deviation() -> Callable[[Row], float]:
    # By name: it has no types, and is in no environment but that of these tests.
    numba: Any = importlib.import_module("numba")
    compiled: Callable[[Row], float] = numba.njit(_deviation)
    return compiled


def _deviation(row: Row) -> float:
    mean = 0.0
    for value in row:
        mean += value
    mean /= row.size
    squares = 0.0
    for value in row:
        squares += (value - mean) ** 2
    return math.sqrt(squares / (row.size - 1))
