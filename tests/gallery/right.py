"""Samplers that are right, each by another arithmetic. The suite must never blame one of them.

Those that sum in another order, or elsewhere than in numpy, have modules of their own.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gallery import right_engines, right_orders
from gallery.right_engines import *  # noqa: F403
from gallery.right_orders import *  # noqa: F403
from gallery.textbook import Float32Threshold, Mask, Row, Textbook

from topnsigma_conformance import Dialect

_F32 = np.float32


def _deviation(squares: Any, count: int, spare: int = 1) -> float:
    """√(squares / (count - spare)) in float32."""
    return float(np.sqrt(_F32(squares) / _F32(count - spare)))


class TwoPassBinary64(Textbook):
    """numpy in float64; claims everything, in every format."""

    extreme = True
    dtypes = ("float32", "float16", "bfloat16")

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        if logits.dtype != np.uint16:
            return super().apply(logits, n)
        wide = (logits.astype(np.uint32) << np.uint32(16)).view(np.float32)
        masked = np.isneginf(super().apply(wide, n)) & ~np.isneginf(wide)
        return np.where(masked, np.uint16(0xFF80), logits)


class TwoPassFloat32(Float32Threshold):
    """numpy's own float32 standard deviation, in pairwise sums."""

    def sigma(self, row: Row) -> float:
        return float(row.std(ddof=1))


class CorrectlyRoundedSums(Textbook):
    """math.fsum."""

    def sigma(self, row: Row) -> float:
        values = row.astype(np.float64)
        deviations = values - math.fsum(values) / row.size
        return math.sqrt(math.fsum(deviations * deviations) / (row.size - 1))


class Candidates(TwoPassFloat32):
    """The same in llama.cpp's dialect."""

    dialect = Dialect(sigma="population", neg_inf="exclude", invalid_n="disable")

    def number(self, value: Any) -> float | None:
        try:
            return super().number(value)
        except ValueError:
            return None

    def left_alone(self, row: Row) -> bool:
        counted = row[row != -np.inf]
        return counted.size < 2 or super().left_alone(counted)

    def sigma(self, row: Row) -> float:
        counted = row[row != -np.inf]
        return super().sigma(counted) * math.sqrt((counted.size - 1) / counted.size)


class Welford(Float32Threshold):
    """Welford's update in float32; long rows on 64 lanes that are merged by Chan's formula.

    One lane for every row would take Python minutes.
    """

    def sigma(self, row: Row) -> float:
        lanes = 1 if row.size <= 256 else 64
        steps = -(-row.size // lanes)
        padded = np.zeros(steps * lanes, _F32)
        padded[: row.size] = row
        mean: Row = np.zeros(lanes, _F32)
        squares: Row = np.zeros(lanes, _F32)
        for step, values in enumerate(padded.reshape(steps, lanes)):
            live = np.arange(lanes) + step * lanes < row.size
            delta = np.where(live, values - mean, _F32(0))
            mean = mean + delta / _F32(step + 1)
            squares = squares + delta * np.where(live, values - mean, _F32(0))
        counts = np.full(lanes, steps, np.int64)
        counts[row.size - (steps - 1) * lanes :] -= 1
        return _deviation(_merged(list(zip(counts.tolist(), mean, squares, strict=True))), row.size)


def _merged(parts: list[tuple[int, Any, Any]]) -> Any:
    """Σ(x - mean)² of all (count, mean, Σ(x - mean)²), in float32, by Chan's formula."""
    count, mean, squares = parts[0]
    for other_count, other_mean, other_squares in parts[1:]:
        if not other_count:
            continue
        total = count + other_count
        delta = other_mean - mean
        share = _F32(other_count) / _F32(total)
        mean = mean + delta * share
        squares = squares + other_squares + delta * delta * _F32(count) * share
        count = total
    return squares


class Tiles(Float32Threshold):
    """Tiles of 1,000 tokens, two passes each, merged by Chan's formula."""

    tile = 1000

    def sigma(self, row: Row) -> float:
        parts = []
        for start in range(0, row.size, self.tile):
            values = row[start : start + self.tile]
            mean = values.sum(dtype=_F32) / _F32(values.size)
            deviations = values - mean
            parts.append((values.size, mean, (deviations * deviations).sum(dtype=_F32)))
        return _deviation(_merged(parts), row.size)


class Tiles4096(Tiles):
    """The tile of a GPU kernel."""

    tile = 4096


class ShiftedByMaximum(Textbook):
    """Works on x - max, as a softmax does, in float64."""

    def truncate(self, row: Row, n: float) -> None:
        if self.left_alone(row):
            return
        shifted = row.astype(np.float64) - float(row.max())
        row[shifted < -n * shifted.std(ddof=1)] = self.fill


class Squared(Textbook):
    """(max - x)² <= n²·σ²: no square root."""

    def truncate(self, row: Row, n: float) -> None:
        if self.left_alone(row):
            return
        distance = float(row.max()) - row.astype(np.float64)
        row[distance * distance > n * n * row.var(ddof=1, dtype=np.float64)] = self.fill


class Distance(TwoPassFloat32):
    """max - x <= n·σ in float32."""

    def truncate(self, row: Row, n: float) -> None:
        if not self.left_alone(row):
            row[row.max() - row > _F32(n) * _F32(self.sigma(row))] = self.fill


class ThresholdRoundedUp(Textbook):
    """t to the next float32 above, unless it is one."""

    direction = math.inf

    def masked(self, row: Row, threshold: float) -> Mask:
        rounded = _F32(threshold)
        if self.direction * (threshold - float(rounded)) > 0:
            rounded = np.nextafter(rounded, _F32(self.direction))
        return np.asarray(row < min(rounded, row.max()))


class ThresholdRoundedDown(ThresholdRoundedUp):
    """t to the next float32 below, unless it is one."""

    direction = -math.inf


class InPlace(TwoPassFloat32):
    """Writes into its input, strides and all."""

    in_place = True

    def output(self, logits: Row) -> Row:
        return logits


class OneRowAtATime(TwoPassFloat32):
    """Takes no batches and no strides."""

    batched = False
    strided = False

    def output(self, logits: Row) -> npt.NDArray[Any]:
        assert len(logits) == 1
        return super().output(logits)


STRUCTURES: tuple[type[Textbook], ...] = (
    TwoPassBinary64,
    InPlace,
    OneRowAtATime,
    right_engines.TorchFloat32,
    right_engines.NarrowStorage,
)
"""Those that differ from one another in more than arithmetic."""

ALL: tuple[type[Textbook], ...] = tuple(
    value
    for module in (__name__, right_orders.__name__, right_engines.__name__)
    for value in vars(sys.modules[module]).values()
    if isinstance(value, type) and issubclass(value, Textbook) and value.__module__ == module
)
"""Every class of the three modules."""
