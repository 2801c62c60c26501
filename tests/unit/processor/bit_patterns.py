"""Floating-point tensors as integers: NaN payloads and the sign of zero count."""

import torch

INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
"""Bytes of a number to the integers of that width."""


def bits(x: torch.Tensor) -> torch.Tensor:
    """A contiguous tensor of integers that is equal only where every bit is."""
    return x.contiguous().view(INTEGERS[x.dtype.itemsize])
