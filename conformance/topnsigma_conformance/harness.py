"""A sampler in any language, driven over the harness protocol of PROTOCOL.md."""

from __future__ import annotations

import base64
import functools
import json
import math
import shlex
from collections.abc import Sequence
from importlib import resources
from typing import Any

import jsonschema
import numpy as np

from topnsigma_conformance.batch import Batch
from topnsigma_conformance.formats import Bits, width
from topnsigma_conformance.implementation import Implementation
from topnsigma_conformance.line_process import DEFAULT_TIMEOUT, ImplementationCrashed, LineProcess
from topnsigma_conformance.observation import Observation, Outcome
from topnsigma_conformance.transport import encode_bits
from topnsigma_conformance.version import SUITE_VERSION
from topnsigma_reference import SPEC_VERSION, Dialect

PROTOCOL_VERSION = 1

EXEC = "exec:"
"""What a harness's command follows in a target."""

_OUTCOMES: dict[str, Outcome] = {
    "result": "returned",
    "rejected": "rejected",
    "error": "raised",
}
_QUOTED = 200
"""Characters of an answer that a message quotes."""

_CLAIMS = ("name", "version", "batched", "per_row_n", "extreme", "n_format", "parameter")


class Harness(Implementation):
    """An implementation behind a command that speaks the harness protocol.

    Args:
        command: as on a shell's command line (but no shell runs it), or program and arguments.
        timeout: seconds that one answer may take.

    Attributes:
        command: program and arguments.
        target: how the command line names it.
        timeout: seconds that one answer may take.
        handshake: the answer to ``hello``, which every process of the command has to repeat.

    Raises:
        ImplementationCrashed: the command cannot be started, or its handshake fails.
        ValueError: ``command`` names no program.
    """

    strided = False
    remote = True

    def __init__(self, command: str | Sequence[str], timeout: float = DEFAULT_TIMEOUT) -> None:
        super().__init__()
        self.command = _words(command)
        self.target = EXEC + shlex.join(self.command)
        self.timeout = timeout
        driver = HarnessDriver(self.command, timeout)
        try:
            self.handshake = driver.handshake()
        finally:
            driver.close()
        self.dialect = Dialect(**self.handshake.get("dialect", {}))
        self.dtypes = tuple(self.handshake.get("dtypes", self.dtypes))
        for name in _CLAIMS:
            setattr(self, name, self.handshake.get(name, getattr(self, name, None)))

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        """Not here: a :class:`HarnessDriver` asks the process."""
        raise NotImplementedError


class HarnessDriver:
    """Asks a process for the result of each batch, and starts it again after it has died.

    Args:
        command: program and arguments.
        timeout: seconds that one answer may take.
        expected: what every handshake has to say; by default, what the first one says.
    """

    def __init__(
        self, command: Sequence[str], timeout: float, expected: dict[str, Any] | None = None
    ) -> None:
        self._process = LineProcess(command, timeout)
        self._expected = expected
        self._asked = 0

    def handshake(self) -> dict[str, Any]:
        """What the harness answers to ``hello``.

        Raises:
            ImplementationCrashed: it does not answer, or not as expected.
        """
        hello = {
            "type": "hello",
            "protocol": PROTOCOL_VERSION,
            "spec": SPEC_VERSION,
            "suite": SUITE_VERSION,
        }
        answer = self._read(self._process.ask(json.dumps(hello)), "harness_hello")
        if self._expected is not None and answer != self._expected:
            before, after = repr(self._expected)[:_QUOTED], repr(answer)[:_QUOTED]
            raise self._nonsense(f"its claims changed from {before} to {after}")
        self._expected = answer
        return answer

    def observe(self, batch: Batch) -> Observation:
        """One batch.

        Raises:
            ImplementationCrashed: the process died, did not answer in time, or broke the protocol.
        """
        if self._process.pid is None:
            self.handshake()
        self._asked += 1
        answer = self._read(self._process.ask(self._question(batch)), "answer")
        if answer["id"] != self._asked:
            answered = str(answer["id"])[:_QUOTED]
            raise self._nonsense(f"answered id {answered} when asked {self._asked}")
        bits = self._bits(answer["logits"], batch) if answer["type"] == "result" else None
        return Observation(
            outcome=_OUTCOMES[answer["type"]],
            message=answer.get("message", ""),
            bits=bits,
            input_bits=batch.bits,
            guards_intact=True,
        )

    def resident_bytes(self) -> int | None:
        """Not known: the command may have started other processes."""
        return None

    def close(self) -> None:
        """End the process."""
        self._process.finish()

    def _question(self, batch: Batch) -> str:
        return json.dumps(
            {
                "type": "apply",
                "id": self._asked,
                "dtype": batch.dtype,
                "rows": batch.shape[0],
                "tokens": batch.shape[1],
                "n": [encode_n(entry) for entry in batch.n],
                "logits": encode_bits(batch.bits),
            },
            allow_nan=False,
        )

    def _read(self, line: str, kind: str) -> dict[str, Any]:
        try:
            message: dict[str, Any] = json.loads(line)
            error = jsonschema.exceptions.best_match(_validator(kind).iter_errors(message))
        except (ValueError, RecursionError):
            # What can just be parsed may still be too deep to be looked at.
            raise self._nonsense(f"not JSON: {line[:_QUOTED]!r}") from None
        if error is not None:
            where = "" if error.json_path == "$" else f"{error.json_path[2:]}: "
            raise self._nonsense(f"{where}{error.message[:_QUOTED]} in {line[:_QUOTED]!r}")
        return message

    def _bits(self, text: str, batch: Batch) -> Bits:
        pattern = width(batch.dtype)
        try:
            raw = base64.b64decode(text, validate=True)
        except ValueError as error:
            raise self._nonsense(f"logits are not base64: {error}") from error
        expected = batch.bits.size * pattern.itemsize
        if len(raw) != expected:
            raise self._nonsense(f"{len(raw)} bytes of logits where {expected} were asked for")
        return np.frombuffer(raw, pattern.newbyteorder("<")).astype(pattern).reshape(batch.shape)

    def _nonsense(self, what: str) -> ImplementationCrashed:
        self._process.stop()
        return ImplementationCrashed(f"its process broke the protocol: {what}")


def encode_n(entry: Any) -> Any:
    """An entry of n as a value that JSON can carry; what none can carry comes back as it is."""
    if isinstance(entry, float) and not math.isfinite(entry):
        return {"invalid": "nan" if math.isnan(entry) else "inf" if entry > 0 else "-inf"}
    return entry


@functools.cache
def _validator(kind: str) -> Any:
    text = resources.files(__package__).joinpath("protocol.schema.json").read_text("utf-8")
    definitions = json.loads(text)["$defs"]
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": definitions})


def _words(command: str | Sequence[str]) -> list[str]:
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise ValueError(f"command must be words of a shell; got {command!r}: {error}") from None
    if not words:
        raise ValueError(f"command must name a program; got {command!r}")
    return words
