"""Adapter for this project's processor: ``topnsigma_processor.top_n_sigma_``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from topnsigma_conformance.implementation import Implementation


class Processor(Implementation):
    """The in-place op, in the RFC dialect.

    Devices: ``cpu``, the PyTorch path; ``interpret``, the Triton kernels in Triton's interpreter,
    on CPU tensors, in a process of its own, since the interpreter has to be asked for before
    triton is imported; ``cuda``, the Triton kernels on a GPU.
    """

    name = "processor"
    arrays = "torch"
    dtypes = ("float32", "float16", "bfloat16")
    devices = ("cpu", "interpret", "cuda")
    in_place = True
    extreme = True

    def __init__(self, device: str | None = None) -> None:
        super().__init__(device)
        import topnsigma_processor

        self.version = topnsigma_processor.__version__
        self.isolated = self.device == "interpret"
        self._top_n_sigma_ = topnsigma_processor.top_n_sigma_

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        """``top_n_sigma_(logits, n)``: the input itself, changed in place."""
        if self.device == "cpu":
            return self._top_n_sigma_(logits, n)
        if self.device == "interpret":
            _ask_for_the_interpreter()
        return self._top_n_sigma_(logits, n, path="triton")


def _ask_for_the_interpreter() -> None:
    """Set TRITON_INTERPRET=1 for this process; where that is too late the processor says so."""
    if "triton" not in sys.modules:
        os.environ["TRITON_INTERPRET"] = "1"
