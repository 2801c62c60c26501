"""Formats against numpy and struct: encoding, decoding, neighbours, order, special patterns."""

from __future__ import annotations

import math
import struct

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from topnsigma_conformance import formats
from topnsigma_conformance.implementation import DTYPES

FLOAT32 = st.floats(width=32, allow_nan=False)
FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
NARROW = st.sampled_from(("float16", "bfloat16"))


def encode(value: float, dtype: str) -> int:
    return int(formats.encode(np.array([value], np.float32), dtype)[0])


def decode(pattern: int, dtype: str) -> float:
    return float(formats.decode(np.array([pattern], formats.width(dtype)), dtype)[0])


def every_pattern(dtype: str) -> np.ndarray:
    return np.arange(2**16, dtype=np.uint32).astype(formats.width(dtype))


@settings(deadline=None)
@given(FLOAT32)
def test_float32_bits_are_those_of_struct(value: float) -> None:
    assert encode(value, "float32") == struct.unpack("<I", struct.pack("<f", value))[0]
    assert decode(encode(value, "float32"), "float32") == value


@settings(deadline=None)
@given(FINITE)
def test_float16_rounds_as_struct_does(value: float) -> None:
    try:
        expected = struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        expected = encode(math.copysign(65504.0, value), "float16")
    assert encode(value, "float16") == expected


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 2**32 - 1))
def test_bfloat16_is_the_nearest_of_its_two_neighbours(pattern: int) -> None:
    value = struct.unpack("<f", struct.pack("<I", pattern))[0]
    if not math.isfinite(value):
        return
    toward_zero = pattern >> 16
    candidates = [toward_zero, toward_zero + 1]
    candidates = [each for each in candidates if math.isfinite(decode(each, "bfloat16"))]
    # Nearest; of two that are as near, the even one.
    best = min(candidates, key=lambda each: (abs(decode(each, "bfloat16") - value), each & 1))
    assert encode(value, "bfloat16") == best


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1 + 2**-8, 0x3F80),  # half-way, down to the even one
        (1 + 3 * 2**-8, 0x3F82),  # half-way, up to the even one
        (1 + 2**-8 + 2**-20, 0x3F81),
        (3.4e38, 0x7F7F),
        (-3.4028234663852886e38, 0xFF7F),
        (2.0**-133, 0x0001),
        (2.0**-134, 0x0000),
        (3 * 2.0**-135, 0x0001),
        (-0.0, 0x8000),
        (math.inf, 0x7F80),
    ],
)
def test_bfloat16_rounding_by_hand(value: float, expected: int) -> None:
    assert encode(value, "bfloat16") == expected


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_narrow_pattern_survives_the_round_trip(dtype: str) -> None:
    patterns = every_pattern(dtype)
    values = formats.decode(patterns, dtype)
    numbers = ~np.isnan(values)
    np.testing.assert_array_equal(
        formats.encode(values[numbers], dtype), patterns[numbers].astype(np.uint16)
    )


@settings(deadline=None)
@given(FINITE, NARROW)
def test_finite_values_stay_finite(value: float, dtype: str) -> None:
    assert math.isfinite(decode(encode(value, dtype), dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", formats.SPECIALS)
def test_specials_are_what_their_names_say(dtype: str, name: str) -> None:
    pattern = formats.special_bits(dtype, name)
    value = decode(pattern, dtype)
    mantissa_bits = {"float32": 23, "float16": 10, "bfloat16": 7}[dtype]
    if name.startswith("nan"):
        assert math.isnan(value)
        quiet = bool(pattern >> (mantissa_bits - 1) & 1)
        assert quiet == (name != "nan-signalling")
        assert (pattern & (2 ** (mantissa_bits - 1) - 1) != 0) == (name != "nan")
    elif name.endswith("subnormal"):
        assert value != 0
        assert pattern >> mantissa_bits & 0xFF in (0, 0x20 if dtype == "float16" else 0x100, 256)
        assert (value < 0) == name.startswith("-")
    else:
        assert str(value) == str(float(name))


@pytest.mark.parametrize("dtype", DTYPES)
def test_largest(dtype: str) -> None:
    pattern = encode(formats.largest(dtype), dtype)
    assert decode(pattern, dtype) == formats.largest(dtype)
    assert pattern + 1 == formats.special_bits(dtype, "inf")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_ordinals_follow_the_order_of_all_values(dtype: str) -> None:
    patterns = every_pattern(dtype)
    values = formats.decode(patterns, dtype)
    numbers = ~np.isnan(values)
    order = np.argsort(formats.ordinals(patterns[numbers], dtype), kind="stable")
    ordered = values[numbers][order]
    assert (np.diff(ordered[np.isfinite(ordered)]) >= 0).all()
    steps = np.unique(formats.ordinals(patterns[numbers], dtype))
    assert (np.diff(steps) == 1).all()
    assert set(formats.ordinals(patterns[values == 0], dtype)) == {0}


@settings(deadline=None)
@given(FINITE, st.integers(1, 3))
def test_step_is_nextafter_in_float32(value: float, ulps: int) -> None:
    up = down = np.float32(value)
    limit = np.float32(formats.largest("float32"))
    for _ in range(ulps):
        up = min(np.nextafter(up, np.float32(np.inf)), limit)
        down = max(np.nextafter(down, np.float32(-np.inf)), -limit)
    assert formats.step(value, "float32", ulps) == up
    assert formats.step(value, "float32", -ulps) == down
    assert formats.step(value, "float32", 0) == value


@settings(deadline=None)
@given(FINITE, NARROW, st.integers(1, 3))
def test_step_counts_the_values_of_the_narrow_format(value: float, dtype: str, ulps: int) -> None:
    line = np.unique(formats.decode(every_pattern(dtype), dtype))
    line = line[np.isfinite(line)]
    above, below = line[line > value][:ulps], line[line < value][::-1][:ulps]
    up, down = formats.step(value, dtype, ulps), formats.step(value, dtype, -ulps)
    assert up == (above[-1] if above.size else line[-1])
    assert down == (below[-1] if below.size else line[0])
    nearest = float(formats.decode(formats.encode(np.array([value], np.float32), dtype), dtype)[0])
    assert formats.step(value, dtype, 0) == nearest


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sign", [1, -1])
def test_step_ends_at_the_largest(dtype: str, sign: int) -> None:
    end = sign * formats.largest(dtype)
    assert formats.step(end, dtype, sign * 5) == end
    assert formats.step(sign * math.inf, dtype, 0) == end
    assert abs(formats.step(end, dtype, -sign)) < abs(end)


@pytest.mark.parametrize("dtype", DTYPES)
def test_step_through_zero(dtype: str) -> None:
    smallest = decode(1, dtype)
    assert formats.step(0.0, dtype, 1) == smallest
    assert formats.step(-0.0, dtype, -1) == -smallest
    assert formats.step(-smallest, dtype, 2) == smallest


def test_as_array_is_what_the_reference_takes() -> None:
    assert formats.as_array(np.zeros(2, np.uint32), "float32").dtype == np.float32
    assert formats.as_array(np.zeros(2, np.uint16), "float16").dtype == np.float16
    assert formats.as_array(np.zeros(2, np.uint16), "bfloat16").dtype == np.uint16
