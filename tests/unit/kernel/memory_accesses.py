"""Watches every address that interpreted kernels touch, and says which they had no business with.

Imported in a process of its own, see conftest. Triton's interpreter reaches memory in one place: a
module of four functions, which `watched` puts itself in front of. An access that is not allowed is
reported and not made, so that nothing crashes.

What a program of row r and tile i may touch, element by element: its n; and if that enables row r,
the row's policy, the row's logits and the row's part of the workspace, of both as much as
`_allowed` says. Everything is taken from the tensors that are launched with, nothing from the
numbers that are passed along with them.
"""

import collections
import contextlib
import importlib
import math
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

KERNELS = ("measure_tiles", "mask_tiles", "measure_and_mask")

STATISTICS = ("floats", "counts", "sums")

_MOST_FAULTS = 20


class Access(NamedTuple):
    """One kind of access: by which kernel, "load", "store" or "atomic", of which tensor."""

    kernel: str
    kind: str
    tensor: str


class Accesses(NamedTuple):
    """What was seen.

    Attributes:
        elements: how many elements were touched, by kind of access.
        faults: what was not allowed, one line each.
    """

    elements: collections.Counter[Access]
    faults: list[str]


class _Program(NamedTuple):
    """The program that is running, and what it belongs to."""

    kernel: str
    arguments: dict[str, torch.Tensor]
    row: int
    tile: slice
    number: int
    enabled: bool
    is_last: bool


def _allowed(program: _Program) -> dict[str, list[tuple[str, torch.Tensor]]]:
    """The parts of tensors that a program may load, store, or change atomically."""
    kernel, tensors, row = program.kernel, program.arguments, program.row
    loads, stores, atomics = [("n", tensors["n"][row])], [], []
    if program.enabled:
        logits = tensors["logits"][row]
        statistics = [(name, tensors[name][row]) for name in STATISTICS]
        own = [(name, part[..., program.number]) for name, part in statistics]
        if kernel != "mask_tiles":
            loads += [("exclude", tensors["exclude"][row]), ("logits", logits[program.tile])]
            stores += own
        if kernel == "mask_tiles":
            loads += [*statistics, ("logits", logits[program.tile])]
            stores += [("logits", logits[program.tile])]
        if kernel == "measure_and_mask":
            arrivals = [("arrivals", tensors["arrivals"][row])]
            atomics += arrivals
            if program.is_last:
                loads += [*statistics, ("logits", logits)]
                stores += [("logits", logits), *arrivals]
    return {"load": loads, "store": stores, "atomic": atomics}


def _addresses(part: torch.Tensor) -> npt.NDArray[np.int64]:
    """Where the elements of a tensor of any shape and strides begin, in any order."""
    offsets = np.zeros(1, np.int64)
    for size, stride in zip(part.shape, part.stride(), strict=True):
        offsets = np.add.outer(offsets, np.arange(size, dtype=np.int64) * stride).ravel()
    return part.data_ptr() + offsets * part.element_size()


class _Memory:
    """Stands in front of the interpreter's module of functions on memory."""

    def __init__(self, functions: Any) -> None:
        self._functions = functions
        self._parts: dict[str, list[tuple[str, int, npt.NDArray[np.int64]]]] = {}
        self._program: _Program | None = None
        self.seen = Accesses(collections.Counter(), [])

    def enter(self, program: _Program) -> None:
        self._program = program
        self._parts = {
            kind: [(name, part.element_size(), _addresses(part)) for name, part in parts]
            for kind, parts in _allowed(program).items()
        }

    def load(self, pointers: Any, mask: Any, other: Any, dtype: Any) -> Any:
        mask = self._checked("load", pointers, mask, np.dtype(dtype).itemsize)
        return self._functions.load(pointers, mask, other, dtype)

    def store(self, pointers: Any, value: Any, mask: Any) -> Any:
        mask = self._checked("store", pointers, mask, value.dtype.itemsize)
        return self._functions.store(pointers, value, mask)

    def atomic_rmw(self, operation: Any, pointers: Any, value: Any, mask: Any, order: Any) -> Any:
        mask = self._checked("atomic", pointers, mask, value.dtype.itemsize)
        return self._functions.atomic_rmw(operation, pointers, value, mask, order)

    def __getattr__(self, name: str) -> Any:
        # No kernel compares and swaps; one that comes to do so has to be looked after here.
        if name == "atomic_cas":
            raise NotImplementedError(name)
        return getattr(self._functions, name)

    def _checked(self, kind: str, pointers: Any, mask: Any, width: int) -> Any:
        """Note an access; return the mask without the lanes that were not allowed."""
        program = self._program
        assert program is not None
        mask = np.broadcast_to(np.asarray(mask, bool), np.shape(pointers))
        active = np.asarray(pointers)[mask].astype(np.int64)
        wrong = np.ones(active.shape, bool)
        for name, part_width, addresses in self._parts[kind]:
            inside = np.isin(active, addresses) if width == part_width else np.zeros_like(wrong)
            if inside.any():
                self.seen.elements[Access(program.kernel, kind, name)] += int(inside.sum())
            wrong &= ~inside
        if not wrong.any():
            return mask
        if len(self.seen.faults) < _MOST_FAULTS:
            where = _described(int(active[wrong][0]), program.arguments)
            self.seen.faults.append(
                f"{program.kernel}, row {program.row}, tile {program.number}: {kind} of "
                f"{int(wrong.sum())} elements, {where}"
            )
        permitted = np.zeros(mask.shape, bool)
        permitted[mask] = ~wrong
        return permitted


def _described(address: int, tensors: dict[str, torch.Tensor]) -> str:
    """An address, as elements from the beginning of the nearest tensor."""
    name = min(tensors, key=lambda name: abs(address - tensors[name].data_ptr()))
    elements = (address - tensors[name].data_ptr()) / tensors[name].element_size()
    return f"the first of them {elements:+.0f} elements from where {name} begins"


class _Watched:
    """A kernel whose programs are announced; all of them, or the chosen ones only."""

    def __init__(self, kernel: Any, name: str, memory: _Memory, chosen: Sequence[int] | None):
        self._kernel, self._name, self._memory, self._chosen = kernel, name, memory, chosen

    def __getitem__(self, grid: tuple[int]) -> Callable[..., None]:
        def launch(*arguments: Any, **options: Any) -> None:
            tensors = {
                name: value
                for name, value in zip(self._kernel.arg_names, arguments, strict=False)
                if isinstance(value, torch.Tensor)
            }
            programs = self._chosen or range(grid[0])
            with _announced(lambda index: self._enter(programs, index, tensors, options["TILE"])):
                self._kernel[(len(programs),)](*arguments, **options)

        return launch

    def _enter(
        self, programs: Sequence[int], index: int, tensors: dict[str, torch.Tensor], width: int
    ) -> int:
        rows, size = tensors["logits"].shape
        tiles = tensors["counts"].shape[1]
        number = programs[index]
        row = number // tiles
        assert row < rows
        n = float(tensors["n"][row])
        first = number % tiles * width
        self._memory.enter(
            _Program(
                self._name,
                tensors,
                row,
                slice(first, min(first + width, size)),
                number % tiles,
                n > 0 and math.isfinite(n),
                all(later // tiles != row for later in programs[index + 1 :]),
            )
        )
        return number


@contextlib.contextmanager
def _announced(enter: Callable[[int], int]) -> Iterator[None]:
    """Let `enter` decide which program runs as the i-th of a launch."""
    from triton.runtime.interpreter import interpreter_builder  # type: ignore[import-untyped, import-not-found, unused-ignore]

    def set_grid_index(x: int, y: int, z: int) -> None:
        interpreter_builder.grid_idx = (enter(x), y, z)

    interpreter_builder.set_grid_idx = set_grid_index
    try:
        yield
    finally:
        del interpreter_builder.set_grid_idx


@contextlib.contextmanager
def watched(chosen: Sequence[int] | None = None) -> Iterator[Accesses]:
    """Watch all launches of `triton_path`; of each, run the chosen programs only, if given."""
    from triton.runtime import interpreter  # type: ignore[import-untyped, import-not-found, unused-ignore]

    from topnsigma_processor import triton_path

    memory = _Memory(interpreter._interpreter)
    kernels = {name: getattr(triton_path, name) for name in KERNELS}
    interpreter._interpreter = memory
    try:
        for name, kernel in kernels.items():
            setattr(triton_path, name, _Watched(kernel, name, memory, chosen))
        yield memory.seen
    finally:
        interpreter._interpreter = memory._functions
        for name, kernel in kernels.items():
            setattr(triton_path, name, kernel)


def kernels() -> dict[str, dict[str, Any]]:
    """Every kernel of the package: name to the annotations of its parameters."""
    from triton.runtime.interpreter import InterpretedFunction  # type: ignore[import-untyped, import-not-found, unused-ignore]

    import topnsigma_processor

    found = {}
    for module in pkgutil.iter_modules(topnsigma_processor.__path__):
        if module.name == "vllm_plugin":  # needs vLLM
            continue
        contents = vars(importlib.import_module(f"topnsigma_processor.{module.name}"))
        for value in contents.values():
            if isinstance(value, InterpretedFunction) and value.arg_names:
                annotations = value.fn.__annotations__
                found[value.__name__] = {n: str(annotations.get(n)) for n in value.arg_names}
    return found
