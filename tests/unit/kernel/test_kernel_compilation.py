"""What the compiler makes of the kernels, and what launching them costs; no GPU is needed.

Register counts and instructions are those of offline compilation; nothing is timed.
"""

import math
from concurrent.futures import ProcessPoolExecutor

import pytest
import torch
from unit.kernel import compiled

KERNELS = ["measure_tiles", "mask_tiles", "measure_and_mask"]
VOCABULARY = 151_936

# 255 is the hardware's limit; up to 128, two programs of 256 threads fit into a multiprocessor.
MOST_REGISTERS = 96


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("target", compiled.TARGETS)
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
def test_full_tiles_are_moved_by_128_bits_and_nothing_spills(
    compiler: ProcessPoolExecutor, kernel: str, target: str, dtype: str
) -> None:
    built = compiler.submit(compiled.build, kernel, target, dtype, VOCABULARY, "vector").result()
    assert built.spills == 0
    assert built.registers <= MOST_REGISTERS
    load, store, per_thread = "ld.global.v4.b32", "st.global.v4.b32", 16
    if target.startswith("gfx"):  # wavefronts of 64
        load, store, per_thread = "global_load_dwordx4", "global_store_dwordx4", 8
    wide = per_thread * (4 if dtype == "fp32" else 2) // 16
    # Once to measure, once to mask.
    loads = {"measure_tiles": 1, "mask_tiles": 1, "measure_and_mask": 2}[kernel]
    assert built.accesses.get(load, 0) == loads * wide, built.accesses
    # The stores of a tile that goes as a whole and of one that is read may be the same ones.
    stores = (0,) if kernel == "measure_tiles" else (wide, 2 * wide)
    found = built.accesses.get(store, 0)
    assert found in stores, built.accesses
    # Element by element only in the last tile; five more are statistics and the counter.
    wider = (store, "st.global.b64", "global_store_dwordx2")
    narrow = sum(
        count for name, count in built.accesses.items()
        if ("st." in name or "_store_" in name) and name not in wider
    )  # fmt: skip
    assert narrow <= found // wide * per_thread + 5, built.accesses


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("vocabulary", "how"),
    [(50_257, "vector"), (50_257, "adjacent"), (VOCABULARY, "strided"), (5, "vector"),
     (2**24, "vector"), (2**24, "strided")],
)  # fmt: skip
def test_no_other_variant_spills(
    compiler: ProcessPoolExecutor, kernel: str, vocabulary: int, how: str
) -> None:
    built = compiler.submit(compiled.build, kernel, "sm_90", "fp32", vocabulary, how).result()
    assert built.spills == 0
    assert built.registers <= (MOST_REGISTERS if vocabulary < 2**18 else 192)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100"])
def test_arithmetic_is_that_of_the_interpreter(
    compiler: ProcessPoolExecutor, kernel: str, target: str
) -> None:
    built = compiler.submit(compiled.build, kernel, target, "fp32", VOCABULARY, "vector").result()
    # No contraction, no flushing, no approximation, and no sum of floats over lanes: the only
    # float32 sum is the difference to the mean, which is a subtraction.
    for inexact in ("fma.rn", ".ftz", ".approx", "div.full", "add.f32", "add.rn.f32"):
        assert inexact not in built.text, inexact
    assert ("div.rn.f64" in built.text) == (kernel != "measure_tiles")
    assert ("sqrt.rn.f64" in built.text) == (kernel != "measure_tiles")


BATCHES = [
    (rows, layout) for rows in (1, 2, 3, 7, 16, 64, 1000) for layout in compiled.LAYOUTS
]  # fmt: skip


@pytest.mark.parametrize(("schedule", "kernels"), [("two-launch", 2), ("one-launch", 1)])
def test_batches_of_any_size_and_layout_compile_nothing(
    compiler: ProcessPoolExecutor, schedule: str, kernels: int
) -> None:
    size = 400
    found = compiler.submit(compiled.launches, size, BATCHES, schedule, torch.float32).result()
    assert found.prepared == found.compiled == 3 * kernels
    assert found.fused == {False}
    for (rows, _), grids in zip(BATCHES, found.grids, strict=True):
        parts = [min(64, rows - first) for first in range(0, rows, 64)]
        assert grids == [part for part in parts for _ in range(kernels)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_only_what_is_aligned_says_vector(
    compiler: ProcessPoolExecutor, dtype: torch.dtype
) -> None:
    assert compiler.submit(compiled.accesses, dtype).result() == {
        "contiguous": "vector, vector",
        "misaligned": "adjacent, adjacent",
        "padded": "vector, vector",
        "odd rows": "adjacent, vector",
        "every second": "strided, strided",
        "transposed": "strided, strided",
    }


@pytest.mark.parametrize("schedule", ["two-launch", "one-launch"])
def test_a_masker_allocates_nothing_and_waits_for_nothing(
    compiler: ProcessPoolExecutor, schedule: str
) -> None:
    found = compiler.submit(compiled.launches, 400, BATCHES, schedule, torch.bfloat16).result()
    assert set(found.allocated) == {0}
    views = {"aten.slice.Tensor", "aten.select.int", "aten.as_strided.default"}
    assert {operation for operations in found.operations for operation in operations} <= views


@pytest.mark.parametrize("n", [None, [None] * 70])
def test_no_launch_where_no_row_is_enabled(compiler: ProcessPoolExecutor, n: object) -> None:
    grids, operations, _ = compiler.submit(compiled.launches_of_the_operation, n, 70, 1000).result()
    assert grids == []
    assert operations == []


@pytest.mark.parametrize(
    "n", [1.0, [None, *[1.0] * 1499], torch.ones(()), torch.full((1500,), math.nan)]
)
def test_the_operation_launches_twice_and_never_reads_n_back(
    compiler: ProcessPoolExecutor, n: object
) -> None:
    rows, vocabulary = 1500, 4097
    grids, operations, allocated = compiler.submit(
        compiled.launches_of_the_operation, n, rows, vocabulary
    ).result()
    assert grids == [2048, 2048, 952, 952]
    assert not [name for name in operations if "local_scalar" in name or "nonzero" in name]
    # The workspace of 1,024 rows, and n.
    assert allocated <= 1024 * 2 * (12 + 4 + 16) + 2 * 8 * rows + 16


def test_the_triton_path_on_a_cpu_needs_the_interpreter(compiler: ProcessPoolExecutor) -> None:
    message = compiler.submit(compiled.path_error).result()
    assert "TRITON_INTERPRET=1" in message
    assert "got device cpu" in message
