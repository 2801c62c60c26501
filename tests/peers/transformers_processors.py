"""Top-nσ as logits processors of transformers."""

import importlib
from typing import Any

import torch
from peers.functions import number

_transformers: Any = importlib.import_module("transformers")


class TopNSigma(_transformers.LogitsProcessor):  # type: ignore[misc]
    """In the RFC dialect."""

    def __init__(self, n: object) -> None:
        self._n = number(n)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        wide: Any = scores.double()
        threshold = wide.amax(1, keepdim=True) - self._n * wide.std(1, keepdim=True)
        return scores.masked_fill(wide < threshold, -torch.inf)


class Published(_transformers.LogitsProcessor):  # type: ignore[misc]
    """As in the paper: tokens that reach the threshold stay, in the precision of the scores.

    Where σ is NaN no token reaches it, and nothing is said about n.
    """

    def __init__(self, n: Any) -> None:
        self._n = n

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        threshold = scores.amax(1, keepdim=True) - self._n * scores.std(1, keepdim=True)
        return scores.masked_fill(~(scores >= threshold), -torch.inf)
