"""Compiles the Triton kernels where there is no GPU. Imported in a process of its own: conftest.

`build` compiles for a target and says what the compiler made of it. `launches` runs the launching
code against a driver that compiles, counts and runs nothing.
"""

import collections
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from dispatch_recorder import DispatchRecorder

TARGETS = {"sm_80": 80, "sm_90": 90, "sm_100": 100, "gfx942": "gfx942"}


def start(cache: str) -> None:
    """Initialise the process."""
    os.environ.pop("TRITON_INTERPRET", None)
    os.environ["TRITON_CACHE_DIR"] = cache


class Build(SimpleNamespace):
    """`registers`, `spills` (bytes or registers, and stack), `text` of the assembler source, and
    `accesses`: how often each instruction on global memory occurs."""

    registers: int
    spills: int
    text: str
    accesses: dict[str, int]


def build(kernel_name: str, target: str, dtype: str, vocabulary: int, how: str) -> Build:
    """Compile a kernel with the options that `triton_path.launch` gives it."""
    import triton  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from triton.backends.compiler import GPUTarget  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from triton.compiler import ASTSource  # type: ignore[import-untyped, import-not-found, unused-ignore]

    from topnsigma_processor import mask_kernels, triton_path

    kernel = getattr(mask_kernels, kernel_name)
    tile, _, padded_tiles, warps = triton_path.tiling(vocabulary)
    pointers = {
        "logits": f"*{dtype}", "n": "*fp64", "exclude": "*i1",
        "floats": "*fp32", "counts": "*i32", "sums": "*i64", "arrivals": "*i32",
    }  # fmt: skip
    constants = {"TILE": tile, "TILES": padded_tiles, "ACCESS": how}
    signature = {
        name: "constexpr" if name in constants
        else pointers.get(name) or ("i32" if name in ("size", "tiles") else "i64")
        for name in kernel.arg_names
    }  # fmt: skip
    # What triton finds out about the arguments that may be specialised: the workspace's.
    aligned = {
        (index,): [["tt.divisibility", 16]]
        for index, name in enumerate(kernel.arg_names)
        if name in ("floats", "counts", "sums", "arrivals")
    }
    constants = {name: value for name, value in constants.items() if name in kernel.arg_names}
    backend, warp_size = ("hip", 64) if target.startswith("gfx") else ("cuda", 32)
    compiled = triton.compile(
        ASTSource(kernel, signature, constants, aligned),
        target=GPUTarget(backend, TARGETS[target], warp_size),
        options={"num_warps": warps, "enable_fp_fusion": False},
    )
    if backend == "hip":
        text = compiled.asm["amdgcn"]
        values = dict(re.findall(r"\.([vs]gpr(?:_spill)?_count):\s+(\d+)", text))
        scratch = int(re.search(r"\.private_segment_fixed_size:\s+(\d+)", text).group(1))  # type: ignore[union-attr]
        return Build(
            registers=int(values["vgpr_count"]),
            spills=int(values["vgpr_spill_count"]) + int(values["sgpr_spill_count"]) + scratch,
            text=text,
            accesses=_count(r"\b(?:global|buffer|flat)_(?:load|store)_\w+", text),
        )
    usage = _resource_usage(compiled.asm["cubin"], Path(triton.__file__).parent)
    return Build(
        registers=usage["REG"],
        spills=usage["STACK"] + usage["LOCAL"],
        text=compiled.asm["ptx"],
        accesses=_count(r"\b(?:ld|st)\.global[\w.:]*", compiled.asm["ptx"]),
    )


def _count(pattern: str, text: str) -> dict[str, int]:
    return dict(collections.Counter(re.findall(pattern, text)))


def _resource_usage(cubin: bytes, triton_folder: Path) -> dict[str, int]:
    tool = triton_folder / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        output = subprocess.run(
            [tool, "--dump-resource-usage", file.name], capture_output=True, text=True, check=True
        ).stdout
    return {key: int(value) for key, value in re.findall(r"\b(REG|STACK|LOCAL):(\d+)", output)}


class _Driver:
    """An H100's driver, as far as triton needs one to launch; records instead of launching."""

    def __init__(self) -> None:
        from triton.backends.compiler import GPUTarget  # type: ignore[import-untyped, import-not-found, unused-ignore]

        self.grids: list[int] = []
        self.fused: set[bool] = set()
        self.get_current_device = lambda: 0
        self.get_current_stream = lambda device: 0
        self.get_current_target = lambda: GPUTarget("cuda", 90, 32)
        self.launcher_cls = self._launcher
        self.utils = SimpleNamespace(
            load_binary=lambda *arguments: (object(), object(), 64, 0, 1024),
            unload_module=lambda module: None,
            get_device_properties=lambda device: {"max_shared_mem": 232_448},
        )

    def _launcher(self, source: object, metadata: Any) -> Any:
        self.fused.add(metadata.enable_fp_fusion)
        return self._record

    def _record(self, grid: int, *arguments: object) -> None:
        self.grids.append(grid)


class Launches(SimpleNamespace):
    """What happened: kernels `prepared` and, in the end, `compiled`; whether a product was `fused`
    with a sum; and per batch the `grids` launched, the `operations` of PyTorch and the bytes that
    were `allocated`."""

    prepared: int
    compiled: int
    fused: set[bool]
    grids: list[list[int]]
    operations: list[list[str]]
    allocated: list[int]


def launches(
    vocabulary: int, batches: list[tuple[int, str]], schedule: str, dtype: torch.dtype
) -> Launches:
    """Prepare a `RowMasker` and let it mask batches of (B, layout)."""
    from topnsigma_processor import triton_path
    from topnsigma_processor.row_masker import RowMasker

    driver = _install_driver()
    kernels = _kernels()

    def compiled() -> int:
        return sum(len(cache[0]) for k in kernels for cache in k.device_caches.values())

    masker = RowMasker(vocabulary, 64, torch.device("cpu"), dtype, path="torch")
    masker._workspace = triton_path.Workspace(vocabulary, 64, masker.device, schedule)  # type: ignore[arg-type]
    triton_path.prepare(dtype, masker._workspace)
    found = Launches(prepared=compiled(), grids=[], operations=[], allocated=[])
    for rows, layout in batches:
        logits = LAYOUTS[layout](rows, vocabulary, dtype)
        n = torch.ones(2 * rows + 1, dtype=torch.float64)[1::2]
        exclude = torch.zeros(1, dtype=torch.bool).expand(rows)
        driver.grids.clear()
        with DispatchRecorder() as recorder:
            masker.mask_(logits, n, exclude)
        found.grids.append(list(driver.grids))
        found.operations.append(recorder.operations)
        found.allocated.append(sum(recorder.allocated))
    found.compiled, found.fused = compiled(), driver.fused
    return found


def accesses(dtype: torch.dtype) -> dict[str, str]:
    """How each layout may be read, of three rows and of the first alone."""
    from topnsigma_processor import triton_path

    found = {}
    for name, make in LAYOUTS.items():
        logits = make(3, 400, dtype)
        found[name] = f"{triton_path.access(logits)}, {triton_path.access(logits[:1])}"
    return found


LAYOUTS: dict[str, Callable[[int, int, torch.dtype], torch.Tensor]] = {
    "contiguous": lambda b, v, dtype: torch.zeros(b, v, dtype=dtype),
    "misaligned": lambda b, v, dtype: torch.zeros(b * v + 1, dtype=dtype)[1:].view(b, v),
    "padded": lambda b, v, dtype: torch.zeros(b, v + 64, dtype=dtype)[:, :v],
    "odd rows": lambda b, v, dtype: torch.zeros(b, v + 1, dtype=dtype)[:, :v],
    "every second": lambda b, v, dtype: torch.zeros(b, 2 * v, dtype=dtype)[:, ::2],
    "transposed": lambda b, v, dtype: torch.zeros(v, b, dtype=dtype).t(),
}


def launches_of_the_operation(
    n: Any, rows: int, vocabulary: int
) -> tuple[list[int], list[str], int]:
    """Grids, PyTorch's operations and allocated bytes of `top_n_sigma_` on its Triton path."""
    from topnsigma_processor import top_n_sigma

    driver = _install_driver()
    logits = torch.zeros(rows, vocabulary)
    with DispatchRecorder() as recorder:
        top_n_sigma._mask_with_triton(logits, n, exclude=False)
    return driver.grids, recorder.operations, sum(recorder.allocated)


def _install_driver() -> _Driver:
    from triton.runtime import driver  # type: ignore[import-untyped, import-not-found, unused-ignore]

    for kernel in _kernels():
        # A compiled kernel keeps the launcher of the driver it was first launched with.
        kernel.device_caches.clear()
    fake = _Driver()
    driver.set_active(fake)  # type: ignore[arg-type, unused-ignore]
    return fake


def _kernels() -> list[Any]:
    from topnsigma_processor import mask_kernels

    return [mask_kernels.measure_tiles, mask_kernels.mask_tiles, mask_kernels.measure_and_mask]


def path_error() -> str:
    """What asking for the Triton path on a CPU says where the interpreter is off."""
    from topnsigma_processor import top_n_sigma_

    try:
        top_n_sigma_(torch.zeros(1, 5), 1.0, path="triton")
    except ValueError as error:
        return str(error)
    return ""
