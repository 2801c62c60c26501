"""Logits in the three formats of the suite: values, bits, neighbours and special patterns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.unsignedinteger[Any]]
Float32Array = npt.NDArray[np.float32]

_SPECIAL: dict[str, dict[str, int]] = {
    "float32": {
        "nan": 0x7FC00000,
        "nan-payload": 0xFFC12345,
        "nan-signalling": 0x7F800001,
        "inf": 0x7F800000,
        "-inf": 0xFF800000,
        "-0.0": 0x80000000,
        "subnormal": 0x00000001,
        "-subnormal": 0x807FFFFF,
    },
    "float16": {
        "nan": 0x7E00,
        "nan-payload": 0xFE2A,
        "nan-signalling": 0x7C01,
        "inf": 0x7C00,
        "-inf": 0xFC00,
        "-0.0": 0x8000,
        "subnormal": 0x0001,
        "-subnormal": 0x83FF,
    },
    "bfloat16": {
        "nan": 0x7FC0,
        "nan-payload": 0xFFD2,
        "nan-signalling": 0x7F81,
        "inf": 0x7F80,
        "-inf": 0xFF80,
        "-0.0": 0x8000,
        "subnormal": 0x0001,
        "-subnormal": 0x807F,
    },
}

SPECIALS = tuple(_SPECIAL["float32"])
"""Names of the bit patterns that :func:`special_bits` knows."""

_LARGEST = {"float32": 3.4028234663852886e38, "float16": 65504.0, "bfloat16": 3.3895313892515355e38}


def width(dtype: str) -> np.dtype[np.unsignedinteger[Any]]:
    """The unsigned integer dtype that holds the bits of ``dtype``."""
    return np.dtype(np.uint32 if dtype == "float32" else np.uint16)


def special_bits(dtype: str, name: str) -> int:
    """Bit pattern of one of :data:`SPECIALS` in ``dtype``."""
    return _SPECIAL[dtype][name]


def largest(dtype: str) -> float:
    """The largest finite value of ``dtype``."""
    return _LARGEST[dtype]


def encode(values: Float32Array, dtype: str) -> Bits:
    """Bits of float32 ``values``, rounded to nearest even in ``dtype``; finite ones stay finite."""
    if dtype == "float32":
        return np.ascontiguousarray(values).view(np.uint32)
    bounded = np.where(
        np.isfinite(values), np.clip(values, -_LARGEST[dtype], _LARGEST[dtype]), values
    ).astype(np.float32)
    if dtype == "float16":
        return bounded.astype(np.float16).view(np.uint16)
    bits = bounded.view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return np.where(np.isfinite(bounded), rounded, bits).__rshift__(16).astype(np.uint16)


def decode(bits: Bits, dtype: str) -> Float32Array:
    """The float32 values of ``bits`` (exact)."""
    if dtype == "float32":
        return np.ascontiguousarray(bits).view(np.float32)
    if dtype == "float16":
        with np.errstate(invalid="ignore"):
            return np.ascontiguousarray(bits).view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def as_array(bits: Bits, dtype: str) -> npt.NDArray[Any]:
    """``bits`` as the array that the reference takes: float32, float16, or uint16 for bfloat16."""
    if dtype == "bfloat16":
        return bits
    return bits.view(np.float32 if dtype == "float32" else np.float16)


def step(value: float, dtype: str, ulps: int) -> float:
    """The value of ``dtype`` that lies ``ulps`` steps above ``value`` (below, where negative).

    ``value`` is a float32; where ``dtype`` does not hold it, the first step up leads to the next
    value above it, and the first step down to the next below. The result is finite.
    """
    if math.isinf(value):
        return math.copysign(_LARGEST[dtype], value)
    nearest = encode(np.array([value], np.float32), dtype)
    ordinal = ordinals(nearest, dtype)[0]
    offset = float(decode(nearest, dtype)[0]) - value
    if ulps > 0 and offset > 0:
        ulps -= 1
    elif ulps < 0 and offset < 0:
        ulps += 1
    return _from_ordinal(int(ordinal) + ulps, dtype)


def ordinals(bits: Bits, dtype: str) -> npt.NDArray[np.int64]:
    """Position of each non-NaN value on the line of all values of ``dtype``; both zeros are 0."""
    sign = np.int64(1) << np.int64(31 if dtype == "float32" else 15)
    wide = bits.astype(np.int64)
    return np.where(wide & sign, sign - wide, wide)


def _from_ordinal(ordinal: int, dtype: str) -> float:
    sign = 1 << (31 if dtype == "float32" else 15)
    limit = int(encode(np.array([_LARGEST[dtype]], np.float32), dtype)[0])
    ordinal = max(-limit, min(limit, ordinal))
    pattern = ordinal if ordinal >= 0 else sign - ordinal
    return float(decode(np.array([pattern], width(dtype)), dtype)[0])
