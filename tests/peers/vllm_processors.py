"""Top-nσ for both of vLLM's interfaces, right and with the bookkeeping wrong in one place."""

import math
from typing import Any

import torch
from peers.functions import number
from vllm import SamplingParams
from vllm.v1.sample.logits_processor import LogitsProcessor as LogitsProcessorV1
from vllm.v1.sample.logits_processor import MoveDirectionality
from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor as LogitsProcessorV2


def _requested(params: SamplingParams) -> float:
    return number((params.extra_args or {}).get("top_n_sigma"))


def _truncate(logits: torch.Tensor, n: list[float]) -> torch.Tensor:
    wide = logits.double()
    values = torch.tensor(n, dtype=torch.float64)[:, None]
    threshold = wide.amax(1, keepdim=True) - values * wide.std(1, keepdim=True)
    return logits.masked_fill_(wide < threshold, -torch.inf)


class RightV1(LogitsProcessorV1):  # type: ignore[misc]  # untyped where vLLM is missing
    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        self._n: dict[int, float] = {}

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        _requested(sampling_params)

    def is_argmax_invariant(self) -> bool:
        return False

    def update_state(self, batch_update: Any) -> None:
        if batch_update is None:
            return
        for row in batch_update.removed:
            self.remove(row)
        for row, params, *_ in batch_update.added:
            self.add(row, _requested(params))
        for first, second, direction in batch_update.moved:
            if direction == MoveDirectionality.SWAP:
                self.swap(first, second)
            else:
                self.move(first, second)

    def remove(self, row: int) -> None:
        self._n.pop(row, None)

    def add(self, row: int, n: float) -> None:
        self._n[row] = n

    def move(self, source: int, target: int) -> None:
        self._n[target] = self._n.pop(source)

    def swap(self, first: int, second: int) -> None:
        self._n[first], self._n[second] = self._n[second], self._n[first]

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        return _truncate(logits, [self._n.get(row, math.nan) for row in range(len(logits))])


class KeepsWhatItReplaces(RightV1):
    """A request without n that takes a place inherits the n of the one before."""

    def remove(self, row: int) -> None:
        pass

    def add(self, row: int, n: float) -> None:
        if not math.isnan(n):
            self._n[row] = n


class ForgetsMoves(RightV1):
    def move(self, source: int, target: int) -> None:
        self._n.setdefault(target, math.nan)


class MovesWhereItShouldSwap(RightV1):
    def swap(self, first: int, second: int) -> None:
        self._n[second] = self._n[first]


class AcceptsAnything(RightV1):
    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        pass

    def update_state(self, batch_update: Any) -> None:
        try:
            super().update_state(batch_update)
        except ValueError:
            self._n.clear()


class RightV2(LogitsProcessorV2):  # type: ignore[misc]
    def __init__(self, vllm_config: Any, req_states: Any) -> None:
        self._n = [math.nan] * req_states.max_num_reqs

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        _requested(sampling_params)

    def add_request(self, req_idx: int, sampling_params: SamplingParams) -> bool:
        self._n[req_idx] = _requested(sampling_params)
        return not math.isnan(self._n[req_idx])

    def apply(self, logits: torch.Tensor, ctx: Any) -> torch.Tensor:
        return _truncate(logits, [self._n[slot] for slot in ctx.expanded_idx_mapping.tolist()])


class KeepsTheSlot(RightV2):
    """A request without n that takes a slot inherits what is in it."""

    def add_request(self, req_idx: int, sampling_params: SamplingParams) -> bool:
        if math.isnan(_requested(sampling_params)):
            return False
        return super().add_request(req_idx, sampling_params)


class TakesRowsForSlots(RightV2):
    def apply(self, logits: torch.Tensor, ctx: Any) -> torch.Tensor:
        return _truncate(logits, self._n[-len(logits) :][::-1])
