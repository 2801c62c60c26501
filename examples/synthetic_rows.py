"""Rows of logits that are the same on every machine, those behind the RFC's figures among them.

The figures of the vLLM RFC (issue 45023) come from a benchmark of its author's, experiments 1 and 3
of ``tools/top_n_sigma_benchmark.py`` in github.com/Jackie2049/rollout-infra (commit 375d1c65), run
on a GPU with PyTorch. Its rows can be had without either: PyTorch's normals on CUDA are Box and
Muller's of Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), the
element in the counter, and its integers on a CPU are MT19937's. The logarithm and the sine are
taken in float64 here and rounded, so that a machine's own float32 functions have no say.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Row = npt.NDArray[np.float32]
_Words = npt.NDArray[np.uint64]

RFC_VOCABULARY = 32_000
VOCABULARY = 151_936
"""Of Qwen2.5, among the largest in use."""

_SEED = 42
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def normals(draw: int, size: int) -> Row:
    """[size] float32: what call number ``draw``, from 0, of ``torch.randn(1, size)`` on CUDA gives.

    After ``torch.manual_seed(42)``, where all calls are of one size for which the GPU has a thread
    an element, as it has for 32,000. The last bits may differ, since the GPU takes a fast sine.
    """
    radius, angle = _philox(draw, np.arange(size, dtype=np.uint64))
    unit = np.float32(2**-32)
    u = (radius.astype(np.float32) * unit + unit / 2).astype(np.float64)
    v = (angle.astype(np.float32) * unit + unit / 2).astype(np.float64)
    normal: Row = (np.sqrt(-2 * np.log(u)) * np.sin(2 * np.pi * v)).astype(np.float32)
    return normal


def _philox(counter: int, elements: _Words) -> tuple[_Words, _Words]:
    """The first two of the four words that Philox4x32-10 gives for each element."""
    key = (_SEED, 0)
    words = (np.full_like(elements, counter), 0 * elements, elements, 0 * elements)
    for _ in range(10):
        first, third = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = (
            (third >> _HALF) ^ words[1] ^ np.uint64(key[0]),
            third & _LOW,
            (first >> _HALF) ^ words[3] ^ np.uint64(key[1]),
            first & _LOW,
        )
        key = ((key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32)
    return words[0], words[1]


def rfc_stability() -> Row:
    """[5, 32000]: normals of σ 2 with 5 added to ten tokens drawn at random, as in experiment 3."""
    words = np.random.RandomState(_SEED).randint(2**32, size=(5, 10), dtype=np.uint32)
    rows = np.array([2 * normals(draw, RFC_VOCABULARY) for draw in range(5)])
    for row, raised in zip(rows, words % RFC_VOCABULARY, strict=True):
        row[raised] += 5
    return rows


def rfc_flat(sigma: float = 5) -> Row:
    """[1, 32000]: normals of σ 5, which experiment 1 calls flat, or of another σ."""
    return np.float32(sigma) * normals(2, RFC_VOCABULARY)[None]


def rfc_bimodal() -> Row:
    """[1, 32000]: normals of σ 1, tokens 0 to 4 raised by 8, tokens 100 to 104 by 5."""
    row = normals(3, RFC_VOCABULARY)[None]
    row[:, :5] += 8
    row[:, 100:105] += 5
    return row


def worked_example() -> Row:
    """[1, 39]: maximum 10, mean 2 and σ exactly 2, with logits on the cuts of n = 1 and n = 2."""
    return np.array([[10, 8, 6] + 27 * [2] + 9 * [0]], np.float32)


def noise_and_few() -> Row:
    """[2, 151936]: normals of σ 2.5 about 0, and eight tokens from 14 to 21."""
    rows = _noise(2.5)
    rows[:, :8] = np.arange(21, 13, -1)
    return rows


def peaked() -> Row:
    """[2, 151936]: normals of σ 2.5 about 0, and one token at 40."""
    rows = _noise(2.5)
    rows[:, 0] = 40
    return rows


def nearly_uniform() -> Row:
    """[2, 151936]: normals of σ 0.1; no token is much more probable than another."""
    return _noise(0.1)


def _noise(sigma: float) -> Row:
    return np.float32(sigma) * np.array([normals(draw, VOCABULARY) for draw in range(2)])


@dataclasses.dataclass(frozen=True)
class Family:
    """Rows with a name and a title for tables and pictures."""

    name: str
    title: str
    rows: Callable[[], Row]


FAMILIES = (
    Family("rfc", "the RFC's rows", rfc_stability),
    Family("noise and few", "noise and eight tokens", noise_and_few),
    Family("peaked", "one token far above", peaked),
    Family("nearly uniform", "nearly uniform", nearly_uniform),
)
"""Those over which temperature is varied."""
