"""Top-nσ with the Triton kernels: what fits them, their workspace, and how they are launched."""

import contextlib
from typing import Literal, NamedTuple, Protocol

import torch

from topnsigma_processor.device_function import INTERPRETED
from topnsigma_processor.mask_kernels import mask_tiles, measure_and_mask, measure_tiles

Schedule = Literal["two-launch", "one-launch"]
Access = Literal["vector", "adjacent", "strided"]

ACCESSES: tuple[Access, ...] = ("vector", "adjacent", "strided")

DTYPES = (torch.float16, torch.bfloat16, torch.float32)

MAX_VOCABULARY = 2**24
"""2048 tiles of 8192: more partial results than that are not merged by one program."""

_MAX_PROGRAMS = 2**31 - 1
_VECTOR_BYTES = 16


class Tiling(NamedTuple):
    """How a row is cut into tiles: a function of V alone, so that the bits are too (TNS-8)."""

    tile: int
    tiles: int
    padded_tiles: int
    warps: int


def tiling(vocabulary: int) -> Tiling:
    """Return the tiling of rows of V logits, 0 < V <= `MAX_VOCABULARY`."""
    largest = 4096 if vocabulary <= 2**18 else 8192
    tile = min(max(_power_of_two(vocabulary), 128), largest)
    tiles = -(-vocabulary // tile)
    # 16 logits a thread: four loads of 16 bytes in flight, and room for several programs.
    return Tiling(tile, tiles, _power_of_two(tiles), min(max(tile // 512, 1), 8))


class Workspace:
    """Statistics of tiles between the kernels. One per stream: launches on two would mix them up.

    Args:
        vocabulary: V.
        rows: that one launch handles at most.
        device: of the logits.
        schedule: how the kernels are launched. The bits are the same either way.
    """

    def __init__(
        self,
        vocabulary: int,
        rows: int,
        device: torch.device,
        schedule: Schedule = "two-launch",
    ) -> None:
        self.schedule = schedule
        self.tiling = tiling(vocabulary)
        tiles = self.tiling.tiles
        self.rows = min(rows, _MAX_PROGRAMS // tiles)
        self.floats = torch.empty(self.rows, 3, tiles, dtype=torch.float32, device=device)
        self.counts = torch.empty(self.rows, tiles, dtype=torch.int32, device=device)
        self.sums = torch.empty(self.rows, 2, tiles, dtype=torch.int64, device=device)
        self.arrivals: torch.Tensor | None = None
        if schedule == "one-launch":
            self.arrivals = torch.zeros(self.rows, dtype=torch.int32, device=device)


class Kernel(Protocol):
    """What `launch` needs of a kernel: `kernel[grid](*arguments, **options)`."""

    def __getitem__(self, grid: tuple[int]) -> "Launch": ...


class Launch(Protocol):
    def __call__(self, *arguments: object, **options: object) -> object: ...


def unsupported(logits_dtype: torch.dtype, vocabulary: int, device: torch.device) -> str | None:
    """Return why the kernels can't be used, or None if they can."""
    if logits_dtype not in DTYPES:
        return f"the Triton path takes {', '.join(map(str, DTYPES))}, not {logits_dtype}"
    if vocabulary > MAX_VOCABULARY:
        return f"the Triton path takes at most {MAX_VOCABULARY} logits in a row, not {vocabulary}"
    if (device.type == "cpu") != INTERPRETED:
        return (
            "the Triton path runs on CPU tensors when TRITON_INTERPRET=1 was set before triton was "
            f"imported, and on GPU tensors when it was not; got device {device}"
        )
    if device.type not in ("cpu", "cuda"):
        return f"the Triton path runs on CUDA and ROCm devices, not on {device.type}"
    return None


def access(logits: torch.Tensor) -> Access:
    """Return how the kernels may read these logits `[B, V]`; decides about speed, not bits."""
    row_stride, token_stride = logits.stride()
    if token_stride != 1 and logits.shape[1] > 1:
        return "strided"
    row_bytes = row_stride * logits.element_size() if logits.shape[0] > 1 else 0
    aligned = logits.data_ptr() % _VECTOR_BYTES == 0 and row_bytes % _VECTOR_BYTES == 0
    return "vector" if aligned else "adjacent"


def mask_rows_(
    logits: torch.Tensor, n: torch.Tensor, exclude: torch.Tensor, workspace: Workspace
) -> None:
    """Set to -inf what lies below its row's threshold, in place. Does not wait for the device.

    Args:
        logits: `[B, V]`, B >= 0, V > 0, float16, bfloat16 or float32, any strides without overlap.
        n: float64 `[B]`, any stride; a row is enabled if its n is finite and > 0.
        exclude: bool `[B]`, any stride: leave -inf out of maximum, σ and count.
        workspace: made for V. Larger batches than it has rows for are launched in parts.
    """
    # Triton launches on the current device, whatever its arguments lie on.
    here = torch.cuda.device(logits.device) if logits.is_cuda else contextlib.nullcontext()
    with here:
        for first in range(0, logits.shape[0], workspace.rows):
            part = slice(first, first + workspace.rows)
            launch(logits[part], n[part], exclude[part], workspace, access(logits[part]))


def launch(
    logits: torch.Tensor,
    n: torch.Tensor,
    exclude: torch.Tensor,
    workspace: Workspace,
    how: Access,
) -> None:
    """Launch the kernels on at most `workspace.rows` rows; see `mask_rows_`."""
    rows, size = logits.shape
    tile, tiles, padded_tiles, warps = workspace.tiling
    statistics = (workspace.floats, workspace.counts, workspace.sums)
    strides = (*logits.stride(), n.stride(0), exclude.stride(0))
    grid = (rows * tiles,)
    # Contracting a product and a sum to one operation would round otherwise than elsewhere.
    options = {"TILE": tile, "ACCESS": how, "num_warps": warps, "enable_fp_fusion": False}
    if workspace.schedule == "one-launch":
        one: Kernel = measure_and_mask
        one[grid](
            logits, n, exclude, *statistics, workspace.arrivals, size, tiles, *strides,
            TILES=padded_tiles, **options,
        )  # fmt: skip
        return
    first: Kernel = measure_tiles
    second: Kernel = mask_tiles
    first[grid](logits, n, exclude, *statistics, size, tiles, *strides, **options)
    second[grid](
        logits, n, *statistics, size, tiles, *strides[:3], TILES=padded_tiles, **options
    )  # fmt: skip


def prepare(dtype: torch.dtype, workspace: Workspace) -> None:
    """Compile and load every variant that `mask_rows_` can come to need. Nothing is masked.

    Launches on a disabled row, because compiling alone would leave loading for the first step,
    which may be one that is being captured in a graph.
    """
    if INTERPRETED:
        return
    device = workspace.floats.device
    disabled = torch.zeros(1, dtype=torch.float64, device=device)
    exclude = torch.zeros(1, dtype=torch.bool, device=device)
    logits = torch.empty(1, 1, dtype=dtype, device=device)
    here = torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext()
    with here:
        for how in ACCESSES:
            launch(logits, disabled, exclude, workspace, how)


def _power_of_two(x: int) -> int:
    """The smallest power of two >= x > 0."""
    return 1 << (x - 1).bit_length()
