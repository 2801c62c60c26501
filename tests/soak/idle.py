"""A logits processor that does nothing, for the server that is looked at without top-nσ."""

from __future__ import annotations

from typing import Any

import torch
from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor


class Idle(LogitsProcessor):  # type: ignore[misc]  # untyped where vLLM is missing
    """Of Model Runner V1's interface; keeps nothing, knows no parameter and alters no logit."""

    def __init__(self, *_: Any) -> None:
        pass

    def is_argmax_invariant(self) -> bool:
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        pass

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        return logits
