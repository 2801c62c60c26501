"""Processors that lose track of their requests, each in one way: state machines must find them."""

from types import SimpleNamespace
from typing import Any

import torch

from topnsigma_processor.slot_state import Setting
from topnsigma_processor.vllm_plugin import TopNSigma

SEEN = AssertionError


class RemovalIgnored(TopNSigma):
    def update_state(self, batch_update: Any) -> None:
        if batch_update is not None:
            super().update_state(_changed(batch_update, removed=()))


class MoveIgnored(TopNSigma):
    def update_state(self, batch_update: Any) -> None:
        if batch_update is not None:
            swaps = [move for move in batch_update.moved if move[2].name == "SWAP"]
            super().update_state(_changed(batch_update, moved=swaps))


class MoveIsCopy(TopNSigma):
    """What has moved stays where it was, too."""

    def update_state(self, batch_update: Any) -> None:
        if batch_update is not None:
            super().update_state(_changed(batch_update, moved=()))
            for first, second, direction in batch_update.moved:
                if direction.name == "SWAP":
                    self._state.swap(first, second)
                else:
                    self._state.assign(second, self._state._settings.get(first))


class SwapIsMove(TopNSigma):
    def update_state(self, batch_update: Any) -> None:
        if batch_update is not None:
            one_way = SimpleNamespace(name="UNIDIRECTIONAL")
            moved = [(first, second, one_way) for first, second, _ in batch_update.moved]
            super().update_state(_changed(batch_update, moved=moved))


class MovedBeforeAdded(TopNSigma):
    def update_state(self, batch_update: Any) -> None:
        if batch_update is not None:
            super().update_state(_changed(batch_update, added=(), removed=()))
            super().update_state(_changed(batch_update, moved=()))


class MovesInReverse(TopNSigma):
    def update_state(self, batch_update: Any) -> None:
        if batch_update is not None:
            super().update_state(_changed(batch_update, moved=batch_update.moved[::-1]))


class AddedOnlyIfOptedIn(TopNSigma):
    """A request that has not opted in inherits what its row's last one asked for."""

    def update_state(self, batch_update: Any) -> None:
        if batch_update is not None:
            added = [entry for entry in batch_update.added if self._setting(entry[1])]
            super().update_state(_changed(batch_update, added=added))


class QuietStepForgets(TopNSigma):
    def update_state(self, batch_update: Any) -> None:
        super().update_state(batch_update)
        if batch_update is None:
            for slot in range(8):
                self._state.assign(slot, None)


class PolicyOfTheFirst(TopNSigma):
    """The policy is taken once and stays for whoever comes after, as n does not."""

    def _setting(self, params: Any) -> Setting | None:
        setting = super()._setting(params)
        if setting is not None and not hasattr(self, "_first"):
            self._first = setting.exclude
        return None if setting is None else Setting(setting.n, self._first)


class ServersPolicyIgnored(TopNSigma):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._policy = "noop"


class GreedyTruncated(TopNSigma):
    def _setting(self, params: Any) -> Setting | None:
        extra = dict(params.extra_args or {})
        return super()._setting(SimpleNamespace(extra_args=extra, temperature=1.0))


class OldTensors(TopNSigma):
    """The tensors are made once and not again."""

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        if not hasattr(self, "_kept"):
            self._kept = self._state.tensors()
        self._state._tensors = self._kept
        return super().apply(logits, ctx)


class OneBuffer(TopNSigma):
    """The tensors are made anew in the memory of the old ones, which a step in flight reads."""

    def apply_staged_writes(self) -> None:
        self._write()

    def update_state(self, batch_update: Any) -> None:
        super().update_state(batch_update)
        self._write()

    def _write(self) -> None:
        new = self._state.tensors()
        if not hasattr(self, "_buffer"):
            self._buffer = tuple(each.clone() for each in new)
        for mine, given in zip(self._buffer, new, strict=True):
            mine.copy_(given)
        self._state._tensors = self._buffer  # type: ignore[assignment]


class RowIsSlot(TopNSigma):
    """The mapping from rows to slots is ignored."""

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        return super().apply(logits, _context(ctx, torch.arange(len(logits))))


class OneRowEach(TopNSigma):
    """The mapping of requests is taken for that of rows."""

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        rows = torch.arange(len(logits)) % len(ctx.idx_mapping)
        return super().apply(logits, _context(ctx, ctx.idx_mapping[rows]))


class FirstPartOfAStep(TopNSigma):
    """What the first call of a step was for is taken for that of the other calls too."""

    def apply_staged_writes(self) -> None:
        super().apply_staged_writes()
        self._first: Any = None

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        if self._first is None:
            self._first = ctx.expanded_idx_mapping
        rows = torch.arange(len(logits)) % len(self._first)
        return super().apply(logits, _context(ctx, self._first[rows]))


class SlotKept(TopNSigma):
    """A slot keeps what its last request asked for if the next one has not opted in."""

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        setting = self._setting(sampling_params)
        return setting is not None and super().add_request(req_idx, sampling_params)


class Declines(TopNSigma):
    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        super().add_request(req_idx, sampling_params)
        return False


class LooksAtTheFirst(TopNSigma):
    """Whether anybody has opted in is decided by the first request of the batch."""

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        if not self._state.any_of(ctx.idx_mapping_np.tolist()[:1]):
            return logits
        return super().apply(logits, ctx)


class WrittenAStepLate(TopNSigma):
    """Reads what was staged before the step, and not what was staged for it."""

    def apply_staged_writes(self) -> None:
        self._before = getattr(self, "_now", self._state.tensors())
        self._now = self._state.tensors()

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        self._state._tensors = self._before
        try:
            return super().apply(logits, ctx)
        finally:
            self._state._tensors = self._now


def _changed(update: Any, **parts: Any) -> Any:
    given = {"removed": update.removed, "added": update.added, "moved": update.moved}
    return SimpleNamespace(**(given | parts))


def _context(ctx: Any, rows: torch.Tensor) -> Any:
    return SimpleNamespace(idx_mapping_np=ctx.idx_mapping_np, expanded_idx_mapping=rows)


_BOTH: tuple[type[TopNSigma], ...] = (
    PolicyOfTheFirst,
    ServersPolicyIgnored,
    GreedyTruncated,
    OldTensors,
    OneBuffer,
)
_V1: tuple[type[TopNSigma], ...] = (
    RemovalIgnored,
    MoveIsCopy,
    MoveIgnored,
    SwapIsMove,
    MovedBeforeAdded,
    MovesInReverse,
    AddedOnlyIfOptedIn,
    QuietStepForgets,
)
_V2: tuple[type[TopNSigma], ...] = (
    RowIsSlot,
    OneRowEach,
    FirstPartOfAStep,
    SlotKept,
    Declines,
    LooksAtTheFirst,
    WrittenAStepLate,
)
V1: dict[str, type[TopNSigma]] = {broken.__name__: broken for broken in (*_V1, *_BOTH)}
V2: dict[str, type[TopNSigma]] = {broken.__name__: broken for broken in (*_V2, *_BOTH)}
