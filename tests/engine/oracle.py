"""What the reference says about rows that a processor has seen."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from topnsigma_reference import Dialect, classify, top_n_sigma

Array = npt.NDArray[np.float32]


def expected(rows: torch.Tensor, settings: Sequence[tuple[float, str] | None]) -> torch.Tensor:
    """The exact result for rows [B, V], each with its (n, policy), or None where disabled."""
    result = rows.clone()
    for row, setting in zip(result, settings, strict=True):
        if setting is not None:
            row.copy_(torch.from_numpy(masked(row.numpy(), *setting)))
    return result


def masked(row: Array, n: float, policy: str) -> Array:
    """The exact result for one row [V]."""
    return np.asarray(top_n_sigma(row, n, _dialect(policy)))


def kept(row: Array, n: float, policy: str) -> npt.NDArray[np.bool_]:
    """Which tokens [V] of a row may still be sampled: the exact kept set."""
    return classify(row, n, _dialect(policy)).keep & (row > -np.inf)


def _dialect(policy: Any) -> Dialect:
    return Dialect(neg_inf=policy)


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two float32 tensors hold the same bits, NaN and -0.0 told apart."""
    return torch.equal(one.view(torch.int32), other.view(torch.int32))
