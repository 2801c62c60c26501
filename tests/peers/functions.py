"""Functions of numpy, torch and jax arrays, as somebody might bring them to the suite."""

import importlib
import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np


def number(n: object) -> float:
    """n as a float; NaN stands for a disabled row.

    Raises:
        ValueError: it is outside the domain of TNS-1.
    """
    if n is None:
        return math.nan
    refusal = ValueError(f"n must be a finite number > 0 or None; got {n!r}")
    if isinstance(n, bool) or not isinstance(n, Real):
        raise refusal
    try:
        value = float(n)
    except OverflowError:
        raise refusal from None
    if not 0 < value < math.inf:
        raise refusal
    return value


def in_numpy(logits: Any, n: Sequence[object]) -> Any:
    """A new array, computed in float64."""
    values = np.array([number(entry) for entry in n])[:, None]
    wide = logits.astype(np.float64)
    with np.errstate(all="ignore"):
        deviation = wide.std(axis=1, ddof=min(1, logits.shape[1] - 1), keepdims=True)
        threshold = wide.max(axis=1, keepdims=True) - values * deviation
        return np.where(wide < threshold, np.float32(-np.inf), logits)


def in_numpy_in_place(logits: Any, n: Sequence[object]) -> Any:
    """The same array, changed."""
    logits[...] = in_numpy(logits, n)
    return logits


def in_numpy_of_one_n(logits: Any, n: object) -> Any:
    """For callers who have one n for all rows."""
    return in_numpy(logits, [n] * len(logits))


def in_torch(logits: Any, n: Sequence[object]) -> Any:
    """A new tensor."""
    import torch

    values = torch.tensor([number(entry) for entry in n], dtype=torch.float64)[:, None]
    wide = logits.double()
    deviation = wide.std(dim=1, keepdim=True, correction=min(1, logits.shape[1] - 1))
    threshold = wide.amax(dim=1, keepdim=True) - values * deviation
    return torch.where(wide < threshold, -torch.inf, logits)


def in_jax(logits: Any, n: Sequence[object]) -> Any:
    """A new array, computed in jax's float32."""
    jnp: Any = importlib.import_module("jax.numpy")
    values = jnp.array([number(entry) for entry in n], jnp.float32)[:, None]
    deviation = logits.std(axis=1, ddof=min(1, logits.shape[1] - 1), keepdims=True)
    threshold = logits.max(axis=1, keepdims=True) - values * deviation
    return jnp.where(logits < threshold, -jnp.inf, logits)
