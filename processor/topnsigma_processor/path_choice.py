"""Which of the two paths masks a tensor: PyTorch operations or the Triton kernels."""

import functools
import importlib.util
import logging
from typing import Literal

import torch

_logger = logging.getLogger("topnsigma_processor")

Path = Literal["auto", "torch", "triton"]

PATHS = ("auto", "torch", "triton")


def uses_triton(path: Path, dtype: torch.dtype, vocabulary: int, device: torch.device) -> bool:
    """Return whether the Triton kernels mask rows of V logits.

    "auto" takes them on a GPU wherever they can be had, and never on a CPU, where they would run in
    Triton's interpreter, if at all. Triton is imported for nothing else. Where it is missing or
    broken, "auto" takes PyTorch on a GPU too and says so in the log, once.

    Raises:
        ValueError: `path` is none of `PATHS`, or "triton" can't be had; the message says why.
    """
    if not isinstance(path, str) or path not in PATHS:
        raise ValueError(f"path must be one of {', '.join(PATHS)}, got {path!r}")
    if path == "torch" or (path == "auto" and device.type != "cuda"):
        return False
    reason = _missing()
    if reason is not None:
        if path == "auto":
            warn_of_torch(reason)
    else:
        from topnsigma_processor.triton_path import unsupported

        reason = unsupported(dtype, vocabulary, device)
    if path == "triton" and reason is not None:
        raise ValueError(f"path 'triton' can't be taken: {reason}")
    return reason is None


@functools.cache
def warn_of_torch(reason: str) -> None:
    """Log that PyTorch's operations are used on a GPU, once for each reason."""
    _logger.warning(
        "top-nσ uses PyTorch's operations on a GPU, which wait for the device in every row, "
        "because %s",
        reason,
    )


@functools.cache
def _missing() -> str | None:
    """Why Triton can't be had in this process, or None."""
    try:
        if importlib.util.find_spec("triton") is None:
            return "triton is not installed"
        importlib.import_module("topnsigma_processor.triton_path")
    except Exception as error:  # a broken installation, or one of another version, raises anything
        return f"triton can't be imported: {type(error).__name__}: {error}"
    return None
