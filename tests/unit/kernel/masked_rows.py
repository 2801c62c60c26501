"""Rows for the kernels, how they are laid out in memory, and how what came out is judged."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import torch
from unit.kernel import interpreted

from topnsigma_reference import RFC, Dialect, classify

EXCLUDE = Dialect(neg_inf="exclude")
GUARD = 0x46


def memory_of(
    logits: torch.Tensor, strides: tuple[int, int], offset: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """(memory, mask of what the logits occupy), as integers, everything else a guard."""
    (rows, size), width = logits.shape, logits.element_size()
    extent = offset + (rows - 1) * strides[0] + (size - 1) * strides[1] + 1 + 19
    memory = torch.full((extent * width,), GUARD, dtype=torch.uint8).view(
        interpreted.INTEGERS[width]
    )
    memory.as_strided((rows, size), strides, offset).copy_(
        logits.contiguous().view(interpreted.INTEGERS[width])
    )
    inside = torch.zeros(extent, dtype=torch.bool)
    inside.as_strided((rows, size), strides, offset).fill_(True)
    return memory, inside


def mask(
    executor: ProcessPoolExecutor,
    logits: torch.Tensor,
    n: Sequence[float] | float,
    exclude: Sequence[bool] | bool = False,
    strides: tuple[int, int] | None = None,
    offset: int = 0,
    **options: Any,
) -> interpreted.Result:
    """Mask a copy of logits `[B, V]`, laid out as said; fails if anything else was written."""
    rows, size = logits.shape
    strides = strides or (size, 1)
    memory, inside = memory_of(logits, strides, offset)
    numbers = torch.as_tensor(n, dtype=torch.float64).expand(rows)
    policies = torch.as_tensor(exclude).expand(rows)
    result = executor.submit(
        interpreted.mask, memory, logits.dtype, (rows, size), strides, offset, numbers, policies,
        **options,
    ).result()  # fmt: skip
    assert torch.equal(result.memory[~inside], memory[~inside])
    if result.arrivals is not None:
        assert not result.arrivals.any()
    return result


def judge(row: torch.Tensor, n: float, exclude: bool, bits: torch.Tensor) -> None:
    """Assert that a masked row is what the rules demand; the tight band, not just the interval."""
    before = row.contiguous().view(interpreted.INTEGERS[row.element_size()])
    valid = math.isfinite(n) and n > 0
    array = row.float().numpy()
    verdict = classify(array, n if valid else None, EXCLUDE if exclude else RFC)
    if verdict.tight is None:
        assert torch.equal(bits, before), verdict.rule
        return
    after = bits.view(row.dtype).float().numpy()
    kept = bits == before
    fill = torch.full((), -math.inf, dtype=row.dtype).view(bits.dtype)
    assert bool((kept | (bits == fill)).all())
    finite = np.isfinite(array)
    must_keep = (array > verdict.tight.upper) | (array == verdict.maximum)
    assert not (must_keep & ~np.isfinite(after)).any()
    assert not (finite & (array < verdict.tight.lower) & np.isfinite(after)).any()
    stays = array[np.isfinite(after)]
    assert not (finite & (array >= stays.min()) & ~np.isfinite(after)).any()


def sample(size: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed + size))


FAMILIES: dict[str, Callable[[int], torch.Tensor]] = {
    "normal": lambda v: sample(v) * 2.5,
    "offset": lambda v: sample(v) + 1000,
    "far offset": lambda v: (sample(v) * 4).round() / 16 + 1e6,
    "negative": lambda v: sample(v) * 0.01 - 77,
    "huge": lambda v: (sample(v) * 1e38).clamp(-3.4e38, 3.4e38),
    "1e20": lambda v: sample(v) * 1e20 + 3e20,
    "tiny": lambda v: sample(v) * 1e-38,
    "subnormal": lambda v: (sample(v) * 40).round() * 2.0**-149,
    "mixed scales": lambda v: sample(v) * 10.0 ** torch.linspace(-44, 38, v),
    "spike": lambda v: torch.cat([torch.full((1,), 64.0), sample(v - 1).sign() * 0.99999]),
    "one above": lambda v: torch.cat([torch.full((v - 1,), 7.0), torch.full((1,), 7.0000005)]),
    # Most of σ lies between tiles, not within them.
    "drift": lambda v: sample(v) + torch.linspace(0, 20, v),
    "far tail": lambda v: torch.cat([torch.full((v - 1,), 12.0), torch.full((1,), -3e4)]),
}
