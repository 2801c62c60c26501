"""Families of large rows: what models emit, and what breaks arithmetic.

A family turns a seeded generator and a length into float32 logits [V]. Together with a few edits it
describes a row of 150,000 tokens in a line of text, so that large rows can be drawn, shrunk and
written down.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from topnsigma_conformance.formats import Float32Array

Family = Callable[[np.random.Generator, int], npt.NDArray[np.floating[Any]]]

_CORE: dict[str, Family] = {}
_EXTREME: dict[str, Family] = {}


def _family(name: str, registry: dict[str, Family]) -> Callable[[Family], Family]:
    def register(function: Family) -> Family:
        registry[name] = function
        return function

    return register


@_family("model-like", _CORE)
def _model_like(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    bulk = rng.normal(-2.0, 2.5, size)
    top = rng.choice(size, max(1, min(size // 8, 40)), replace=False)
    bulk[top] = 8.0 + rng.exponential(3.0, top.size)
    return bulk


@_family("peaked", _CORE)
def _peaked(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    row = rng.normal(0.0, 1.0, size)
    row[rng.integers(size)] = 30.0
    return row


@_family("flat", _CORE)
def _flat(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return rng.uniform(-0.01, 0.01, size)


@_family("bimodal", _CORE)
def _bimodal(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return rng.normal(np.where(rng.random(size) < 0.3, 10.0, -10.0), 1.0)


@_family("heavy-tailed", _CORE)
def _heavy_tailed(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return np.clip(rng.standard_t(2.0, size) * 2.0, -1e4, 1e4)


@_family("one-outlier", _CORE)
def _one_outlier(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    row = rng.normal(0.0, 0.1, size)
    row[rng.integers(size)] = rng.choice([-1e3, 1e3])
    return row


@_family("constant", _CORE)
def _constant(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return np.full(size, rng.choice([0.1, -7.3, 1e3, 0.0]))


@_family("nearly-constant", _CORE)
def _nearly_constant(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return 1.0 + rng.normal(0.0, 2e-3, size)


@_family("all-negative", _CORE)
def _all_negative(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return -5.0 - rng.exponential(4.0, size)


@_family("large-offset", _CORE)
def _large_offset(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return float(rng.choice([-600.0, 600.0])) + rng.normal(0.0, 1.0, size)


@_family("quantised", _CORE)
def _quantised(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return np.rint(rng.normal(0.0, 12.0, size)) / 4.0


@_family("padded-tail", _CORE)
def _padded_tail(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    row = _model_like(rng, size)
    row[size - size // 50 :] = 0.0
    return row


@_family("banned-100", _CORE)
def _banned_100(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return _banned(rng, size, -100.0)


@_family("banned-1e4", _CORE)
def _banned_1e4(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return _banned(rng, size, -1e4)


@_family("banned-lowest", _EXTREME)
def _banned_lowest(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return _banned(rng, size, float(np.finfo(np.float32).min))


@_family("huge", _EXTREME)
def _huge(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return np.clip(rng.normal(0.0, 1e38, size), -3.4e38, 3.4e38)


@_family("large", _EXTREME)
def _large(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return rng.normal(0.0, 1e20, size)


@_family("subnormal", _EXTREME)
def _subnormal(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return rng.normal(0.0, 1e-40, size)


@_family("offset-1e6", _EXTREME)
def _offset_1e6(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return float(rng.choice([-1e6, 1e6])) + rng.normal(0.0, 1.0, size)


@_family("few-ulps", _EXTREME)
def _few_ulps(rng: np.random.Generator, size: int) -> npt.NDArray[np.floating[Any]]:
    return 5.0 + rng.integers(-3, 4, size) * 2.0**-21


def _banned(rng: np.random.Generator, size: int, value: float) -> npt.NDArray[np.floating[Any]]:
    row = _model_like(rng, size)
    banned = rng.choice(size, max(1, size // 100), replace=False)
    # The best token stays: a ban of it is another row of the same family.
    row[banned[banned != row.argmax()]] = value
    return row


CORE_FAMILIES = tuple(_CORE)
"""Families inside the core domain of TNS-9 (in float32)."""

PLAIN_FAMILIES = ("model-like", "flat", "bimodal", "all-negative")
"""Core families whose deviations are all of one size, so that sums in any order and precision are
good enough: where something else than accuracy is looked at."""

EXTREME_FAMILIES = tuple(_EXTREME)
"""Families that only an implementation claiming the extreme domain has to get right."""


@functools.lru_cache(maxsize=32)
def family_row(family: str, size: int, seed: int) -> Float32Array:
    """The float32 row [size] of a family; read-only, the same for the same arguments.

    Raises:
        ValueError: ``family`` is unknown.
    """
    registry = _CORE | _EXTREME
    if family not in registry:
        raise ValueError(f"family must be one of {', '.join(registry)}; got {family!r}")
    row = registry[family](np.random.Generator(np.random.PCG64(seed)), size).astype(np.float32)
    row.setflags(write=False)
    return row


def in_core_domain(values: Float32Array) -> bool:
    """Whether a finite row lies in the core domain of TNS-9.

    |x| <= 1e4, σ >= 1e-6 and |mean| <= 1e3·σ (or σ = 0), V <= 262,144. The bounds are conventions,
    so that binary64 statistics decide them well enough.
    """
    if values.size > 262_144 or np.abs(values).max(initial=0.0) > 1e4:
        return False
    wide = values.astype(np.float64)
    if values.size < 2 or np.ptp(wide) == 0:
        return True
    return bool(wide.std() >= max(1e-6, abs(wide.mean()) / 1e3))
