"""Per-request settings by slot, on the host, and as tensors for the rows of a step."""

from collections.abc import Iterable
from typing import NamedTuple

import torch

_DISABLED = 0.0


class Setting(NamedTuple):
    """What an opted-in request asks for: n (finite, > 0), and whether -inf is left out."""

    n: float
    exclude: bool


class SlotState:
    """Which slots are opted in and with what.

    A slot is whatever the host engine numbers its requests by: a batch index on vLLM's Model Runner
    V1, a request slot on V2. The host side is the truth; `tensors` mirrors it, and is rebuilt only
    when something changed.

    Args:
        size: the number of slots. Slots beyond it are accepted and make the tensors longer.
        device: where the tensors go.
        pinned: whether they go there from page-locked memory, so that the host need not wait.
    """

    def __init__(self, size: int, device: torch.device, pinned: bool) -> None:
        self._size = size
        self._device = device
        self._pinned = pinned
        self._settings: dict[int, Setting] = {}
        self._tensors: tuple[torch.Tensor, torch.Tensor] | None = None

    def assign(self, slot: int, setting: Setting | None) -> None:
        """Overwrite the slot, whoever had it before; None: its request has not opted in."""
        if setting is None:
            if self._settings.pop(slot, None) is None:
                return
        else:
            self._settings[slot] = setting
        self._tensors = None

    def move(self, source: int, target: int) -> None:
        """Overwrite `target` with `source`, which becomes free."""
        self.assign(target, self._settings.get(source))
        if source != target:
            self.assign(source, None)

    def swap(self, first: int, second: int) -> None:
        """Exchange two slots."""
        one, other = self._settings.get(first), self._settings.get(second)
        self.assign(first, other)
        self.assign(second, one)

    def __bool__(self) -> bool:
        """Whether any slot is opted in."""
        return bool(self._settings)

    def any_of(self, slots: Iterable[int]) -> bool:
        """Whether one of `slots` is opted in."""
        return not self._settings.keys().isdisjoint(slots)

    def tensors(self) -> tuple[torch.Tensor, torch.Tensor]:
        """n, float64 `[S]`, and exclude, bool `[S]`, by slot; n is 0 where it is not opted in.

        After a change both are new tensors: a kernel in flight goes on reading the old ones, and
        nothing waits for it.
        """
        if self._tensors is None:
            size = max([self._size, *(slot + 1 for slot in self._settings)])
            n, exclude = [_DISABLED] * size, [False] * size
            for slot, setting in self._settings.items():
                n[slot], exclude[slot] = setting
            self._tensors = self._uploaded(n, torch.float64), self._uploaded(exclude, torch.bool)
        return self._tensors

    def _uploaded(self, values: list[float] | list[bool], dtype: torch.dtype) -> torch.Tensor:
        # A fresh host buffer each time: one that is reused could change under a copy in flight.
        # PyTorch's allocator keeps page-locked memory until the copies that read it are done.
        host = torch.tensor(values, dtype=dtype, device="cpu", pin_memory=self._pinned)
        return host.to(self._device, non_blocking=True)
