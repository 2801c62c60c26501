"""`device_function`: what the kernels call. And whether Triton interprets or compiles."""
# mypy: disable-error-code="untyped-decorator"

from collections.abc import Callable
from typing import Any

import triton  # type: ignore[import-untyped, import-not-found, unused-ignore]


@triton.jit
def _probe() -> None:
    pass


INTERPRETED: bool = not isinstance(_probe, triton.runtime.JITFunction)
"""Whether TRITON_INTERPRET was set when Triton was imported: kernels then run on CPU tensors."""


def device_function(function: Callable[..., Any]) -> Any:
    """Like `triton.jit`, for functions that kernels call.

    Triton's interpreter prepares every call of a function marked by `triton.jit` anew, which takes
    it many times longer than the function's own work. A plain function does there as well.
    """
    return function if INTERPRETED else triton.jit(function)
