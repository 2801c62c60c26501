"""How many times as long as another something takes, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

CONFIDENCE = 0.95
_RESAMPLES = 2000


class Ratio(NamedTuple):
    """A ratio with both ends of its confidence interval."""

    value: float
    lower: float
    upper: float


def ratio(ours: Sequence[float], other: Sequence[float]) -> Ratio:
    """The median of the ratios of what was measured together, round by round.

    What slows a round down slows both, and so does not show. The interval is a percentile
    bootstrap over rounds.

    Raises:
        ValueError: there is not one figure of each a round.
    """
    if len(ours) != len(other) or not ours:
        raise ValueError(f"one figure of each a round; got {len(ours)} and {len(other)}")
    ratios = np.array(ours) / np.array(other)
    resampled = np.random.default_rng(0).choice(ratios, size=(_RESAMPLES, len(ratios)))
    tail = (1 - CONFIDENCE) / 2
    lower, upper = np.quantile(np.median(resampled, axis=1), [tail, 1 - tail])
    return Ratio(float(np.median(ratios)), float(lower), float(upper))


def certain(seconds: Sequence[float]) -> Ratio:
    """The median of figures in seconds, with its confidence interval."""
    return ratio(seconds, [1.0] * len(seconds))
