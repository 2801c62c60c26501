"""Exact conversions, in Triton: exponents of numbers, powers of two, wider and narrower numbers."""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls

import triton.language as tl  # type: ignore[import-untyped, import-not-found, unused-ignore]

from topnsigma_processor.device_function import device_function


@device_function
def exponent32(x):
    """Return floor(log2(x)) as int32, of float32 x > 0, subnormals included."""
    # 2**64: what is a subnormal before is none afterwards.
    tiny = x < 1.0842021724855044e-19
    bits = tl.where(tiny, x * 18446744073709551616.0, x).to(tl.int32, bitcast=True)
    return (bits >> 23) - tl.where(tiny, 191, 127)


@device_function
def exponent64(x):
    """Return floor(log2(x)) as int32, of float64 x > 0 that is no subnormal."""
    bits = x.to(tl.int64, bitcast=True)
    return (bits >> 52).to(tl.int32) - 1023


@device_function
def power32(exponent):
    """Return 2**exponent as float32, -126 <= exponent <= 127."""
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@device_function
def power64(exponent):
    """Return 2**exponent as float64, -1022 <= exponent <= 1023."""
    return ((exponent.to(tl.int64) + 1023) << 52).to(tl.float64, bitcast=True)


@device_function
def scaled32(x, exponent):
    """Return x * 2**exponent in float32, -252 <= exponent <= 254."""
    half = exponent >> 1
    return x * power32(half) * power32(exponent - half)


@device_function
def widened32(x):
    """Return x, of float16, bfloat16 or float32, as float32."""
    if x.dtype == tl.bfloat16:
        # The interpreter's own conversion has other values for subnormals (triton 3.9).
        bits = x.to(tl.int16, bitcast=True).to(tl.int32) << 16
        return bits.to(tl.float32, bitcast=True)
    else:
        return x.to(tl.float32)


@device_function
def rounded_up32(x):
    """Return the smallest float32 >= x, of float64 x; at most the lowest one if x is below it."""
    nearest = x.to(tl.float32)
    bits = nearest.to(tl.int32, bitcast=True)
    away = tl.where(nearest < 0, bits - 1, bits + 1)
    # Of either zero the next number is the smallest subnormal, whose bits are 1.
    after = tl.where(nearest == 0, 1, away).to(tl.float32, bitcast=True)
    return tl.where(nearest.to(tl.float64) < x, after, nearest)
