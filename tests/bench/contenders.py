"""Our operation and what it is held to: a copy, what others do, and what other samplers cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import torch
from bench.benchmark_ids import OURS, YARDSTICK, contenders_of
from bench.cases import Case, N

from topnsigma_processor import top_n_sigma_
from topnsigma_processor.row_masker import RowMasker

Step = Callable[[torch.Tensor], object]
"""Works on logits `[B, V]` that it may change."""

Schedule = Literal["two-launch", "one-launch"]

MIN_P = 0.05


def passes(logits: torch.Tensor, rows: Sequence[int]) -> torch.Tensor:
    """What our operation cannot do without on a CPU, and nothing else: for each enabled row its
    maximum, its sum, its squares, and the pass that masks.

    It leaves and finds in the caches what ours does, so that the ratio of the two is the same on
    a busy machine and on another one.
    """
    for index in rows:
        row = logits[index]
        row.amax().item()
        row.sum().item()
        torch.linalg.vector_norm(row).item()
        torch.threshold_(row, N, -math.inf)
    return logits


def textbook(logits: torch.Tensor, n: float) -> torch.Tensor:
    """The operations of the paper (arXiv:2411.07641), for all rows at once."""
    t = logits.amax(-1, keepdim=True) - n * logits.std(-1, keepdim=True)
    return logits.masked_fill_(logits < t, -math.inf)


def rfc_example(logits: torch.Tensor, n: float) -> torch.Tensor:
    """The arithmetic of the RFC's example: row by row, and only where all logits are finite."""
    for row in logits:
        if torch.isfinite(row).all():
            row.masked_fill_(row < row.max() - n * row.std(), -math.inf)
    return logits


def min_p(logits: torch.Tensor) -> torch.Tensor:
    """Another truncation by a threshold of the row, as vLLM computes it with PyTorch."""
    probabilities = torch.softmax(logits, dim=-1)
    threshold = probabilities.amax(-1, keepdim=True) * MIN_P
    return logits.masked_fill_(probabilities < threshold, -math.inf)


def of(case: Case, device: torch.device, as_on: str = "") -> dict[str, Step]:
    """Contender's name to what is timed, each prepared for batches like the case's.

    Args:
        case: what they will work on.
        device: where its logits lie.
        as_on: "cuda" for what is measured there, which Triton's interpreter can run on a CPU.
    """
    kind = as_on or device.type
    return {name: _step(name, case, device, kind) for name in contenders_of(case, kind)}


def _step(name: str, case: Case, device: torch.device, kind: str) -> Step:
    if name == YARDSTICK:
        # Into a buffer that lies ready: a new one would cost more than copying.
        other = torch.empty(case.batch, case.vocabulary, dtype=case.torch_dtype, device=device)
        return other.copy_
    if name == OURS and kind == "cpu":
        n, neg_inf = case.n, case.neg_inf
        return lambda logits: top_n_sigma_(logits, n, neg_inf=neg_inf)
    if name == OURS:
        return _kernels(case, device, "two-launch")
    if name == "one-launch":
        return _kernels(case, device, "one-launch")
    if name == "vllm_min_p":
        return _vllm_min_p(case, device)
    rows = [index for index, n in enumerate(case.n) if n is not None]
    return {
        "passes": lambda logits: passes(logits, rows),
        "textbook": lambda logits: textbook(logits, N),
        "rfc_example": lambda logits: rfc_example(logits, N),
        "min_p": min_p,
    }[name]


def _kernels(case: Case, device: torch.device, schedule: Schedule) -> Step:
    """As the logits processor calls them: everything allocated beforehand."""
    masker = RowMasker(
        *(case.vocabulary, case.batch, device, case.torch_dtype), path="triton", schedule=schedule
    )
    n = torch.tensor([x or 0.0 for x in case.n], dtype=torch.float64, device=device)
    exclude = torch.full((case.batch,), case.neg_inf == "exclude", device=device)
    return lambda logits: masker.mask_(logits, n, exclude)


def _vllm_min_p(case: Case, device: torch.device) -> Step:
    """vLLM's own kernel, with a min_p for every row."""
    from vllm.v1.worker.gpu.sample.min_p import apply_min_p

    slots = torch.arange(case.batch, dtype=torch.int32, device=device)
    values = torch.full((case.batch,), MIN_P, device=device)
    return lambda logits: apply_min_p(logits, slots, values)
