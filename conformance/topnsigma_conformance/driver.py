"""Calling an implementation: here, or in a process of its own that may die."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import sys
import threading
from typing import IO, Protocol

from topnsigma_conformance.batch import Batch
from topnsigma_conformance.implementation import Implementation
from topnsigma_conformance.observation import Observation, observe
from topnsigma_conformance.transport import decode_observation, encode_batch

DEFAULT_TIMEOUT = 60.0
"""Seconds that one call in a process of its own may take."""


class ImplementationCrashed(Exception):
    """The process of an isolated implementation died, hung, or answered nonsense."""


class Driver(Protocol):
    """Something that can apply an implementation to a batch."""

    def observe(self, batch: Batch) -> Observation:
        """One call.

        Raises:
            ImplementationCrashed: the implementation's process died or did not answer.
        """

    def close(self) -> None:
        """Release what the driver holds."""


class InProcess:
    """Calls an implementation in this process."""

    def __init__(self, implementation: Implementation) -> None:
        self._implementation = implementation

    def observe(self, batch: Batch) -> Observation:
        """One call."""
        return observe(self._implementation, batch)

    def close(self) -> None:
        """Nothing is held."""


class Isolated:
    """Calls an implementation in a process of its own, which is started again after it died."""

    def __init__(self, target: str, device: str, timeout: float = DEFAULT_TIMEOUT) -> None:
        self._command = [sys.executable, "-m", "topnsigma_conformance.worker", target, device]
        self._timeout = timeout
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._errors: list[str] = []

    def observe(self, batch: Batch) -> Observation:
        """One call.

        Raises:
            ImplementationCrashed: the process died, did not answer in time, or answered nonsense.
        """
        answer = self._ask(encode_batch(batch))
        try:
            return decode_observation(answer, batch)
        except (KeyError, TypeError, ValueError) as error:
            self.close()
            raise ImplementationCrashed(
                f"its process answered nonsense: {answer[:200]!r}"
            ) from error

    def close(self) -> None:
        """Stop the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _ask(self, line: str) -> str:
        process = self._process or self._start()
        assert process.stdin is not None
        # A process that never reads would block the writer; the time-out below must still hold.
        threading.Thread(target=_send, args=(process.stdin, line), daemon=True).start()
        try:
            answer = self._answers.get(timeout=self._timeout)
        except queue.Empty:
            self.close()
            raise ImplementationCrashed(f"no answer within {self._timeout:g} s") from None
        if answer:
            return answer
        self._process = None
        code = process.wait()
        last = next((text for text in reversed(self._errors) if text.strip()), "").strip()
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        raise ImplementationCrashed(f"its process died with {how}" + (f": {last}" if last else ""))

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        self._process = process
        self._answers = queue.SimpleQueue()
        self._errors = []
        assert process.stdout is not None
        assert process.stderr is not None
        stderr_reader = threading.Thread(
            target=_collect, args=(process.stderr, self._errors), daemon=True
        )
        stderr_reader.start()
        threading.Thread(
            target=_forward, args=(process.stdout, self._answers, stderr_reader), daemon=True
        ).start()
        return process


def _send(stream: IO[str], line: str) -> None:
    # A process that has died or is killed meanwhile is noticed by whoever waits for the answer.
    with contextlib.suppress(OSError, ValueError):
        stream.write(line + "\n")
        stream.flush()


def _collect(stream: IO[str], lines: list[str], keep: int = 50) -> None:
    for line in stream:
        lines.append(line)
        del lines[:-keep]


def _forward(
    stream: IO[str], answers: queue.SimpleQueue[str], stderr_reader: threading.Thread
) -> None:
    for line in stream:
        answers.put(line)
    # An empty answer means that the process is gone; by then its last words should be known.
    stderr_reader.join(timeout=5)
    answers.put("")


def driver_for(implementation: Implementation, target: str, *, isolate: bool) -> Driver:
    """The driver for an implementation: isolated where it asks for it or the caller does."""
    if isolate or implementation.isolated:
        return Isolated(target, implementation.device)
    return InProcess(implementation)
