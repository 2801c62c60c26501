"""Aphrodite's ``top_nsigma``, without its engine."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from topnsigma_conformance.adapters.one_module import load_module
from topnsigma_conformance.implementation import Implementation

# An annotation of the file needs it; the packages behind it are an engine's.
_STAND_INS = {"aphrodite.v1.sample.metadata": {"SamplingMetadata": object}}


class Aphrodite(Implementation):
    """Drives the op, with the tensor [B] of n that the worker would hand to it.

    What stands between a request's ``nsigma`` and the op was read in aphrodite-engine 0.24.1 and is
    repeated here, since it cannot be imported without the engine. ``SamplingParams``: None is 0.0,
    and a negative number raises ValueError; 0, NaN, infinity and booleans pass. The worker's
    ``InputBatch``: a float32 for each row; the op gets None, and returns at once, unless one of
    them is > 0.

    So 0 switches it off for a request that is alone, and in a batch with one that uses it, the op
    sees n = 0. The op: σ is ``torch.std``, a row that holds a non-finite logit has none and is left
    alone, a logit equal to the threshold stays.

    Raises:
        ImportError: aphrodite-engine or torch is not installed.
        ValueError: ``device`` is not among :attr:`devices`.
    """

    name = "aphrodite"
    arrays = "torch"
    devices = ("cpu", "cuda")
    in_place = True
    n_format = "binary32"
    parameter = "nsigma"

    def __init__(self, device: str | None = None) -> None:
        super().__init__(device)
        module = load_module("aphrodite", "v1/sample/ops/top_nsigma.py", _STAND_INS)
        self._top_nsigma = module.top_nsigma
        self.version = importlib.metadata.version("aphrodite-engine")

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        """``logits``, float32 [B, V], changed in place.

        Raises:
            ValueError: a number in ``n`` is negative.
            TypeError: an entry cannot be compared with a number.
        """
        import torch

        values = [0.0 if entry is None else entry for entry in n]
        for value in values:
            if value < 0.0:
                raise ValueError("nsigma must be non-negative.")
        nsigma = None
        if any(value > 0 for value in values):
            nsigma = torch.from_numpy(np.array(values, np.float32)).to(logits.device)
        return self._top_nsigma(logits, SimpleNamespace(top_nsigma=nsigma))
