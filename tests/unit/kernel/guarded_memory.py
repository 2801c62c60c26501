"""Runs interpreted kernels on buffers with guards around them, while their accesses are watched.

Imported in a process of its own, see conftest.
"""

import contextlib
import dataclasses
import math
import mmap
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from unit.kernel import memory_accesses
from unit.kernel.interpreted import INTEGERS, Schedule
from unit.kernel.masked_rows import GUARD

_GUARDED = 67
"""Elements before and behind every buffer; odd, so that nothing is aligned by accident."""

_UNTOUCHED_FROM = 1_000_000

# Linux's number; a constant of the module since Python 3.13.
_MAP_NORESERVE = 0x4000


@dataclasses.dataclass(frozen=True)
class Case:
    """Logits `[rows, size]` and how they, n and the policies lie in memory.

    Attributes:
        strides: of the logits, in elements; None: contiguous.
        offset: elements before the first logit, beyond the guard.
        n_stride, exclude_stride: in elements; 0: one number for all rows.
        workspace_rows: how many rows a launch handles; None: all.
        dtype: of the logits.
        schedule: of the launches.
        broken: a name in `unsafe_kernels.BREAKS`.
        chosen: the programs of each launch that are run, in this order; None: all.
    """

    rows: int
    size: int
    strides: tuple[int, int] | None = None
    offset: int = 0
    n_stride: int = 1
    exclude_stride: int = 1
    workspace_rows: int | None = None
    dtype: torch.dtype = torch.float32
    schedule: Schedule = "two-launch"
    broken: str | None = None
    chosen: Sequence[int] | None = None


@dataclasses.dataclass
class Outcome:
    """What a run left behind.

    Attributes:
        accesses: what the kernels touched.
        overwritten: the buffers with a guard that is not what it was.
        bits: integers `[chosen rows, size]`, the logits.
    """

    accesses: memory_accesses.Accesses
    overwritten: list[str]
    bits: torch.Tensor


class _Buffers:
    """Tensors with guards around and between their elements.

    Beyond `_UNTOUCHED_FROM` elements they are addresses without memory: a page takes room once it
    is touched. Such a buffer is not searched for what was overwritten.
    """

    def __init__(self) -> None:
        self._memories: dict[str, tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = {}

    def tensor(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: torch.dtype,
        strides: tuple[int, ...] | None = None,
        offset: int = 0,
    ) -> torch.Tensor:
        """An uninitialised tensor; its elements may lie upon one another."""
        strides = strides or torch.empty(shape, device="meta").stride()
        offset += _GUARDED
        reach = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        extent = offset + reach + 1 + _GUARDED if 0 not in shape else offset + _GUARDED
        if extent > _UNTOUCHED_FROM:
            return _untouched(extent, dtype).as_strided(shape, strides, offset)
        memory = torch.full((extent * dtype.itemsize,), GUARD, dtype=torch.uint8)
        view = memory.view(dtype).as_strided(shape, strides, offset)
        inside = torch.zeros(extent, dtype=torch.bool)
        places = [1 if stride == 0 else size for size, stride in zip(shape, strides, strict=True)]
        inside.as_strided(places, strides, offset).fill_(True)
        self._memories[name] = memory, memory.clone(), inside.repeat_interleave(dtype.itemsize)
        return view

    def overwritten(self) -> list[str]:
        return [
            name
            for name, (memory, before, inside) in self._memories.items()
            if not torch.equal(memory[~inside], before[~inside])
        ]


def _untouched(extent: int, dtype: torch.dtype) -> torch.Tensor:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    return torch.frombuffer(mmap.mmap(-1, extent * dtype.itemsize, flags=flags), dtype=dtype)


def run(case: Case) -> Outcome:
    """Mask the logits of a case."""
    from topnsigma_processor import triton_path

    buffers = _Buffers()
    shape = (case.rows, case.size)
    logits = buffers.tensor("logits", shape, case.dtype, case.strides, case.offset)
    n = buffers.tensor("n", shape[:1], torch.float64, (case.n_stride,))
    exclude = buffers.tensor("exclude", shape[:1], torch.bool, (case.exclude_stride,))
    workspace = _workspace(case, buffers)
    rows: Sequence[int] = range(case.rows)
    if case.chosen is not None:
        rows = sorted({program // workspace.tiling.tiles for program in case.chosen})
    for row in rows:
        width = case.size if logits.stride(1) else 1
        logits[row, :width] = _values(row, case.size)[:width].to(case.dtype)
        # Some rows are disabled, wherever rows have an n each: nothing of these may be touched.
        n[row] = math.nan if row % 4 == 2 and case.n_stride else 0.6
        exclude[row] = row % 2 == 1
    with _broken(case.broken), memory_accesses.watched(case.chosen) as accesses:
        triton_path.mask_rows_(logits, n, exclude, workspace)
    bits = logits[list(rows)] if case.rows else logits
    return Outcome(accesses, buffers.overwritten(), bits.view(INTEGERS[case.dtype.itemsize]))


def _workspace(case: Case, buffers: _Buffers) -> Any:
    from topnsigma_processor import triton_path

    workspace = triton_path.Workspace(case.size, 1, torch.device("cpu"), case.schedule)
    rows = case.workspace_rows or max(case.rows, 1)
    tiles = workspace.tiling.tiles
    workspace.rows = rows
    for name, shape, dtype in (
        ("floats", (rows, 3, tiles), torch.float32),
        ("counts", (rows, tiles), torch.int32),
        ("sums", (rows, 2, tiles), torch.int64),
    ):
        setattr(workspace, name, buffers.tensor(name, shape, dtype))
    if workspace.arrivals is not None:
        workspace.arrivals = buffers.tensor("arrivals", (rows,), torch.int32)
        workspace.arrivals[:_UNTOUCHED_FROM] = 0
    return workspace


def _values(row: int, size: int) -> torch.Tensor:
    """Logits of which whole tiles go, and parts of others; every eighth row holds a NaN."""
    noise = torch.randn(size, generator=torch.Generator().manual_seed(row))
    values = noise + torch.linspace(-20, 0, size)
    values[size // 3 :: 5] = -math.inf if row % 2 else -30.0
    if row % 8 == 7:
        values[size // 2] = math.nan
    return values


@contextlib.contextmanager
def _broken(name: str | None) -> Iterator[None]:
    if name is None:
        yield
        return
    from unit.kernel import unsafe_kernels

    broken = unsafe_kernels.BREAKS[name]
    original = getattr(broken.module(), broken.function)
    setattr(broken.module(), broken.function, broken.replacement)
    try:
        yield
    finally:
        setattr(broken.module(), broken.function, original)
