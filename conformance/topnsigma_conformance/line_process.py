"""A process that is asked one line at a time, and may die, hang or answer nonsense."""

from __future__ import annotations

import contextlib
import io
import queue
import subprocess
import threading
from collections.abc import Sequence
from typing import IO

DEFAULT_TIMEOUT = 60.0
"""Seconds that one answer of a process may take."""


LONGEST_ANSWER = 2**26
"""Characters of a line, its end included, after which no more of it is read."""

_LONGEST_ERROR = 2**16
"""Characters of a line of standard error that are kept together."""

_MOST_UNREAD = 4
"""Lines that a process may be ahead of what it was asked for, before nothing more is read."""


class ImplementationCrashed(Exception):
    """The process of an implementation died, hung, or answered nonsense."""


class LineProcess:
    """A command that answers each line on its standard input with one on its standard output.

    It is started when it is first asked, and again after it has been stopped or has died.

    Args:
        command: program and arguments.
        timeout: seconds that an answer may take, the start of the process included.

    Attributes:
        grace: seconds that the process may take to exit after its input or output was closed.
    """

    grace = 5.0

    def __init__(self, command: Sequence[str], timeout: float = DEFAULT_TIMEOUT) -> None:
        self._command = list(command)
        self.timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._errors: list[str] = []
        self._stderr_reader: threading.Thread | None = None
        self._sender: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        """Of the running process; None when there is none."""
        return None if self._process is None else self._process.pid

    def ask(self, line: str) -> str:
        """The answer to ``line``.

        Raises:
            ImplementationCrashed: the process cannot be started, died, closed its output, did not
                answer in time, or answered with a line that is too long.
        """
        process = self._process or self._start()
        assert process.stdin is not None
        # A process that never reads would block the writer; the time-out below must still hold.
        sender = threading.Thread(target=_send, args=(process.stdin, line), daemon=True)
        sender.start()
        self._sender = sender
        try:
            answer = self._answers.get(timeout=self.timeout)
        except queue.Empty:
            self.stop()
            raise ImplementationCrashed(f"no answer within {self.timeout:g} s") from None
        if answer.endswith("\n"):
            return answer
        if answer:
            self.stop()
            raise ImplementationCrashed(
                f"its process wrote a line of more than {LONGEST_ANSWER} characters: "
                f"{answer[:200]!r}"
            )
        raise ImplementationCrashed(self._end_of(process))

    def finish(self) -> None:
        """Close the process's standard input, and kill it if that does not make it exit."""
        process = self._process
        try:
            if process is not None and self._close_input(process):
                process.wait(self.grace)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.stop()

    def stop(self) -> None:
        """Kill the process, if it runs."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            if self._sender is not None:
                # What it still has to write fails now, unless another process holds the pipe.
                self._sender.join(self.grace)
            self._close_input(process)

    def _close_input(self, process: subprocess.Popen[bytes]) -> bool:
        # While a line is being written, closing would wait until somebody has read it.
        if self._sender is not None and self._sender.is_alive():
            return False
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        return True

    def _end_of(self, process: subprocess.Popen[bytes]) -> str:
        """What became of a process whose output has ended."""
        try:
            code = process.wait(self.grace)
        except subprocess.TimeoutExpired:
            return "its process closed its standard output and did not exit"
        finally:
            self.stop()
        assert self._stderr_reader is not None
        self._stderr_reader.join(self.grace)
        last = next((text for text in reversed(self._errors) if text.strip()), "").strip()
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        return f"its process died with {how}" + (f": {last}" if last else "")

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise ImplementationCrashed(
                f"{self._command[0]!r} cannot be started: {error}"
            ) from error
        self._process = process
        self._answers = queue.SimpleQueue()
        self._errors = []
        assert process.stdout is not None
        assert process.stderr is not None
        self._stderr_reader = threading.Thread(
            target=_collect, args=(process.stderr, self._errors), daemon=True
        )
        self._stderr_reader.start()
        threading.Thread(target=_forward, args=(process.stdout, self._answers), daemon=True).start()
        return process


def _send(stream: IO[bytes], line: str) -> None:
    # A process that has died or is killed meanwhile is noticed by whoever waits for the answer.
    try:
        stream.write(f"{line}\n".encode())
        stream.flush()
    except (OSError, ValueError):
        # What could not be written would be tried again, and fail, when the stream is collected.
        with contextlib.suppress(OSError):
            stream.close()


def _text(stream: IO[bytes]) -> io.TextIOWrapper:
    # A carriage return ends no line: it may stand between the members of a JSON object.
    return io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="\n")


def _collect(stream: IO[bytes], lines: list[str], keep: int = 50) -> None:
    with _text(stream) as text:
        while line := text.readline(_LONGEST_ERROR):
            lines.append(line)
            del lines[:-keep]


def _forward(stream: IO[bytes], answers: queue.SimpleQueue[str]) -> None:
    # To stop reading closes the pipe: who goes on writing dies of it, and fills no memory of ours.
    with _text(stream) as text:
        while answers.qsize() <= _MOST_UNREAD and (line := text.readline(LONGEST_ANSWER)):
            # Without its end it is what a process has left behind that died while it wrote.
            if line.endswith("\n"):
                answers.put(line)
            elif len(line) == LONGEST_ANSWER:
                answers.put(line)
                break
    # An empty answer means that there will be no other.
    answers.put("")
