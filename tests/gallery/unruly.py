"""Samplers that do to their process what must never reach the run: each does it at n = 13."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import stat
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from gallery.textbook import Row, Textbook


class Unruly(Textbook):
    """Right, but for n = 13."""

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        if 13.0 not in n:
            return super().apply(logits, n)
        self.misbehave()
        return self.answer(logits, super().apply(logits, n))

    def misbehave(self) -> None:
        """What happens at n = 13."""

    def answer(self, logits: Row, result: Row) -> Any:
        """What is returned at n = 13, where ``result`` [B, V] would be right for ``logits``."""
        return result


class Aborts(Unruly):
    """An assertion in C."""

    def misbehave(self) -> None:
        os.write(2, b"GGML_ASSERT failed\n")
        os.abort()


class Exits(Unruly):
    """Leaves without a word."""

    def misbehave(self) -> None:
        os._exit(7)


class LeavesPython(Unruly):
    """Takes itself for a script."""

    def misbehave(self) -> None:
        sys.exit(0)


class Hangs(Unruly):
    """Waits for ever."""

    def misbehave(self) -> None:
        threading.Event().wait()


class ExhaustsMemory(Unruly):
    """Allocates until there is no more, which is made to come soon."""

    def misbehave(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (2**30, hard))
        try:
            held = []
            while True:
                held.append(bytearray(2**26))
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class KilledForMemory(Unruly):
    """What is left to be seen when the kernel runs out of it."""

    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class WritesAnywhere(Unruly):
    """A pointer that was never set."""

    def misbehave(self) -> None:
        ctypes.memset(0, 0, 1)


class WritesBehindItsRows(Unruly):
    """One token too far."""

    def answer(self, logits: Row, result: Row) -> Any:
        rows, tokens = logits.shape
        np.lib.stride_tricks.as_strided(logits, (rows, tokens + 1), logits.strides)[:, tokens] = 0.0
        return result


class ReturnsTooManyRows(Unruly):
    """Another shape."""

    def answer(self, logits: Row, result: Row) -> Any:
        return np.concatenate([result, result])


class ReturnsTooFewTokens(Unruly):
    """Another length."""

    def answer(self, logits: Row, result: Row) -> Any:
        return result[:, :-1].copy()


class ReturnsNaN(Unruly):
    """Of the right shape and dtype."""

    def answer(self, logits: Row, result: Row) -> Any:
        return np.full_like(result, np.nan)


class Prints(Unruly):
    """Prints to standard output, in Python and beneath it."""

    def misbehave(self) -> None:
        print("debug", flush=True)
        os.write(1, b"more of it\n")


class AnswersNonsense(Unruly):
    """Writes into the pipe that the answers go through."""

    def misbehave(self) -> None:
        for descriptor in _answers():
            with contextlib.suppress(OSError):
                os.write(descriptor, b"nonsense\n")


class AnswersWithoutEnd(Unruly):
    """Writes one line into it that never ends."""

    def misbehave(self) -> None:
        for descriptor in _answers():
            with contextlib.suppress(OSError):
                while True:
                    os.write(descriptor, b"[" * 2**16)


class AnswersForEver(Unruly):
    """Writes lines into it, and does not stop."""

    def misbehave(self) -> None:
        for descriptor in _answers():
            with contextlib.suppress(OSError):
                while True:
                    os.write(descriptor, b"nonsense\n" * 2**13)


class RaisesAtConstruction(Unruly):
    """Its library cannot be loaded."""

    def __init__(self, device: str | None = None) -> None:
        super().__init__(device)
        raise RuntimeError("no such library")


class Raises(Unruly):
    """An ordinary bug."""

    def misbehave(self) -> None:
        raise KeyError("thirteen")


def _answers() -> list[int]:
    """The pipes that can be the one for answers: all but those of standard input and error."""
    found = []
    errors = os.fstat(2).st_ino
    for descriptor in range(1, 64):
        with contextlib.suppress(OSError):
            status = os.fstat(descriptor)
            if stat.S_ISFIFO(status.st_mode) and status.st_ino != errors:
                found.append(descriptor)
    return found
