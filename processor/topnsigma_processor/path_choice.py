"""Which of the two paths masks a tensor: PyTorch operations or the Triton kernels."""

import importlib.util
from typing import Literal

import torch

Path = Literal["auto", "torch", "triton"]

PATHS = ("auto", "torch", "triton")


def uses_triton(path: Path, dtype: torch.dtype, vocabulary: int, device: torch.device) -> bool:
    """Return whether the Triton kernels mask rows of V logits.

    "auto" takes them on a GPU wherever they can be had, and never on a CPU, where they would run in
    Triton's interpreter, if at all. Triton is imported for nothing else.

    Raises:
        ValueError: `path` is none of `PATHS`, or "triton" can't be had; the message says why.
    """
    if not isinstance(path, str) or path not in PATHS:
        raise ValueError(f"path must be one of {', '.join(PATHS)}, got {path!r}")
    if path == "torch" or (path == "auto" and device.type != "cuda"):
        return False
    if importlib.util.find_spec("triton") is None:
        reason: str | None = "triton is not installed"
    else:
        from topnsigma_processor.triton_path import unsupported

        reason = unsupported(dtype, vocabulary, device)
    if path == "triton" and reason is not None:
        raise ValueError(f"path 'triton' can't be taken: {reason}")
    return reason is None
