"""The public operation: arguments are checked here, rows are masked in one of the two paths."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import Literal

import torch

from topnsigma_processor.parameter import tensor_per_row, values_per_row
from topnsigma_processor.path_choice import Path, uses_triton
from topnsigma_processor.short_repr import short_repr
from topnsigma_processor.torch_path import mask_rows_

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
NEG_INF_POLICIES = ("noop", "exclude")

# Bounds the memory of one call on a GPU, whatever B is.
_ROWS_PER_LAUNCH = 1024


def top_n_sigma_(
    logits: torch.Tensor,
    n: Real | float | Sequence[Real | float | None] | torch.Tensor | None,
    *,
    neg_inf: Literal["noop", "exclude"] = "noop",
    path: Path = "auto",
) -> torch.Tensor:
    """Set every logit below `max - n*σ` of its row to -inf, in place (Top-nσ, arXiv:2411.07641).

    σ is the sample standard deviation (divisor V-1) over the whole row (TNS-4). A logit is masked
    exactly when it is below the threshold (TNS-5); all others keep their bits (TNS-6), and whatever
    equals the row's maximum stays (TNS-7). Left as they are, bit for bit: disabled rows (TNS-2),
    rows that hold a NaN or +inf, or a -inf under "noop" (TNS-3), rows of one logit and rows whose
    logits are all equal (TNS-4). A row's bits depend on that row, its n and its dtype alone
    (TNS-8, TNS-11): not on the other rows, strides, alignment or the number of threads.

    The cut is within `n*σ*2e-6` and 2 float32 ulps of the exact threshold on every finite float32
    row (TNS-9). For float16 and bfloat16 rows the threshold is computed with the same precision,
    for float64 rows with that of float64.

    Args:
        logits: `[V]` or `[B, V]`, float16, bfloat16, float32 or float64, any device, any strides
            under which no two logits share memory. B = 0 and V = 0 are accepted.
        n: how many σ below the maximum a logit may lie. A real number > 0, finite as float64, or
            None (disabled) for all rows; a sequence of B of them; or a floating-point tensor, 0-d
            or `[B]`. `[V]` counts as B = 1. The values of a tensor are not validated: a finite one
            > 0 enables its row and any other one disables it.
        neg_inf: "noop": a row that holds a -inf is left as it is. "exclude": -inf is left out of
            the maximum, σ and the count (divisor count-1), and stays -inf; fewer than two
            other logits leave the row as it is.
        path: "auto": Triton kernels on a GPU (not for float64, nor where Triton is missing),
            PyTorch operations elsewhere. "torch" and "triton" ask for one of them; "triton" works
            on CPU tensors too if TRITON_INTERPRET=1 was set before triton was imported. The cuts
            of the two are not the same bits; each is within the bounds above.

    Returns:
        `logits` itself.

    Raises:
        ValueError: `n` (TNS-1), `neg_inf`, the shape or the strides are not accepted, `path` can't
            be taken, or `logits` requires grad while grad mode is enabled: the operation is not
            differentiable.
        TypeError: `logits` is not a dense tensor of an accepted dtype, or `n` is a tensor whose
            dtype is not floating-point. In either case nothing was written.

    Nothing is read from or written to `logits` if no row is enabled. The Triton path never waits
    for the device; what its compiler or the driver raises is handed on, and if that is at the first
    launch, nothing was written. On the PyTorch path every enabled row reads a few numbers back to
    the host, which on an accelerator waits for it.
    """
    _check_logits(logits)
    if not isinstance(neg_inf, str) or neg_inf not in NEG_INF_POLICIES:
        accepted = " or ".join(repr(policy) for policy in NEG_INF_POLICIES)
        raise ValueError(f"neg_inf must be {accepted}, got {short_repr(neg_inf)}")
    rows = logits if logits.dim() == 2 else logits.unsqueeze(0)
    if uses_triton(path, rows.dtype, rows.shape[1], rows.device):
        _mask_with_triton(rows, n, exclude=neg_inf == "exclude")
        return logits
    values = values_per_row(n, rows.shape[0])
    if rows.numel() > 0:
        mask_rows_(rows, values, exclude=neg_inf == "exclude")
    return logits


def _mask_with_triton(rows: torch.Tensor, n: object, exclude: bool) -> None:
    from topnsigma_processor import triton_path

    count, size = rows.shape
    numbers = tensor_per_row(n, count, rows.device)
    if numbers is None or rows.numel() == 0:
        return
    excludes = torch.full((1,), exclude, dtype=torch.bool, device=rows.device).expand(count)
    workspace = triton_path.Workspace(size, min(count, _ROWS_PER_LAUNCH), rows.device)
    triton_path.mask_rows_(rows.detach(), numbers, excludes, workspace)


def _check_logits(logits: torch.Tensor) -> None:
    if not isinstance(logits, torch.Tensor):
        raise TypeError(f"logits must be a torch.Tensor, got {type(logits).__name__}")
    if logits.layout is not torch.strided:
        raise TypeError(f"logits must be a dense (strided) tensor, got layout {logits.layout}")
    if logits.dtype not in DTYPES:
        accepted = ", ".join(str(dtype) for dtype in DTYPES)
        raise TypeError(f"logits must have one of the dtypes {accepted}, got {logits.dtype}")
    if logits.dim() not in (1, 2):
        raise ValueError(f"logits must have shape [V] or [B, V], got {list(logits.shape)}")
    if _overlaps(logits):
        raise ValueError(
            "logits must not hold the same memory twice (as after expand()), got shape "
            f"{list(logits.shape)} with strides {list(logits.stride())}; pass a copy"
        )
    if logits.requires_grad and torch.is_grad_enabled():
        raise ValueError(
            "logits must not require grad while grad mode is enabled: top-nσ is not "
            "differentiable; call it under torch.no_grad() or pass logits.detach()"
        )


def _overlaps(logits: torch.Tensor) -> bool:
    """Whether two elements of a 1-d or 2-d tensor lie at the same address."""
    dims = [(s, d) for s, d in zip(logits.shape, logits.stride(), strict=True) if s != 1]
    if any(size == 0 for size, _ in dims):
        return False
    if any(stride == 0 for _, stride in dims):
        return True
    if len(dims) < 2:
        return False
    (rows, row_stride), (columns, column_stride) = dims
    # The smallest i, j > 0 with i * row_stride == j * column_stride.
    divisor = math.gcd(row_stride, column_stride)
    return column_stride // divisor < rows and row_stride // divisor < columns
