"""mlx-vlm's ``apply_top_n_sigma``, on the CPU backend of mlx."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from topnsigma_conformance.adapters.named_peer import one_n
from topnsigma_conformance.adapters.one_module import load_module
from topnsigma_conformance.implementation import Implementation
from topnsigma_reference import Dialect


class MlxVlm(Implementation):
    """Drives the function, which takes one n a call, from the one file that holds it.

    Read and seen in mlx-vlm 0.7.10 with mlx 0.32.4: σ divides by V, in float32 also for narrow
    logits; a row that holds -inf, +inf or NaN is left alone, since its σ is NaN; a logit equal to
    the threshold stays. ``make_sampler``, through which generation and server come, calls the
    function where n > 0 and leaves it out otherwise, so that 0, a negative number and NaN disable;
    infinity keeps everything. That condition is repeated here, since what ``make_sampler`` returns
    draws a token. The function by itself keeps the maximum alone at n = 0 and refuses a negative n.

    Logits are copied to an mlx array, which cannot be changed and has no strides, and the result is
    copied back. Compilation is switched off by mlx's own ``disable_compile``: the function is
    compiled anew for each n and V, which takes seconds on a CPU, and the operations are the same
    without. That setting is global, which is why this runs in a process of its own.

    Raises:
        ImportError: mlx or mlx-vlm is not installed.
        ValueError: ``device`` is not ``cpu``.
    """

    name = "mlx-vlm"
    dialect = Dialect(sigma="population", invalid_n="disable")
    dtypes = ("float32", "float16", "bfloat16")
    per_row_n = False
    strided = False
    isolated = True
    parameter = "top_n_sigma"

    def __init__(self, device: str | None = None) -> None:
        super().__init__(device)
        self._mx: Any = importlib.import_module("mlx.core")
        self._apply_top_n_sigma = load_module("mlx_vlm", "sample_utils.py").apply_top_n_sigma
        self.version = ", ".join(
            f"{package} {importlib.metadata.version(package)}" for package in ("mlx-vlm", "mlx")
        )

    def apply(self, logits: npt.NDArray[Any], n: Sequence[Any]) -> npt.NDArray[Any]:
        """The function's result for ``logits`` [B, V] (bfloat16 as uint16), as a new array.

        Raises:
            TypeError: n cannot be compared with a number.
        """
        number = one_n(n)
        if number is None or not number > 0.0:
            return logits.copy()
        mx = self._mx
        mx.disable_compile()
        narrow = logits.dtype.itemsize == 2
        # Bit patterns both ways, so that no conversion touches a NaN.
        bits = mx.array(np.ascontiguousarray(logits).view(np.uint16 if narrow else np.uint32))
        names = {"float32": "float32", "float16": "float16", "uint16": "bfloat16"}
        result = self._apply_top_n_sigma(bits.view(getattr(mx, names[logits.dtype.name])), number)
        return np.array(result.view(mx.uint16 if narrow else mx.uint32)).view(logits.dtype)
