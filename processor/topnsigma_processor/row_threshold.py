"""The threshold of one row from the statistics of its tiles, in Triton (TNS-3, TNS-4, TNS-5).

float64 throughout, elementwise over the tiles; sums over tiles are taken of 64-bit integers, so
that they have no order either (see `tile_statistics`).
"""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# ruff: noqa: N803

import triton.language as tl  # type: ignore[import-untyped, import-not-found, unused-ignore]

from topnsigma_processor.binary_scaling import exponent32, exponent64, power64, rounded_up32
from topnsigma_processor.device_function import device_function
from topnsigma_processor.tile_statistics import deviation_exponent, scale_exponent


@device_function
def store_statistics(
    floats, counts, sums, row, tile, tiles, count, maximum, minimum, mean, deviations, squares
):
    """Write what `tile_statistics` returned into the workspace.

    `floats` is float32 `[rows, 3, tiles]`, `counts` int32 `[rows, tiles]`, `sums` int64
    `[rows, 2, tiles]`; `row` is int64.
    """
    tl.store(counts + row * tiles + tile, count)
    tl.store(floats + row * 3 * tiles + tile, maximum)
    tl.store(floats + (row * 3 + 1) * tiles + tile, minimum)
    tl.store(floats + (row * 3 + 2) * tiles + tile, mean)
    tl.store(sums + row * 2 * tiles + tile, deviations)
    tl.store(sums + (row * 2 + 1) * tiles + tile, squares)


@device_function
def tile_range(floats, row, tile, tiles):
    """Return the maximum and minimum of the finite logits of one tile."""
    # .cg: another multiprocessor may have written them during this launch.
    maximum = tl.load(floats + row * 3 * tiles + tile, cache_modifier=".cg")
    minimum = tl.load(floats + (row * 3 + 1) * tiles + tile, cache_modifier=".cg")
    return maximum, minimum


@device_function
def row_threshold(floats, counts, sums, row, tiles, n, TILES: tl.constexpr):
    """Return t, rounded up to float32: `x < t` is the same as with the float64 t.

    Where the row has to be left alone it is the row's least finite logit, which no logit is below
    that could be masked.

    Args:
        floats, counts, sums: the workspace, see `store_statistics`.
        row: int64.
        tiles: number of tiles, <= TILES, a power of two <= 2048.
        n: float64, finite and > 0.
    """
    tile = tl.arange(0, TILES)
    mask = tile < tiles
    at = row * 3 * tiles + tile
    maximum = tl.load(floats + at, mask=mask, other=float("-inf"), cache_modifier=".cg")
    minimum = tl.load(floats + at + tiles, mask=mask, other=float("inf"), cache_modifier=".cg")
    mean = tl.load(floats + at + 2 * tiles, mask=mask, other=0.0, cache_modifier=".cg")
    count = tl.load(counts + row * tiles + tile, mask=mask, other=0, cache_modifier=".cg")
    at = row * 2 * tiles + tile
    deviations = tl.load(sums + at, mask=mask, other=0, cache_modifier=".cg")
    squares = tl.load(sums + at + tiles, mask=mask, other=0, cache_modifier=".cg")

    row_count = tl.sum(count)
    row_maximum = tl.max(maximum)
    row_minimum = tl.min(minimum)
    threshold = row_minimum
    if (tl.min(count) >= 0) & (row_count > 1) & (row_minimum < row_maximum):
        scale = scale_exponent(maximum, minimum, count)
        unit = power64(-scale)
        deviation_unit = power64(-deviation_exponent(maximum, minimum, mean, count, scale))
        weight = count.to(tl.float64)
        sum_of_deviations = deviations.to(tl.float64) * deviation_unit
        shift = sum_of_deviations / tl.maximum(weight, 1.0)
        tile_mean = (mean.to(tl.float64) + shift) * unit
        # `squares` is in units of 32 deviation units, squared.
        sum_of_squares = squares.to(tl.float64) * deviation_unit * deviation_unit * 1024.0
        tile_m2 = (sum_of_squares - sum_of_deviations * shift) * unit * unit

        # The sum of the |x| of the row, times 2**fixed, is below 2**62.
        magnitude = tl.maximum(row_maximum, -row_minimum)
        fixed = 60 - exponent32(magnitude) - exponent32(row_count.to(tl.float32))
        total = tl.sum((weight * tile_mean * power64(fixed)).to(tl.int64))
        row_mean = total.to(tl.float64) * power64(-fixed) / row_count.to(tl.float64)

        # Chan's formula for many parts at once.
        distance = tile_mean - row_mean
        m2 = tile_m2 + weight * distance * distance
        # At most 2**11 terms, each below 2**51.
        fixed = 50 - exponent64(tl.max(m2))
        row_m2 = tl.sum((m2 * power64(fixed)).to(tl.int64)).to(tl.float64) * power64(-fixed)
        sigma = tl.sqrt(row_m2 / (row_count - 1).to(tl.float64))
        threshold = rounded_up32(row_maximum.to(tl.float64) - n * sigma)
    return threshold
