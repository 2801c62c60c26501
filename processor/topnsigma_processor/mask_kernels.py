"""The Triton kernels: one for the statistics of tiles, one that masks, and one that does both.

Every program handles tile `program_id % tiles` of row `program_id // tiles`. A program of a row
that is not enabled returns at once. Arguments that the kernels have in common:

    logits      pointer to row 0; float16, bfloat16 or float32
    n, exclude  pointers to float64 and bool, one per row, `n_stride` and `exclude_stride` apart
    floats, counts, sums    the workspace, see `row_threshold.store_statistics`
    size        V; `tiles` = ceil(V / TILE)
    row_stride, token_stride    of the logits, in elements, int64
    ACCESS      "vector": tokens are adjacent and every row begins at a multiple of 16 bytes;
                "adjacent": tokens are adjacent; "strided": anything
"""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# mypy: disable-error-code="untyped-decorator"
# ruff: noqa: N803

import triton  # type: ignore[import-untyped, import-not-found, unused-ignore]
import triton.language as tl  # type: ignore[import-untyped, import-not-found, unused-ignore]

from topnsigma_processor.binary_scaling import widened32
from topnsigma_processor.device_function import device_function
from topnsigma_processor.row_threshold import row_threshold, store_statistics, tile_range
from topnsigma_processor.tile_statistics import tile_statistics

# One compilation serves every batch, stride and address: nothing but ACCESS tells them apart.
_RUNTIME = (
    "logits",
    "n",
    "exclude",
    "size",
    "tiles",
    "row_stride",
    "token_stride",
    "n_stride",
    "exclude_stride",
)


@device_function
def _enabled(n):
    return (n > 0) & (n < float("inf"))


@device_function
def _row_of(logits, row, row_stride, ACCESS: tl.constexpr):
    pointer = logits + row * row_stride
    if ACCESS == "vector":
        pointer = tl.multiple_of(pointer, 16)
    return pointer


@device_function
def _token_pointers(row_logits, tile, token_stride, TILE: tl.constexpr, ACCESS: tl.constexpr):
    token = tile * TILE + tl.arange(0, TILE)
    if ACCESS == "strided":
        return row_logits + token.to(tl.int64) * token_stride
    else:
        return row_logits + token


@device_function
def _load_tile(pointers, tile, size, TILE: tl.constexpr):
    # A mask that ends anywhere would break the loads of full tiles into single elements.
    if (tile + 1) * TILE <= size:
        x = tl.load(pointers)
    else:
        inside = tile * TILE + tl.arange(0, TILE) < size
        x = tl.load(pointers, mask=inside, other=float("-inf"))
    return x


@device_function
def _store_tile(pointers, x, tile, size, TILE: tl.constexpr):
    if (tile + 1) * TILE <= size:
        tl.store(pointers, x)
    else:
        tl.store(pointers, x, mask=tile * TILE + tl.arange(0, TILE) < size)


@device_function
def _measure_tile(
    row_logits,
    exclude,
    floats,
    counts,
    sums,
    row,
    tile,
    size,
    tiles,
    token_stride,
    TILE: tl.constexpr,
    ACCESS: tl.constexpr,
):
    pointers = _token_pointers(row_logits, tile, token_stride, TILE, ACCESS)
    x = _load_tile(pointers, tile, size, TILE)
    pads = tl.maximum((tile + 1) * TILE - size, 0)
    count, maximum, minimum, mean, deviations, squares = tile_statistics(x, pads, exclude, TILE)
    store_statistics(
        floats, counts, sums, row, tile, tiles, count, maximum, minimum, mean, deviations, squares
    )


@device_function
def _mask_tile(
    row_logits,
    threshold,
    floats,
    row,
    tile,
    size,
    tiles,
    token_stride,
    TILE: tl.constexpr,
    ACCESS: tl.constexpr,
):
    maximum, minimum = tile_range(floats, row, tile, tiles)
    if minimum < threshold:
        pointers = _token_pointers(row_logits, tile, token_stride, TILE, ACCESS)
        # Not of the logits' dtype at once: the interpreter of triton 3.6 has no bfloat16 constants.
        masked = tl.full([TILE], float("-inf"), tl.float32).to(row_logits.dtype.element_ty)
        # What a tile holds need not be read again when all of it goes, as is the rule.
        if maximum < threshold:
            _store_tile(pointers, masked, tile, size, TILE)
        else:
            x = _load_tile(pointers, tile, size, TILE)
            kept = tl.where(widened32(x) < threshold, masked, x)
            _store_tile(pointers, kept, tile, size, TILE)


@triton.jit(do_not_specialize=_RUNTIME)
def measure_tiles(
    logits,
    n,
    exclude,
    floats,
    counts,
    sums,
    size,
    tiles,
    row_stride: tl.int64,
    token_stride: tl.int64,
    n_stride: tl.int64,
    exclude_stride: tl.int64,
    TILE: tl.constexpr,
    ACCESS: tl.constexpr,
):
    """First of two launches: write the statistics of every tile of the enabled rows."""
    program = tl.program_id(0)
    row = (program // tiles).to(tl.int64)
    if _enabled(tl.load(n + row * n_stride)):
        row_logits = _row_of(logits, row, row_stride, ACCESS)
        row_exclude = tl.load(exclude + row * exclude_stride)
        _measure_tile(
            row_logits,
            row_exclude,
            floats,
            counts,
            sums,
            row,
            program % tiles,
            size,
            tiles,
            token_stride,
            TILE,
            ACCESS,
        )


@triton.jit(do_not_specialize=_RUNTIME)
def mask_tiles(
    logits,
    n,
    floats,
    counts,
    sums,
    size,
    tiles,
    row_stride: tl.int64,
    token_stride: tl.int64,
    n_stride: tl.int64,
    TILE: tl.constexpr,
    TILES: tl.constexpr,
    ACCESS: tl.constexpr,
):
    """Second of two launches: mask every tile of the enabled rows."""
    program = tl.program_id(0)
    row = (program // tiles).to(tl.int64)
    row_n = tl.load(n + row * n_stride)
    if _enabled(row_n):
        # Every program of a row computes its threshold: cheaper than a launch in between.
        threshold = row_threshold(floats, counts, sums, row, tiles, row_n, TILES)
        row_logits = _row_of(logits, row, row_stride, ACCESS)
        _mask_tile(
            row_logits,
            threshold,
            floats,
            row,
            program % tiles,
            size,
            tiles,
            token_stride,
            TILE,
            ACCESS,
        )


@triton.jit(do_not_specialize=_RUNTIME)
def measure_and_mask(
    logits,
    n,
    exclude,
    floats,
    counts,
    sums,
    arrivals,
    size,
    tiles,
    row_stride: tl.int64,
    token_stride: tl.int64,
    n_stride: tl.int64,
    exclude_stride: tl.int64,
    TILE: tl.constexpr,
    TILES: tl.constexpr,
    ACCESS: tl.constexpr,
):
    """Both in one launch: whichever program of a row comes last masks the row. Nobody waits.

    `arrivals` is int32, one per row, 0 before and after the launch.
    """
    program = tl.program_id(0)
    row = (program // tiles).to(tl.int64)
    row_n = tl.load(n + row * n_stride)
    if _enabled(row_n):
        row_logits = _row_of(logits, row, row_stride, ACCESS)
        row_exclude = tl.load(exclude + row * exclude_stride)
        _measure_tile(
            row_logits,
            row_exclude,
            floats,
            counts,
            sums,
            row,
            program % tiles,
            size,
            tiles,
            token_stride,
            TILE,
            ACCESS,
        )
        # All of this program's stores come before its arrival, whichever thread made them.
        tl.debug_barrier()
        arrived = tl.atomic_add(arrivals + row, 1, sem="acq_rel", scope="gpu")
        if arrived == tiles - 1:
            tl.store(arrivals + row, 0)
            threshold = row_threshold(floats, counts, sums, row, tiles, row_n, TILES)
            # No `range`: the interpreter of triton 3.6 can't take the bound from recent numpy.
            tile = 0
            while tile < tiles:
                _mask_tile(
                    row_logits,
                    threshold,
                    floats,
                    row,
                    tile,
                    size,
                    tiles,
                    token_stride,
                    TILE,
                    ACCESS,
                )
                tile += 1
