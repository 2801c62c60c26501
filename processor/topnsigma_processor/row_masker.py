"""Top-nσ on many batches of one vocabulary size, as an engine calls it step after step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

from topnsigma_processor import torch_path
from topnsigma_processor.path_choice import Path, uses_triton, warn_of_torch

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
        path: which implementation; see `top_n_sigma_`. "auto" takes PyTorch's operations, and says
            so in the log, where the kernels can't be compiled and loaded.
        schedule: how the Triton kernels are launched; the bits are the same either way.

    Raises:
        ValueError: `vocab_size` or `max_rows` is not positive, or `path` can't be taken. With the
            path "triton", what the compiler or the driver raises is handed on.

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
            self._workspace = self._prepared_workspace(path, schedule)

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

    def _prepared_workspace(
        self, path: Path, schedule: Literal["two-launch", "one-launch"]
    ) -> Workspace | None:
        """The workspace of compiled kernels; None if they can't be had and needn't."""
        from topnsigma_processor import triton_path

        workspace = triton_path.Workspace(self.vocab_size, self.max_rows, self.device, schedule)
        try:
            triton_path.prepare(self.dtype, workspace)
        # What fails may be Triton, a C compiler, ptxas, the folder of Triton's cache or the driver.
        except Exception as error:
            if path == "triton":
                raise
            warn_of_torch(f"the kernels can't be prepared: {type(error).__name__}: {error}")
            return None
        return workspace

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
