"""Statistics of one tile of a row, in Triton, whose bits depend on nothing but the tile's values.

A float sum depends on its order, and Triton's order on the layout that the compiler chose, which
depends on alignment and strides. So nothing is summed in floating point: values are scaled by a
power of two (exact), converted to 30-bit integers and summed as 64-bit ones. Whatever remains is
elementwise or a maximum. The sums are therefore the same bits on every device, in the interpreter
too, and for every layout of the logits (TNS-8, TNS-11).
"""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# ruff: noqa: N803

import triton.language as tl  # type: ignore[import-untyped, import-not-found, unused-ignore]

from topnsigma_processor.binary_scaling import exponent32, power32, scaled32, widened32
from topnsigma_processor.device_function import device_function


@device_function
def scale_exponent(maximum, minimum, count):
    """Return e such that |x| * 2**e < 2**30 in a tile; the largest is at least 2**29.

    All 0 (and e = 29) where the tile has no counted logit or all of them are 0.
    """
    magnitude = tl.maximum(maximum, -minimum)
    return 29 - exponent32(tl.where((count > 0) & (magnitude > 0), magnitude, 1.0))


@device_function
def deviation_exponent(maximum, minimum, mean, count, scale):
    """Return e such that |d| * 2**e < 2**30; d are the scaled logits less `mean`.

    The largest |d| belongs to the maximum or the minimum, since subtraction is monotonic.
    """
    spread = tl.maximum(scaled32(maximum, scale) - mean, mean - scaled32(minimum, scale))
    return 29 - exponent32(tl.where((count > 0) & (spread > 0), spread, 1.0))


@device_function
def tile_statistics(x, pads, exclude, TILE: tl.constexpr):
    """Return what a tile adds to its row's threshold, as scalars.

    Args:
        x: `[TILE]` logits, float16, bfloat16 or float32; the last `pads` are -inf and not part of
            the row. TILE <= 8192: more squares would overflow int64.
        pads: how many.
        exclude: whether -inf is left out; otherwise it spoils the tile, as NaN and +inf always do.

    Returns:
        count: int32, of counted logits; -1 if the tile is spoilt.
        maximum, minimum: float32, of the finite logits; -inf and +inf if there is none.
        mean: float32, near the mean of the scaled logits x * 2**scale_exponent.
        deviations: int64, Σq with q = d * 2**deviation_exponent, d = scaled logit - mean.
        squares: int64, Σ(q/32)², q/32 rounded to integers.
    """
    value = widened32(x)
    finite = tl.abs(value) < float("inf")
    # Both counts in one sum.
    counts = tl.sum(tl.where(finite, 1, 0) + tl.where(value == float("-inf"), 65536, 0))
    count = counts & 65535
    allowed = tl.where(exclude, counts >> 16, pads)
    maximum = tl.max(tl.where(finite, value, float("-inf")))
    minimum = tl.min(tl.where(finite, value, float("inf")))

    scale = scale_exponent(maximum, minimum, count)
    scaled = scaled32(tl.where(finite, value, 0.0), scale)
    total = tl.sum(scaled.to(tl.int32).to(tl.int64))
    mean = tl.div_rn(total.to(tl.float32), tl.maximum(count, 1).to(tl.float32))

    deviation = tl.where(finite, scaled - mean, 0.0)
    scaled_deviation = deviation * power32(deviation_exponent(maximum, minimum, mean, count, scale))
    q = scaled_deviation.to(tl.int32)
    # 25 bits, rounded to nearest: 8192 squares of them fit into 63 bits.
    rounded = ((q + 16) >> 5).to(tl.int64)
    deviations = tl.sum(q.to(tl.int64))
    squares = tl.sum(rounded * rounded)
    count = tl.where(count + allowed == TILE, count, -1)
    return count, maximum, minimum, mean, deviations, squares
