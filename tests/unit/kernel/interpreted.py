"""Runs the Triton kernels in Triton's interpreter. Imported in a process of its own, see conftest.

Calls travel there and back by pickle; so does a `Result`, with everything the kernels wrote.
"""

import dataclasses
import os
from typing import Literal

import torch

Schedule = Literal["two-launch", "one-launch"]

INTEGERS = {2: torch.int16, 4: torch.int32}


@dataclasses.dataclass
class Result:
    """What one call left behind.

    Attributes:
        memory: integers, the whole memory behind the logits.
        bits: integers `[B, V]`, the logits.
        statistics: the workspace's tensors, as integers.
        arrivals: the counters of the one-launch schedule.
    """

    memory: torch.Tensor
    bits: torch.Tensor
    statistics: tuple[torch.Tensor, ...]
    arrivals: torch.Tensor | None


def start() -> None:
    """Initialise the process."""
    os.environ["TRITON_INTERPRET"] = "1"
    torch.set_num_threads(1)


def mask(
    memory: torch.Tensor,
    dtype: torch.dtype,
    shape: tuple[int, int],
    strides: tuple[int, int],
    offset: int,
    n: torch.Tensor,
    exclude: torch.Tensor,
    schedule: Schedule = "two-launch",
    rows: int | None = None,
    order: list[int] | None = None,
    before: torch.Tensor | None = None,
) -> Result:
    """Mask logits `[B, V]` that lie in `memory` (integers of the dtype's width).

    `order` permutes the programs of a launch; `before` are logits `[B, V]` that are masked in the
    same workspace first.
    """
    from topnsigma_processor import triton_path

    workspace = triton_path.Workspace(shape[1], rows or max(shape[0], 1), memory.device, schedule)
    for tensor in (workspace.floats, workspace.counts, workspace.sums):
        tensor.fill_(-7)
    if before is not None:
        triton_path.mask_rows_(before.clone(), n, exclude, workspace)
    view = memory.view(dtype).as_strided(shape, strides, offset)
    with _programs_in(order):
        triton_path.mask_rows_(view, n, exclude, workspace)
    return Result(
        memory,
        view.contiguous().view(INTEGERS[dtype.itemsize]),
        (workspace.floats.view(torch.int32), workspace.counts, workspace.sums),
        workspace.arrivals,
    )


class _programs_in:  # noqa: N801
    """Makes the interpreter run the programs of a launch in another order than the first to last.

    The interpreter runs one after the other; `order[i]` is the program that runs as the i-th.
    """

    def __init__(self, order: list[int] | None) -> None:
        self.order = order

    def __enter__(self) -> None:
        if self.order is None:
            return
        from triton.runtime.interpreter import interpreter_builder  # type: ignore[import-untyped, import-not-found, unused-ignore]

        order = self.order
        set_grid_index = type(interpreter_builder).set_grid_idx
        interpreter_builder.set_grid_idx = lambda x, y, z: set_grid_index(
            interpreter_builder, order[x], y, z
        )

    def __exit__(self, *_: object) -> None:
        if self.order is not None:
            from triton.runtime.interpreter import interpreter_builder  # type: ignore[import-untyped, import-not-found, unused-ignore]

            del interpreter_builder.set_grid_idx


def path_of_cpu_tensors() -> list[str]:
    """Which path CPU tensors take in a process where the interpreter is on."""
    from topnsigma_processor import top_n_sigma_, triton_path
    from topnsigma_processor.row_masker import RowMasker

    seen: list[str] = []
    original = triton_path.mask_rows_

    def record(*arguments: object) -> None:
        seen.append("triton")
        original(*arguments)  # type: ignore[arg-type]

    triton_path.mask_rows_ = record  # type: ignore[assignment]
    try:
        logits = torch.tensor([[10.0, 8.0, 6.0, 6.0, 5.0]])
        n, exclude = torch.ones(1, dtype=torch.float64), torch.zeros(1, dtype=torch.bool)
        cpu = torch.device("cpu")
        for path in ("auto", "torch", "triton"):
            seen.append(path)
            first, second = logits.clone(), logits.clone()
            top_n_sigma_(first, 1.0, path=path)
            RowMasker(5, 1, cpu, path=path).mask_(second, n, exclude)
            assert torch.equal(first, second)
    finally:
        triton_path.mask_rows_ = original
    return seen
