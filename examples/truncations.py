"""The common truncations of a next-token distribution, in plain numpy.

Each function takes logits [B, V], float32 or float64, every one of them finite and already divided
by the temperature, as engines truncate after temperature. It returns bool [B, V], True where the
token stays; a token with the largest logit of its row always does. They raise TypeError for another
dtype of ``logits``, ValueError for another shape, for a logit that is not finite and for a
parameter outside of what its function accepts.

The plain top-nσ is here to be compared with the others. What top-nσ is stands in the package
``topnsigma_reference``, which decides without rounding and is the authority.
"""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Logits = npt.NDArray[np.floating[Any]]
Mask = npt.NDArray[np.bool_]
_Float64 = npt.NDArray[np.float64]


def top_k(logits: Logits, k: int) -> Mask:
    """The k largest logits, an integer > 0, and what is equal to the least of them.

    Fan et al. 2018, "Hierarchical Neural Story Generation" (arXiv:1805.04833).
    """
    _check(logits)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"k must be an integer > 0; got {k!r}")
    vocabulary = logits.shape[1]
    if k >= vocabulary:
        return np.ones(logits.shape, dtype=bool)
    at = vocabulary - k
    kept: Mask = logits >= np.partition(logits, at, axis=1)[:, at : at + 1]
    return kept


def top_p(logits: Logits, p: float) -> Mask:
    """The smallest set of the most probable tokens whose probability reaches p, in (0, 1].

    Of equal logits at the cut, those of the lowest ids stay. p = 1 keeps everything. Nucleus
    sampling: Holtzman et al. (arXiv:1904.09751).
    """
    _check(logits)
    _check_share("p", p)
    if p == 1:
        return np.ones(logits.shape, dtype=bool)
    descending = -np.sort(-logits, axis=1)
    masses = np.cumsum(np.exp(_below_maximum(descending)), axis=1)
    # A token stays if those before it do not reach p yet.
    count = 1 + (masses[:, :-1] < p * masses[:, -1:]).sum(axis=1, keepdims=True)
    cut = np.take_along_axis(descending, count - 1, axis=1)
    kept: Mask = logits >= cut
    for row in np.flatnonzero(kept.sum(axis=1) > count[:, 0]):
        spare = int(kept[row].sum() - count[row, 0])
        kept[row, np.flatnonzero(logits[row] == cut[row])[-spare:]] = False
    return kept


def min_p(logits: Logits, p: float) -> Mask:
    """Tokens at least p times as probable as the most probable one; p in (0, 1].

    Nguyen et al. (arXiv:2407.01082).
    """
    _check(logits)
    _check_share("p", p)
    kept: Mask = logits >= _maximum(logits) + math.log(p)
    return kept


def typical(logits: Logits, mass: float) -> Mask:
    """The smallest set of the most typical tokens whose probability reaches mass, in (0, 1].

    The closer a token's information, -log p, is to the entropy of the row, the more typical it is;
    of equally typical ones those of the lowest ids stay. Locally typical sampling: Meister et al.
    (arXiv:2202.00666). There the most probable token may go; here it is kept besides.
    """
    _check(logits)
    _check_share("mass", mass)
    if mass == 1:
        return np.ones(logits.shape, dtype=bool)
    information = _log_total(logits) - _below_maximum(logits)
    probabilities = np.exp(-information)
    entropy = (probabilities * information).sum(axis=1, keepdims=True)
    order = np.argsort(np.abs(information - entropy), axis=1, kind="stable")
    masses = np.cumsum(np.take_along_axis(probabilities, order, axis=1), axis=1)
    first = np.pad(masses[:, :-1] < mass * masses[:, -1:], ((0, 0), (1, 0)), constant_values=True)
    kept: Mask = logits == _maximum(logits).astype(logits.dtype)
    np.put_along_axis(kept, order, first | np.take_along_axis(kept, order, axis=1), axis=1)
    return kept


def epsilon(logits: Logits, probability: float) -> Mask:
    """Tokens of at least that probability, in (0, 1], and those of the largest logit in any case.

    Hewitt et al. (arXiv:2210.15191).
    """
    _check(logits)
    _check_share("probability", probability)
    # Where no token is as probable as that, the cut would lie above the maximum.
    offset = np.minimum(_log_total(logits) + math.log(probability), 0)
    kept: Mask = logits >= _maximum(logits) + offset
    return kept


def top_n_sigma(logits: Logits, n: float) -> Mask:
    """Logits of at least max - n σ, with σ the sample standard deviation of the row; finite n > 0.

    σ is taken in float64 and rounds there; ``topnsigma_reference`` does not round and is the
    authority. A row whose logits are all equal, or of one token, stays. Tang et al.
    (arXiv:2411.07641).
    """
    _check(logits)
    if isinstance(n, bool) or not isinstance(n, int | float) or not 0 < n < math.inf:
        raise ValueError(f"n must be a finite number > 0; got {n!r}")
    if logits.shape[1] == 1:
        return np.ones(logits.shape, dtype=bool)
    sigma = logits.std(axis=1, ddof=1, keepdims=True, dtype=np.float64)
    kept: Mask = logits >= _maximum(logits) - n * sigma
    return kept


def keep(setting: str, logits: Logits) -> Mask:
    """What a truncation written as ``"top_p 0.9"`` keeps; ValueError where there is none such."""
    name, _, value = setting.partition(" ")
    if name not in _TRUNCATIONS:
        raise ValueError(f"setting must begin with one of {list(_TRUNCATIONS)}; got {setting!r}")
    return _TRUNCATIONS[name](logits, json.loads(value))


_TRUNCATIONS: dict[str, Callable[[Logits, Any], Mask]] = {
    "top_k": top_k,
    "top_p": top_p,
    "min_p": min_p,
    "typical": typical,
    "epsilon": epsilon,
    "top_n_sigma": top_n_sigma,
}


def _maximum(logits: Logits) -> _Float64:
    maximum: _Float64 = logits.max(axis=1, keepdims=True).astype(np.float64)
    return maximum


def _below_maximum(logits: Logits) -> _Float64:
    below: _Float64 = logits - _maximum(logits)
    return below


def _log_total(logits: Logits) -> _Float64:
    """[B, 1]: log of the sum of exp(logit - max)."""
    total: _Float64 = np.log(np.exp(_below_maximum(logits)).sum(axis=1, keepdims=True))
    return total


def _check(logits: Logits) -> None:
    if logits.dtype not in (np.float32, np.float64):
        raise TypeError(f"logits must be float32 or float64; got {logits.dtype}")
    if logits.ndim != 2 or logits.shape[1] == 0:
        raise ValueError(f"logits must be [B, V] with V > 0; got shape {logits.shape}")
    if not np.isfinite(logits).all():
        raise ValueError("logits must be finite; got NaN or an infinity")


def _check_share(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise ValueError(f"{name} must be a number in (0, 1]; got {value!r}")
