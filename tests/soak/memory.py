"""The resident memory of processes, and whether it grows with the requests they serve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import psutil

CONFIDENCE = 0.95
FEWEST_SAMPLES = 40
FEWEST_REQUESTS = 3_000
"""That the samples have to span: for the first thousands an allocator has memory left over, in
which what is kept does not show, and a server is still filling its caches."""

_RESAMPLES = 500
# Memory grows in steps and stays: neighbouring samples err alike, and are drawn together.
_BLOCKS = 12


class Slope(NamedTuple):
    """KiB per 1,000 requests, with both ends of its confidence interval."""

    value: float
    lower: float
    upper: float


def resident(pid: int) -> dict[str, int]:
    """KiB that are resident, of a process and each of its descendants, by command and order."""
    parent = psutil.Process(pid)
    found = {}
    for number, process in enumerate([parent, *parent.children(recursive=True)]):
        try:
            found[f"{number} {process.name()}"] = process.memory_info().rss // 1024
        except psutil.NoSuchProcess:
            continue
    return found


def slope(requests: Sequence[int], kib: Sequence[int]) -> Slope | None:
    """How memory grows with requests, by Theil and Sen: the median slope of all pairs of samples.

    One jump moves it little, and growth that goes on is all of it. The interval is a percentile
    bootstrap of the residuals, in blocks. None: there are too few samples, or too few requests
    between them, to say.

    Raises:
        ValueError: there is not one figure of each a sample.
    """
    if len(requests) != len(kib):
        raise ValueError(f"one figure of each a sample; got {len(requests)} and {len(kib)}")
    if len(requests) < FEWEST_SAMPLES or requests[-1] - requests[0] < FEWEST_REQUESTS:
        return None
    x, y = np.array(requests) / 1000.0, np.array(kib, dtype=np.float64)
    value = _theil_sen(x, y)
    fitted = value * x
    residuals = y - fitted
    length = len(x) // _BLOCKS
    rng = np.random.default_rng(0)
    starts = rng.integers(0, len(x) - length + 1, size=(_RESAMPLES, -(-len(x) // length)))
    slopes = [
        _theil_sen(x, fitted + np.concatenate([residuals[s : s + length] for s in row])[: len(x)])
        for row in starts
    ]
    tail = (1 - CONFIDENCE) / 2
    lower, upper = np.quantile(slopes, [tail, 1 - tail])
    return Slope(value, float(lower), float(upper))


def _theil_sen(x: np.ndarray, y: np.ndarray) -> float:
    first, second = np.triu_indices(len(x), 1)
    return float(np.median((y[second] - y[first]) / (x[second] - x[first])))
