"""What the operation costs that can be counted, and so does not depend on how busy a machine is.

On a CPU: PyTorch operations and bytes of new memory. On a GPU, without one: kernels launched,
compiled after the start, bytes, numbers read back; and what the compiler makes of the kernels for
each target.
"""

from __future__ import annotations

import importlib.metadata
import multiprocessing
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import torch
from bench.benchmark_ids import OURS
from bench.cases import Case
from bench.contenders import of
from dispatch_recorder import DispatchRecorder
from unit.kernel import compiled

HOST_READS = ("aten._local_scalar_dense", "aten.nonzero", "aten._to_copy", "aten.item")

ON_CPU = (
    Case(8, 151_936),
    Case(8, 151_936, rows="shifted"),
    Case(8, 151_936, rows="half"),
    Case(8, 151_936, rows="disabled"),
    Case(8, 151_936, rows="noop"),
    Case(8, 151_936, rows="exclude"),
    Case(8, 151_936, "bfloat16"),
)

TARGETS = ("sm_90", "sm_100", "gfx942")
KERNELS = ("measure_tiles", "mask_tiles", "measure_and_mask")
VOCABULARY = 151_936


def count() -> dict[str, int]:
    """Every counter, by name."""
    return {**dict(_on_cpu()), **_in_other_process()}


def _on_cpu() -> Iterator[tuple[str, int]]:
    cpu = torch.device("cpu")
    for case in ON_CPU:
        step, logits = of(case, cpu)[OURS], case.logits(cpu)
        with DispatchRecorder() as recorder:
            step(logits)
        yield f"cpu/{case}/operations", len(recorder.operations)
        yield f"cpu/{case}/allocated bytes", sum(recorder.allocated)


def _host_reads(operations: list[str]) -> int:
    return sum(operation.startswith(HOST_READS) for operation in operations)


def _in_other_process() -> dict[str, int]:
    # Compiling needs an environment and a driver that this process may not have.
    with (
        tempfile.TemporaryDirectory() as cache,
        ProcessPoolExecutor(
            1, multiprocessing.get_context("spawn"), compiled.start, (cache,)
        ) as pool,
    ):
        return pool.submit(_of_kernels).result()


def _of_kernels() -> dict[str, int]:
    return {**dict(_launches()), **dict(_builds())}


def _launches() -> Iterator[tuple[str, int]]:
    rows = 64
    for schedule in ("two-launch", "one-launch"):
        found = compiled.launches(VOCABULARY, [(rows, "contiguous")], schedule, torch.float32)
        prefix = f"gpu/{schedule}-B{rows}-V{VOCABULARY}"
        yield f"{prefix}/launches", len(found.grids[0])
        yield f"{prefix}/allocated bytes", found.allocated[0]
        yield f"{prefix}/host reads", _host_reads(found.operations[0])
        yield f"{prefix}/compiled after the start", found.compiled - found.prepared
    for name, n in (("disabled", None), ("enabled", 1.0)):
        grids, operations, allocated = compiled.launches_of_the_operation(n, rows, VOCABULARY)
        prefix = f"gpu/top_n_sigma_-{name}-B{rows}-V{VOCABULARY}"
        yield f"{prefix}/launches", len(grids)
        yield f"{prefix}/allocated bytes", allocated
        yield f"{prefix}/host reads", _host_reads(operations)


def _builds() -> Iterator[tuple[str, int]]:
    for kernel in KERNELS:
        for target in TARGETS:
            built = compiled.build(kernel, target, "fp32", VOCABULARY, "vector")
            yield f"{target}/{kernel}/registers", built.registers
            yield f"{target}/{kernel}/spills", built.spills


def triton_version() -> str:
    """That compiles the kernels."""
    return importlib.metadata.version("triton")
