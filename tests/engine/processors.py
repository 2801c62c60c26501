"""Processors under test, without an engine around them."""

from types import SimpleNamespace
from typing import Any

import torch
from vllm import SamplingParams

from topnsigma_processor.vllm_plugin import TopNSigma

VOCAB_SIZE = 64
SLOTS = 8


def config(additional_config: Any = None, slots: int = SLOTS, vocab_size: int = VOCAB_SIZE) -> Any:
    """As much of a VllmConfig as the processor reads."""
    return SimpleNamespace(
        additional_config=additional_config or {},
        scheduler_config=SimpleNamespace(max_num_seqs=slots),
        model_config=SimpleNamespace(get_vocab_size=lambda: vocab_size),
        speculative_config=None,
    )


def v1(additional_config: Any = None) -> TopNSigma:
    return TopNSigma(config(additional_config), torch.device("cpu"), False)


def v2(additional_config: Any = None) -> TopNSigma:
    states = SimpleNamespace(device=torch.device("cpu"), max_num_reqs=SLOTS, vocab_size=VOCAB_SIZE)
    return TopNSigma(config(additional_config), states)


def params(
    n: float | None = None, policy: str | None = None, temperature: float = 1.0, **others: Any
) -> SamplingParams:
    """A request, opted in with n, or not with None."""
    extra: dict[str, Any] = {"somebody_elses": True}
    if n is not None:
        extra["top_n_sigma"] = n
    if policy is not None:
        extra["top_n_sigma_neg_inf"] = policy
    return SamplingParams(temperature=temperature, extra_args=extra, **others)


def logits(rows: int, seed: int = 0, banned: int = 0) -> torch.Tensor:
    """Normal rows [B, V], the first ``banned`` tokens of each at -inf."""
    values = torch.randn(rows, VOCAB_SIZE, generator=torch.Generator().manual_seed(seed))
    values[:, :banned] = -torch.inf
    return values
