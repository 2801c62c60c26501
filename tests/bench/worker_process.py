"""A process that is asked and answers, line by line, for what cannot be in one process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any


class WorkerEndedError(RuntimeError):
    """The process ended where it should have answered."""


class WorkerProcess:
    """Runs a module that reads lines and writes a line of JSON for each.

    Args:
        arguments: the module, and what follows it on the command line.
        environment: of the process, whole.
    """

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self._name = " ".join(arguments)
        self._process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *words: object) -> Any:
        """The answer to a line.

        Raises:
            WorkerEndedError: there is none.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            print(*words, file=self._process.stdin, flush=True)
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise WorkerEndedError(f"{self._name} ended with {self._process.wait()}")
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.communicate()
