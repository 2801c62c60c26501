"""Samplers that do to their process what must never reach the run: each does it at n = 13."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Sequence
from typing import Any

from gallery.textbook import Textbook


class Unruly(Textbook):
    """Right, but for n = 13."""

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        if 13.0 in n:
            self.misbehave()
        return super().apply(logits, n)

    def misbehave(self) -> None:
        """What happens at n = 13."""


class Aborts(Unruly):
    """An assertion in C."""

    def misbehave(self) -> None:
        os.write(2, b"GGML_ASSERT failed\n")
        os.abort()


class Exits(Unruly):
    """Leaves without a word."""

    def misbehave(self) -> None:
        os._exit(7)


class Hangs(Unruly):
    """Waits for ever."""

    def misbehave(self) -> None:
        threading.Event().wait()


class Prints(Unruly):
    """Prints to standard output, in Python and beneath it."""

    def misbehave(self) -> None:
        print("debug", flush=True)
        os.write(1, b"more of it\n")


class AnswersNonsense(Unruly):
    """Writes into the pipe that the answers go through."""

    def misbehave(self) -> None:
        for descriptor in range(3, 64):
            with contextlib.suppress(OSError):
                if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                    os.write(descriptor, b"nonsense\n")


class RaisesAtConstruction(Unruly):
    """Its library cannot be loaded."""

    def __init__(self, device: str | None = None) -> None:
        super().__init__(device)
        raise RuntimeError("no such library")


class Raises(Unruly):
    """An ordinary bug."""

    def misbehave(self) -> None:
        raise KeyError("thirteen")
