"""Calling an implementation: here, in a process of its own, or over the harness protocol."""

from __future__ import annotations

import os
import sys
import threading
from typing import Protocol

from topnsigma_conformance.batch import Batch
from topnsigma_conformance.harness import Harness, HarnessDriver
from topnsigma_conformance.implementation import Implementation
from topnsigma_conformance.line_process import DEFAULT_TIMEOUT, ImplementationCrashed, LineProcess
from topnsigma_conformance.observation import Observation, observe
from topnsigma_conformance.resident_memory import release_free_memory, resident_bytes
from topnsigma_conformance.transport import decode_observation, encode_batch


class Driver(Protocol):
    """Something that can apply an implementation to a batch."""

    def observe(self, batch: Batch) -> Observation:
        """One call.

        Raises:
            ImplementationCrashed: the implementation's process died or did not answer.
        """

    def resident_bytes(self) -> int | None:
        """Memory of the process that runs the implementation; None where it cannot be read."""

    def close(self) -> None:
        """Release what the driver holds."""


class InProcess:
    """Calls an implementation in this process."""

    def __init__(self, implementation: Implementation) -> None:
        self._implementation = implementation

    def observe(self, batch: Batch) -> Observation:
        """One call."""
        return observe(self._implementation, batch)

    def resident_bytes(self) -> int | None:
        """Memory of this process, without what is free or only waits to be collected."""
        release_free_memory()
        return resident_bytes(os.getpid())

    def close(self) -> None:
        """Nothing is held."""


class Isolated:
    """Calls an implementation in a process of its own, which is started again after it died."""

    def __init__(self, target: str, device: str, timeout: float = DEFAULT_TIMEOUT) -> None:
        command = [sys.executable, "-m", "topnsigma_conformance.worker", target, device]
        self._process = LineProcess(command, timeout)

    def observe(self, batch: Batch) -> Observation:
        """One call.

        Raises:
            ImplementationCrashed: the process died, did not answer in time, or answered nonsense.
        """
        answer = self._process.ask(encode_batch(batch))
        try:
            return decode_observation(answer, batch)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            self.close()
            raise ImplementationCrashed(
                f"its process answered nonsense: {answer[:200]!r}"
            ) from error

    def resident_bytes(self) -> int | None:
        """Memory of the implementation's process; None where there is none yet."""
        pid = self._process.pid
        return None if pid is None else resident_bytes(pid)

    def close(self) -> None:
        """Stop the process."""
        self._process.stop()


def driver_for(
    implementation: Implementation,
    target: str,
    *,
    isolate: bool,
    timeout: float = DEFAULT_TIMEOUT,
) -> Driver:
    """The driver for an implementation: isolated where it asks for it or the caller does.

    Args:
        implementation: to call.
        target: how its class is named, for another process to load it.
        isolate: use a process of its own even if it does not ask for that.
        timeout: seconds that one call in such a process may take; a harness has its own.

    Raises:
        ValueError: ``timeout`` is not a time to wait.
    """
    # A lock cannot wait longer; NaN is no time either.
    if not 0 < timeout <= threading.TIMEOUT_MAX:
        raise ValueError(f"timeout must be a finite number of seconds > 0; got {timeout!r}")
    if isinstance(implementation, Harness):
        return HarnessDriver(
            implementation.command, implementation.timeout, implementation.handshake
        )
    if isolate or implementation.isolated:
        return Isolated(target, implementation.device, timeout)
    return InProcess(implementation)
