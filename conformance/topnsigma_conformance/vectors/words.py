"""Bit patterns ("words") of logits in the three formats, one at a time.

Arrays of them are the business of ``formats``; unlike there, what is too large becomes infinite.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from topnsigma_conformance.formats import as_array, special_bits, width

Words = tuple[int, ...]

DIGITS = {"float32": 8, "float16": 4, "bfloat16": 4}
"""Hexadecimal digits of a word."""

NEG_INF = {dtype: special_bits(dtype, "-inf") for dtype in DIGITS}
POS_INF = {dtype: special_bits(dtype, "inf") for dtype in DIGITS}
_SIGN = {"float32": 1 << 31, "float16": 1 << 15, "bfloat16": 1 << 15}


def word(value: float, dtype: str = "float32") -> int:
    """The word of ``value``, rounded to nearest even; infinite beyond the largest finite value."""
    if dtype == "float16":
        try:
            return int(struct.unpack(">H", struct.pack(">e", value))[0])
        except OverflowError:
            return POS_INF[dtype] if value > 0 else NEG_INF[dtype]
    try:
        wide = int(struct.unpack(">I", struct.pack(">f", value))[0])
    except OverflowError:
        wide = POS_INF["float32"] if value > 0 else NEG_INF["float32"]
    return wide if dtype == "float32" else (wide + 0x7FFF + (wide >> 16 & 1)) >> 16


def words(values: Iterable[float], dtype: str = "float32") -> Words:
    """:func:`word` of each value."""
    return tuple(word(value, dtype) for value in values)


def value_of(pattern: int, dtype: str = "float32") -> float:
    """The value of a word (exact)."""
    if dtype == "float16":
        return float(struct.unpack(">e", struct.pack(">H", pattern))[0])
    wide = pattern if dtype == "float32" else pattern << 16
    return float(struct.unpack(">f", struct.pack(">I", wide))[0])


def values_of(row: Sequence[int], dtype: str = "float32") -> list[float]:
    """:func:`value_of` of each word."""
    return [value_of(pattern, dtype) for pattern in row]


def ordinal(pattern: int, dtype: str = "float32") -> int:
    """Position of a word on the line of all values; both zeros are 0. Not for NaN."""
    sign = _SIGN[dtype]
    return sign - pattern if pattern & sign else pattern


def stepped(pattern: int, steps: int, dtype: str = "float32") -> int:
    """The word ``steps`` values above (below, where negative). Not for NaN."""
    position = ordinal(pattern, dtype) + steps
    return position if position >= 0 else _SIGN[dtype] - position


def row_array(row: Sequence[int], dtype: str) -> npt.NDArray[Any]:
    """The row as the reference takes it."""
    return as_array(np.array(row, width(dtype)), dtype)


def to_hex(row: Sequence[int], dtype: str) -> str:
    """The words one after the other, in big-endian hexadecimal digits of fixed width."""
    return "".join(f"{pattern:0{DIGITS[dtype]}x}" for pattern in row)


def from_hex(text: str, dtype: str) -> Words:
    """Inverse of :func:`to_hex`.

    Raises:
        ValueError: not a whole number of words.
    """
    digits = DIGITS[dtype]
    if len(text) % digits:
        raise ValueError(f"{len(text)} digits are no whole number of {dtype} words")
    return tuple(int(text[start : start + digits], 16) for start in range(0, len(text), digits))
