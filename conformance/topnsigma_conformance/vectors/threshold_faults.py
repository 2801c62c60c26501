"""Models of the faults that show as another threshold or as another σ.

Each says what a sampler with this fault would compare with, in binary64 arithmetic that is rounded
correctly everywhere, so that a vector claims a fault only where it shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from topnsigma_conformance.vectors.draw import float32
from topnsigma_conformance.vectors.scene import Scene, deviation
from topnsigma_conformance.vectors.words import value_of, word


def _median(values: list[float]) -> float:
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _median_deviation(row: Scene) -> float:
    centre = _median(row.values)
    return 1.4826 * _median([abs(x - centre) for x in row.values])


def _whole_blocks(row: Scene) -> float:
    size = len(row.values)
    return deviation(row.values[: size - size % 8] if size > 8 else row.values)


def _padded(row: Scene) -> float:
    return deviation(row.values + [0.0] * (-len(row.values) % 8))


def _from_second(row: Scene) -> float:
    return deviation(row.values[1:] if len(row.values) > 2 else row.values)


def _float32_sum(values: list[float], lanes: int) -> float:
    """A float32 sum on several lanes, which are added up at the end."""
    sums = [0.0] * lanes
    for index, x in enumerate(values):
        sums[index % lanes] = float32(sums[index % lanes] + x)
    while len(sums) > 1:
        sums = [float32(a + b) for a, b in zip(sums[::2], sums[1::2], strict=True)]
    return sums[0]


def _one_pass(row: Scene, lanes: int) -> float:
    size = len(row.values)
    mean = float32(_float32_sum(row.values, lanes) / size)
    square = float32(_float32_sum([float32(x * x) for x in row.values], lanes) / size)
    variance = max(float32(square - float32(mean * mean)), 0.0)
    return math.sqrt(variance * size / (size - 1))


def _serial(row: Scene) -> float:
    total = squares = 0.0
    for x in row.values:
        total = float32(total + x)
    mean = float32(total / len(row.values))
    for x in row.values:
        difference = float32(x - mean)
        squares = float32(squares + float32(difference * difference))
    return math.sqrt(squares / (len(row.values) - 1))


def _overflowing(row: Scene, largest: float) -> float:
    mean, root = math.fsum(row.values) / len(row.values), math.sqrt(largest)
    return math.inf if any(abs(x - mean) > root for x in row.values) else row.sigma


DEVIATIONS: dict[str, Callable[[Scene], float]] = {
    "PopulationDivisor": lambda row: deviation(row.counted, 0),
    "VarianceForDeviation": lambda row: row.sigma * row.sigma,
    "MedianForDeviation": _median_deviation,
    "EpsilonInDeviation": lambda row: math.sqrt(row.sigma * row.sigma + 1e-5),
    "DeviationOffByThousandth": lambda row: 1.001 * row.sigma,
    "DeviationOffByTenThousandth": lambda row: 1.0001 * row.sigma,
    "FirstTokenNotCounted": _from_second,
    "TailNotCounted": _whole_blocks,
    "PaddingCounted": _padded,
    "DeviationOfDistinct": lambda row: deviation(sorted(set(row.values))),
    "SerialSums": _serial,
    "Float16Sums": lambda row: _overflowing(row, 131_008.0),
    "SquaresOverflow": lambda row: _overflowing(row, 3.5e38),
}
"""σ as a sampler with the fault computes it."""


def _cut(row: Scene) -> float:
    return row.maximum - (row.n or 0.0) * row.sigma


def _bfloat16(threshold: float) -> float:
    return value_of(word(threshold, "bfloat16"), "bfloat16")


def _truncated(n: float) -> float:
    return float(int(n)) if n < 1e9 else n


THRESHOLDS: dict[str, Callable[[Scene, float], float]] = {
    "MeanForMaximum": lambda row, n: math.fsum(row.counted) / len(row.counted) - n * row.sigma,
    "MaximumFromZero": lambda row, n: max(0.0, row.maximum) - n * row.sigma,
    "LastTokenNotCompared": lambda row, n: max(row.values[:-1]) - n * row.sigma,
    "Bfloat16Threshold": lambda row, n: _bfloat16(_cut(row)),
    # x / 0.8 < t is x < 0.8·t.
    "TemperatureOnOneSide": lambda row, n: 0.8 * _cut(row),
    "ThresholdLoosened": lambda row, n: _cut(row) - 0.001,
    "TruncatesN": lambda row, n: row.maximum - _truncated(n) * row.sigma,
    "ClipsLargeN": lambda row, n: row.maximum - min(n, 10.0) * row.sigma,
    "IgnoresSmallN": lambda row, n: -math.inf if n < 0.05 else _cut(row),
}
"""t as a sampler with the fault computes it."""


def _best_halves(row: Scene) -> Iterator[float]:
    ordered, size = sorted(row.values, reverse=True), len(row.values)
    return (deviation(ordered[:half]) for half in (size // 2, size - size // 2))


_SEVERAL: dict[str, Callable[[Scene], Iterator[float]]] = {
    "DeviationOfBest": _best_halves,
    # Its rounding errors are the order's; a vector that shows them in each of these is sure to.
    "OnePassVariance": lambda row: (_one_pass(row, lanes) for lanes in (1, 4, 8, 64, 512)),
}
"""Where there are several ways of doing it: the fault has to show in each."""


def shows(fault: str, row: Scene) -> bool:
    """Whether the fault shows in this row, which has a threshold."""
    assert row.n is not None
    if fault in THRESHOLDS:
        return row.shows_threshold(THRESHOLDS[fault](row, row.n))
    found = _SEVERAL[fault](row) if fault in _SEVERAL else iter((DEVIATIONS[fault](row),))
    # What a sampler makes of σ = 0 is another question.
    return all(sigma > 0 and row.shows_threshold(row.maximum - row.n * sigma) for sigma in found)


THRESHOLD_FAULTS = (*DEVIATIONS, *_SEVERAL, *THRESHOLDS)
"""Names that :func:`shows` knows."""
