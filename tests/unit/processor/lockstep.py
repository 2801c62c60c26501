"""Threads that take turns at PyTorch's operations: the same interleaving every time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class _Rounds:
    """Whose turn it is, among those who have not finished."""

    def __init__(self, count: int) -> None:
        self._left = list(range(count))
        self._at = 0
        self._changed = threading.Condition()
        self.turns: list[int] = []

    def wait_for(self, thread: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._left[self._at] == thread)

    def pass_on(self, thread: int, finished: bool) -> None:
        with self._changed:
            self.turns.append(thread)
            if finished:
                self._left.remove(thread)
            else:
                self._at += 1
            self._at = self._at % len(self._left) if self._left else 0
            self._changed.notify_all()


class _OneOperationATurn(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, rounds: _Rounds, thread: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._rounds, self._thread = rounds, thread

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self._rounds.pass_on(self._thread, finished=False)
        self._rounds.wait_for(self._thread)
        return result


def run(works: Sequence[Callable[[], object]]) -> list[int]:
    """Run each in a thread of its own, one operation after another in turn; return whose turns
    there were. What one of them raises is raised."""
    rounds = _Rounds(len(works))
    raised: list[BaseException] = []

    def work(thread: int) -> None:
        rounds.wait_for(thread)
        try:
            with _OneOperationATurn(rounds, thread):
                works[thread]()
        except BaseException as error:
            raised.append(error)
        finally:
            rounds.pass_on(thread, finished=True)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
    return rounds.turns
