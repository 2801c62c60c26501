"""Top-nσ on many batches of one vocabulary size, as an engine calls it step after step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

from topnsigma_processor import torch_path
from topnsigma_processor.path_choice import Path, uses_triton

if TYPE_CHECKING:
    from topnsigma_processor.triton_path import Workspace


class RowMasker:
    """Top-nσ on batches of one vocabulary size on one device, with everything allocated and
    compiled beforehand.

    Args:
        vocab_size: V, the number of logits in a row, > 0.
        max_rows: the number of rows that are usual at most, > 0. More are masked in parts.
        device: where the logits will lie.
        dtype: of the logits.
        path: which implementation; see `top_n_sigma_`.
        schedule: how the Triton kernels are launched; the bits are the same either way.

    Raises:
        ValueError: `vocab_size` or `max_rows` is not positive, or `path` can't be taken.

    With the Triton path a call allocates nothing on the device and does not wait for it, and can be
    captured in a CUDA graph. Its workspace serves one stream.
    """

    def __init__(
        self,
        vocab_size: int,
        max_rows: int,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
        *,
        path: Path = "auto",
        schedule: Literal["two-launch", "one-launch"] = "two-launch",
    ) -> None:
        if vocab_size < 1 or max_rows < 1:
            raise ValueError(
                f"vocab_size and max_rows must be > 0, got {vocab_size} and {max_rows}"
            )
        self.vocab_size = vocab_size
        self.max_rows = max_rows
        self.device = torch.device(device)
        self.dtype = dtype
        self._workspace: Workspace | None = None
        if uses_triton(path, dtype, vocab_size, self.device):
            from topnsigma_processor import triton_path

            self._workspace = triton_path.Workspace(vocab_size, max_rows, self.device, schedule)
            triton_path.prepare(dtype, self._workspace)

    def mask_(self, logits: torch.Tensor, n: torch.Tensor, exclude: torch.Tensor) -> None:
        """Set every logit below its row's `max - n*σ` to -inf, in place.

        Args:
            logits: `[B, V]`, B >= 0, of the masker's dtype, any strides without overlap.
            n: float64 `[B]`, on the logits' device. A finite n > 0 enables its row; any other
                value leaves it as it is. A value read from here is never validated.
            exclude: bool `[B]`, on the logits' device: whether -inf is left out of the row's
                maximum, σ and count. Where it is not, a -inf leaves the row as it is.

        Raises:
            ValueError: a shape does not fit.
            TypeError: a dtype does not fit.
        """
        self._check(logits, n, exclude)
        if self._workspace is None:
            self._mask_with_torch(logits, n, exclude)
            return
        from topnsigma_processor import triton_path

        triton_path.mask_rows_(logits, n, exclude, self._workspace)

    @staticmethod
    def _mask_with_torch(logits: torch.Tensor, n: torch.Tensor, exclude: torch.Tensor) -> None:
        enabled = (n > 0) & (n < float("inf"))
        values: list[float] = n.tolist()
        for policy in (False, True):
            chosen: list[bool] = (enabled & (exclude == policy)).tolist()
            if any(chosen):
                torch_path.mask_rows_(
                    logits,
                    [x if c else None for x, c in zip(values, chosen, strict=True)],
                    exclude=policy,
                )

    def _check(self, logits: torch.Tensor, n: torch.Tensor, exclude: torch.Tensor) -> None:
        rows = logits.shape[0] if logits.dim() == 2 else -1
        if tuple(logits.shape) != (rows, self.vocab_size):
            raise ValueError(
                f"logits must have shape [B, {self.vocab_size}], got {list(logits.shape)}"
            )
        for name, given, shape, dtype in (
            ("logits", logits, logits.shape, self.dtype),
            ("n", n, (rows,), torch.float64),
            ("exclude", exclude, (rows,), torch.bool),
        ):
            if tuple(given.shape) != tuple(shape):
                raise ValueError(f"{name} must have shape {list(shape)}, got {list(given.shape)}")
            if given.device.type != self.device.type:
                raise ValueError(f"{name} must be on {self.device}, got {given.device}")
            if given.dtype is not dtype:
                raise TypeError(f"{name} must have dtype {dtype}, got {given.dtype}")
