"""Parts of the kernels with a fault that touches memory it must not.

Each takes the place of a function of the same parameters. Imported where kernels are interpreted.
"""
# mypy: allow-untyped-defs, allow-untyped-calls
# ruff: noqa: N803

import ctypes
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import triton.language as tl  # type: ignore[import-untyped, import-not-found, unused-ignore]

KERNELS = "topnsigma_processor.mask_kernels"


def _load_without_mask(pointers, tile, size, TILE):
    return tl.load(pointers)


def _load_one_more(pointers, tile, size, TILE):
    inside = tile * TILE + tl.arange(0, TILE) < size + 1
    return tl.load(pointers, mask=inside, other=float("-inf"))


def _store_without_mask(pointers, x, tile, size, TILE):
    tl.store(pointers, x)


def _store_one_more(pointers, x, tile, size, TILE):
    tl.store(pointers, x, mask=tile * TILE + tl.arange(0, TILE) < size + 1)


def _row_in_32_bits(logits, row, row_stride, ACCESS):
    return logits + row.to(tl.int32) * row_stride.to(tl.int32)


def _tokens_in_32_bits(row_logits, tile, token_stride, TILE, ACCESS):
    return row_logits + (tile * TILE + tl.arange(0, TILE)) * token_stride.to(tl.int32)


def _tokens_side_by_side(row_logits, tile, token_stride, TILE, ACCESS):
    return row_logits + tile * TILE + tl.arange(0, TILE)


def _next_row(logits, row, row_stride, ACCESS):
    return logits + (row + 1) * row_stride


def _always_enabled(n):
    return (n > 0) | ~(n > 0)


def _range_of_the_next_row(floats, row, tile, tiles):
    from topnsigma_processor.row_threshold import tile_range

    return tile_range(floats, row + 1, tile, tiles)


def _statistics_in_32_bits(
    floats, counts, sums, row, tile, tiles, count, maximum, minimum, mean, deviations, squares
):
    from topnsigma_processor.row_threshold import store_statistics

    numbers = (count, maximum, minimum, mean, deviations, squares)
    store_statistics(floats, counts, sums, row.to(tl.int32), tile, tiles, *numbers)


def _statistics_of_another_tile(floats, counts, sums, row, tile, tiles, *numbers):
    from topnsigma_processor.row_threshold import store_statistics

    store_statistics(floats, counts, sums, row, tile + 1, tiles, *numbers)


def _store_that_nobody_sees(pointers, x, tile, size, TILE):
    ctypes.memset(int(pointers.handle.data.min()) - 1, 0, 1)


class _WithoutMasks:
    """The language, with loads that leave out their masks."""

    def __init__(self, language: Any) -> None:
        self._language = language

    def load(self, pointers: Any, mask: Any = None, other: Any = None, **options: Any) -> Any:
        return self._language.load(pointers, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._language, name)


def _threshold_without_mask(floats, counts, sums, row, tiles, n, TILES):
    module: Any = importlib.import_module("topnsigma_processor.row_threshold")
    module.tl = _WithoutMasks(tl)
    try:
        return module.row_threshold(floats, counts, sums, row, tiles, n, TILES)
    finally:
        module.tl = tl


class Break(NamedTuple):
    """A function of a module of the processor, and what takes its place."""

    module_name: str
    function: str
    replacement: Callable[..., Any]

    def module(self) -> ModuleType:
        return importlib.import_module(self.module_name)


BREAKS = {
    "a load without its mask": Break(KERNELS, "_load_tile", _load_without_mask),
    "a load of V + 1": Break(KERNELS, "_load_tile", _load_one_more),
    "a store without its mask": Break(KERNELS, "_store_tile", _store_without_mask),
    "a store of V + 1": Break(KERNELS, "_store_tile", _store_one_more),
    "rows in 32 bits": Break(KERNELS, "_row_of", _row_in_32_bits),
    "tokens in 32 bits": Break(KERNELS, "_token_pointers", _tokens_in_32_bits),
    "tokens side by side": Break(KERNELS, "_token_pointers", _tokens_side_by_side),
    "the next row": Break(KERNELS, "_row_of", _next_row),
    "disabled rows": Break(KERNELS, "_enabled", _always_enabled),
    "the next row's range": Break(KERNELS, "tile_range", _range_of_the_next_row),
    "statistics in 32 bits": Break(KERNELS, "store_statistics", _statistics_in_32_bits),
    "statistics of the next tile": Break(KERNELS, "store_statistics", _statistics_of_another_tile),
    "a byte that nobody sees": Break(KERNELS, "_store_tile", _store_that_nobody_sees),
    "a threshold without masks": Break(KERNELS, "row_threshold", _threshold_without_mask),
}
"""Name to break."""
