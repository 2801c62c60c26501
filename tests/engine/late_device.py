"""A device that runs behind the host, as a GPU does while the next step is prepared."""

from collections.abc import Callable
from types import TracebackType
from typing import Any
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from topnsigma_processor.row_masker import RowMasker


class LateDevice(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Inside the context, rows are not masked, and operations on tensors are only prepared.

    `run` does all of it, in the same order, on what the memory of the operands holds by then. So
    whoever overwrites memory that a step in flight still reads is found out.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._queue: list[Callable[[], object]] = []
        self._no_masking = mock.patch.object(RowMasker, "mask_", self._enqueue_masking(RowMasker))

    def __enter__(self) -> "LateDevice":
        self._no_masking.start()
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)  # type: ignore[no-untyped-call]
        self._no_masking.stop()

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        keywords = kwargs or {}
        result = operation(*args, **keywords)  # the host needs its shape
        if isinstance(result, torch.Tensor):
            self._queue.append(lambda: result.copy_(operation(*args, **keywords)))
        return result

    @property
    def busy(self) -> bool:
        """Whether anything was enqueued."""
        return bool(self._queue)

    def run(self) -> None:
        """Do what was enqueued."""
        for entry in self._queue:
            entry()
        self._queue.clear()

    def _enqueue_masking(self, masker: type[RowMasker]) -> Callable[..., None]:
        mask = masker.mask_

        def enqueue(self_: RowMasker, *operands: torch.Tensor) -> None:
            self._queue.append(lambda: mask(self_, *operands))

        return enqueue
