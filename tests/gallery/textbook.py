"""Top-nσ in the steps of SPEC.md, each a method, so that a gallery class replaces just one."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from topnsigma_conformance import Implementation
from topnsigma_conformance.faults import FAULTS

Row = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class Textbook(Implementation):
    """Right, in binary64, one row after the other.

    A class that is named after a fault of the registry ``breaks`` that fault's rule.
    """

    version = "gallery"
    breaks = ""
    blamed = ""
    fill: float = -math.inf

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.name = cls.__name__
        if cls.name in FAULTS:
            cls.breaks = FAULTS[cls.name].rule

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        numbers_ = [self.number(entry) for entry in n]
        result = self.output(logits)
        with np.errstate(all="ignore"):
            for row, number in zip(result, numbers_, strict=True):
                if number is None:
                    self.disabled(row)
                else:
                    self.truncate(row, number)
        return result

    def number(self, value: Any) -> float | None:
        """The n that ``value`` means, or None where it disables."""
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise ValueError(f"n must be a number; got {value!r}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not 0 < number < math.inf:
            raise ValueError(f"n must be finite and > 0; got {value!r}")
        return number

    def output(self, logits: Row) -> Row:
        """The array that the result is written to."""
        return logits.copy()

    def disabled(self, row: Row) -> None:
        """What happens to a row whose n is None."""

    def truncate(self, row: Row, n: float) -> None:
        """Apply top-nσ to one row, in place."""
        if self.left_alone(row):
            return
        row[self.masked(row, self.maximum(row) - n * self.sigma(row))] = self.fill

    def left_alone(self, row: Row) -> bool:
        """Whether TNS-3 or TNS-4 leaves the row as it is."""
        return not np.isfinite(row).all() or row.size < 2 or bool((row == row[0]).all())

    def maximum(self, row: Row) -> float:
        """The row's maximum."""
        return float(row.max())

    def sigma(self, row: Row) -> float:
        """The row's deviation."""
        return float(row.astype(np.float64).std(ddof=1))

    def masked(self, row: Row, threshold: float) -> Mask:
        """Which tokens go."""
        # As binary64: numpy would round a Python float to the row's format first.
        return np.asarray(row.astype(np.float64) < threshold)


class Float32Threshold(Textbook):
    """max - n·σ in float32, compared in float32."""

    def truncate(self, row: Row, n: float) -> None:
        if not self.left_alone(row):
            row[row < row.max() - np.float32(n) * np.float32(self.sigma(row))] = self.fill
