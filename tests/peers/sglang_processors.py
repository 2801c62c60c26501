"""Top-nσ as a custom logit processor of SGLang, which has no place to refuse a parameter."""

import importlib
import math
from typing import Any

import torch
from peers.functions import number

_sglang: Any = importlib.import_module("sglang.srt.sampling.custom_logit_processor")


class TopNSigma(_sglang.CustomLogitProcessor):  # type: ignore[misc]
    """A bad n disables its row."""

    def __call__(self, logits: torch.Tensor, custom_param_list: Any = None) -> torch.Tensor:
        values = [_or_nan(entry.get("top_n_sigma")) for entry in custom_param_list]
        n = torch.tensor(values, dtype=torch.float64)[:, None]
        wide = logits.double()
        threshold = wide.amax(1, keepdim=True) - n * wide.std(1, keepdim=True)
        return logits.masked_fill_(wide < threshold, -torch.inf)


class FirstForAll(TopNSigma):
    """Takes the first request's n for the whole batch."""

    def __call__(self, logits: torch.Tensor, custom_param_list: Any = None) -> torch.Tensor:
        return super().__call__(logits, custom_param_list[:1] * len(custom_param_list))


def _or_nan(n: object) -> float:
    try:
        return number(n)
    except ValueError:
        return math.nan
