"""The same logits `[B, V]` in memory that is strided, padded or misaligned."""

import math
from collections.abc import Callable

import torch


def in_parts(x: torch.Tensor, first: int, width: int) -> torch.Tensor:
    """A copy of `x` in a wider buffer of NaNs, its first element `first` elements in."""
    buffer = torch.full((x.shape[0], width), math.nan, dtype=x.dtype)
    view = buffer[:, first : first + x.shape[1]]
    view.copy_(x)
    return view


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda x: x.clone(),
    "transposed": lambda x: x.t().contiguous().t(),
    "every second column": lambda x: x.repeat_interleave(2, dim=1)[:, ::2],
    "padded rows": lambda x: in_parts(x, 0, x.shape[1] + 5),
    "misaligned start": lambda x: in_parts(x, 1, x.shape[1] + 3),
    "misaligned by 7": lambda x: in_parts(x, 7, x.shape[1] + 16),
}
