"""Maskers where compiling or launching kernels fails. Imported in a process of its own: conftest.

Everything that fails here fails for real, but for the driver, which stands in for that of a GPU.
"""

import contextlib
import importlib
import itertools
import logging
import os
import resource
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from unit.kernel import compiled


class Outcome(NamedTuple):
    """What a call left behind.

    Attributes:
        error: the type and the message of what it raised; "" if nothing.
        logged: the messages of the processor's logger.
        logits: what became of them.
        grids: the launches that came to pass.
    """

    error: str
    logged: list[str]
    logits: torch.Tensor
    grids: list[int]


@contextlib.contextmanager
def _cache_in_a_file() -> Iterator[None]:
    """A folder that can't be made: what a read-only file system looks like to root as well."""
    with tempfile.NamedTemporaryFile() as file, _environment("TRITON_CACHE_DIR", f"{file.name}/x"):
        yield


@contextlib.contextmanager
def _full_disk() -> Iterator[None]:
    """No file can grow beyond 0 bytes."""
    with tempfile.TemporaryDirectory() as folder, _environment("TRITON_CACHE_DIR", folder):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def _failing_assembler() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        assembler = Path(folder) / "ptxas"
        # It says which version it is, and assembles nothing.
        assembler.write_text(
            '#!/bin/sh\ncase "$1" in --version) echo "release 13.0, V13.0.0";; *) exit 1;; esac\n'
        )
        assembler.chmod(0o755)
        with (
            _environment("TRITON_CACHE_DIR", folder),
            _environment("TRITON_PTXAS_PATH", str(assembler)),
            # Triton 3.9 assembles for an H100 with this one.
            _environment("TRITON_PTXAS_BLACKWELL_PATH", str(assembler)),
        ):
            yield


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


FAULTS: dict[str, Callable[[], contextlib.AbstractContextManager[None]]] = {
    "cache that can't be made": _cache_in_a_file,
    "full disk": _full_disk,
    "failing assembler": _failing_assembler,
    "failing launch": contextlib.nullcontext,
}


def _driver(fails_at: int | None) -> Any:
    """The driver, of which launch number `fails_at` fails and every later one."""
    driver = compiled._install_driver()
    record = driver._record
    launches: list[int] = []

    def launch(grid: int, *arguments: object) -> None:
        launches.append(grid)
        if fails_at is not None and len(launches) > fails_at:
            raise RuntimeError("Triton Error [CUDA]: out of resources")
        record(grid, *arguments)

    driver._record = launch  # type: ignore[method-assign]
    return driver


def _outcome(driver: Any, logits: torch.Tensor, call: Callable[[], object]) -> Outcome:
    from topnsigma_processor import path_choice

    path_choice.warn_of_torch.cache_clear()
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("topnsigma_processor")
    logger.addHandler(handler)
    error = ""
    try:
        call()
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    finally:
        logger.removeHandler(handler)
    return Outcome(error, messages, logits, driver.grids)


@contextlib.contextmanager
def _as_on_a_gpu() -> Iterator[None]:
    """A masker of CPU tensors takes the kernels, unless it is asked for PyTorch."""
    row_masker: Any = importlib.import_module("topnsigma_processor.row_masker")
    original = row_masker.uses_triton
    row_masker.uses_triton = lambda path, *others: path != "torch"
    try:
        yield
    finally:
        row_masker.uses_triton = original


def of_a_masker(fault: str, path: Any, logits: torch.Tensor, n: float) -> Outcome:
    """Construct a masker where something fails, and let it mask."""
    from topnsigma_processor.row_masker import RowMasker

    rows, size = logits.shape
    driver = _driver(0 if fault == "failing launch" else None)

    def call() -> None:
        masker = RowMasker(size, rows, torch.device("cpu"), path=path)
        numbers = torch.full((rows,), n, dtype=torch.float64)
        masker.mask_(logits, numbers, torch.zeros(rows, dtype=torch.bool))

    with _as_on_a_gpu(), FAULTS[fault]():
        return _outcome(driver, logits, call)


def of_the_operation(fault: str, logits: torch.Tensor, n: float) -> Outcome:
    """The operation's way to the kernels where something fails."""
    from topnsigma_processor import top_n_sigma

    driver = _driver(0 if fault == "failing launch" else None)
    with FAULTS[fault]():
        return _outcome(
            driver, logits, lambda: top_n_sigma._mask_with_triton(logits, n, exclude=True)
        )


def of_a_later_launch(fails_at: int, logits: torch.Tensor) -> tuple[Outcome, Outcome]:
    """A masker of which one launch fails after all was well, and its next call."""
    from topnsigma_processor.row_masker import RowMasker

    rows, size = logits.shape
    driver = _driver(None)
    with _as_on_a_gpu():
        masker = RowMasker(size, rows, torch.device("cpu"))
    n, exclude = torch.ones(rows, dtype=torch.float64), torch.zeros(rows, dtype=torch.bool)
    record = driver._record
    outcomes = []
    for failing in (fails_at, None):
        driver.grids.clear()
        attempts = itertools.count()

        def launch(
            grid: int,
            *arguments: object,
            attempts: Iterator[int] = attempts,
            failing: int | None = failing,
        ) -> None:
            if next(attempts) == failing:
                raise RuntimeError("Triton Error [CUDA]: invalid argument")
            record(grid, *arguments)

        for kernel in compiled._kernels():
            for caches in kernel.device_caches.values():
                for compiled_kernel in caches[0].values():
                    compiled_kernel._run = launch
        found = _outcome(driver, logits, lambda: masker.mask_(logits, n, exclude))
        outcomes.append(found._replace(logits=logits.clone(), grids=list(driver.grids)))
    return outcomes[0], outcomes[1]
