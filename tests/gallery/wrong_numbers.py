"""Wrong samplers: what they take for an n (TNS-1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from gallery.textbook import Row, Textbook


def _plain(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class AcceptsZero(Textbook):
    def number(self, value: Any) -> float | None:
        return 0.0 if _plain(value) and value == 0 else super().number(value)


class AcceptsNegative(Textbook):
    def number(self, value: Any) -> float | None:
        return None if _plain(value) and -math.inf < value < 0 else super().number(value)


class AcceptsNaN(Textbook):
    def number(self, value: Any) -> float | None:
        return math.nan if _plain(value) and value != value else super().number(value)


class AcceptsInfinity(Textbook):
    def number(self, value: Any) -> float | None:
        return math.inf if _plain(value) and value == math.inf else super().number(value)


class AcceptsBool(Textbook):
    def number(self, value: Any) -> float | None:
        return 1.0 if value is True else super().number(value)


class AcceptsString(Textbook):
    def number(self, value: Any) -> float | None:
        return super().number(float(value) if isinstance(value, str) else value)


class UnwrapsLists(Textbook):
    def number(self, value: Any) -> float | None:
        return super().number(value[0] if isinstance(value, list) and value else value)


class RejectsIntegers(Textbook):
    def number(self, value: Any) -> float | None:
        if isinstance(value, int):
            raise ValueError(f"n must be a float; got {value!r}")
        return super().number(value)


class TruncatesN(Textbook):
    def number(self, value: Any) -> float | None:
        number = super().number(value)
        return None if number is None else float(int(number))


class ClipsLargeN(Textbook):
    def number(self, value: Any) -> float | None:
        number = super().number(value)
        return None if number is None else min(number, 10.0)


class IgnoresSmallN(Textbook):
    def number(self, value: Any) -> float | None:
        number = super().number(value)
        return None if number is None or number < 0.05 else number


class RejectsHalfWay(Textbook):
    """Looks at each n when its row's turn comes."""

    in_place = True

    def output(self, logits: Row) -> Row:
        return logits

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        for row, entry in zip(np.split(logits, len(n)), n, strict=True):
            super().apply(row, [entry])
        return logits
