"""Whatever a process answers, it is an answer or a crash: nothing else, and never for ever."""

from __future__ import annotations

import collections
import contextlib
import io
import json
import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from unit.conformance.harness import fuzzed_replies
from unit.conformance.harness.echo import Make, assert_usable, batch
from unit.conformance.harness.fuzzed_replies import ASKED, HELLO, KINDS, RIGHT, Message, line_of

from topnsigma_conformance import line_process
from topnsigma_conformance.driver import Isolated
from topnsigma_conformance.harness import Harness, HarnessDriver
from topnsigma_conformance.line_process import (
    DEFAULT_TIMEOUT,
    ImplementationCrashed,
    LineProcess,
    _forward,
)
from topnsigma_conformance.observation import Observation
from topnsigma_conformance.transport import encode_observation

SEED = 20_261_130
REPLIES = {"answers": 60_000, "handshakes": 25_000, "observations": 15_000}
"""What is asked for to how many replies: 100,000 in all."""

PARTS = 10
"""In which they are tried, so that two processes can share the work."""

LONGEST = 2**16

OBSERVED: Message = json.loads(
    encode_observation(Observation("returned", "", ASKED.bits, ASKED.bits + 1, True), ASKED)
)


class Written:
    """A process that has written all that it has to say, and exited."""

    pid = 1

    def __init__(self) -> None:
        self.stdin = io.BytesIO()
        self.killed = 0

    def kill(self) -> None:
        self.killed += 1

    def wait(self, timeout: float | None = None) -> int:
        return 0


class InMemory(LineProcess):
    """Asks, reads and stops as for a real process; what that writes is bytes of a test.

    Attributes:
        process: that runs from the beginning; there is no other.
    """

    def __init__(self, writes: io.RawIOBase | io.BytesIO) -> None:
        super().__init__(["in", "memory"])
        self.process = Written()
        self._process = self.process  # type: ignore[assignment]
        self._stderr_reader = _ENDED
        _forward(writes, self._answers)  # type: ignore[arg-type]


_ENDED = threading.Thread()
_ENDED.start()


@pytest.fixture
def shorter_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_process, "LONGEST_ANSWER", LONGEST)


def answered(process: InMemory) -> None:
    driver = HarnessDriver(["in", "memory"], DEFAULT_TIMEOUT)
    driver._process = process
    observation = driver.observe(ASKED)
    assert (observation.bits is None) == (observation.outcome != "returned")
    assert observation.bits is None or observation.bits.shape == ASKED.shape


def greeted(process: InMemory) -> None:
    driver = HarnessDriver(["in", "memory"], DEFAULT_TIMEOUT)
    driver._process = process
    assert driver.handshake()["type"] == "hello"


def observed(process: InMemory) -> None:
    driver = Isolated("module:Class", "cpu")
    driver._process = process
    observation = driver.observe(ASKED)
    assert (observation.bits is None) == (observation.outcome != "returned")
    assert observation.input_bits.shape == ASKED.shape


Reader = Callable[[InMemory], None]

READERS: dict[str, tuple[Reader, tuple[Message, ...], Callable[[Any], bool] | None]] = {
    "answers": (answered, RIGHT, fuzzed_replies.is_right_answer),
    "handshakes": (greeted, HELLO, fuzzed_replies.is_right_hello),
    # Between two processes of the suite: whether a line is right is for its decoder to say.
    "observations": (observed, (OBSERVED,), None),
}


def crash_of(read: Reader, writes: io.RawIOBase | io.BytesIO) -> str:
    """What is wrong with what a process writes; empty where that is an answer."""
    process = InMemory(writes)
    try:
        read(process)
    except ImplementationCrashed as crash:
        message = str(crash)
    else:
        message = ""
    assert process.process.killed == bool(message)
    assert len(message) < 1000, message[:2000]
    return message


def accepted(read: Reader, written: bytes) -> bool:
    """Whether a reply is taken for an answer, and is no crash."""
    return not crash_of(read, io.BytesIO(written))


@pytest.mark.usefixtures("shorter_lines")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("what", REPLIES)
def test_every_reply_is_an_answer_or_a_crash(
    what: str, part: int, record_property: Callable[[str, object], None]
) -> None:
    read, messages, is_right = READERS[what]
    rng = random.Random(f"{SEED}/{what}/{part}")
    count = REPLIES[what] // PARTS
    outcomes: collections.Counter[tuple[str, bool]] = collections.Counter()
    for _ in range(count):
        kind, written = fuzzed_replies.draw(rng, messages)
        taken = accepted(read, written)
        outcomes[kind, taken] += 1
        if is_right is not None:
            wanted = is_right(fuzzed_replies.message_in(written, LONGEST))
            assert taken == wanted, (kind, written[:500])
    assert {kind for kind, _ in outcomes} == set(KINDS)
    good = sum(number for (_, taken), number in outcomes.items() if taken)
    # A reader that took nothing, or anything, would do neither.
    assert count // 20 < good < count // 2
    record_property("fuzzed replies", f"{what}: {count}, {good} of them right")


@pytest.mark.parametrize("what", REPLIES)
def test_messages_that_are_right_are_taken(what: str) -> None:
    read, messages, _ = READERS[what]
    for message in messages:
        assert accepted(read, line_of(message))
        assert not accepted(read, line_of(message)[:-1])


@pytest.mark.parametrize("what", REPLIES)
@pytest.mark.parametrize("opened", ["[", '{"a":'])
def test_no_depth_is_too_deep(what: str, opened: str) -> None:
    read, messages, _ = READERS[what]
    closed = "]" if opened == "[" else "1}"
    for depth in range(sys.getrecursionlimit() + 20):
        value = opened * depth + "0" + closed[-1] * depth
        assert not accepted(read, value.encode() + b"\n"), depth
        inside = line_of({**messages[0], "type": "@"}).replace(b'"@"', value.encode())
        assert not accepted(read, inside) or what == "observations", depth


GROWING: dict[str, Callable[[int], bytes]] = {
    "numbers as dtypes": lambda size: _claim("dtypes", list(range(size))),
    "lists as dtypes": lambda size: _claim("dtypes", [[i] if i % 2 else i for i in range(size)]),
    "one dtype": lambda size: _claim("dtypes", ["float32"] * size),
    "dialect": lambda size: _claim("dialect", {str(i): i for i in range(size)}),
    "members": lambda size: line_of({**HELLO[0], **{str(i): i for i in range(size)}}),
    "one member": lambda size: b"{" + b'"type": "hello", ' * size + b'"id": 1}\n',
    "name": lambda size: _claim("name", [["a"]] * size),
    "array": lambda size: line_of(list(range(size))),
    "lines": lambda size: b"\n" * size,
    "digits": lambda size: b"9" * size + b"\n",
    "blanks": lambda size: b" \r\t" * size + b"\n",
    "escapes": lambda size: b'"' + b"\\ud83d" * size + b'"\n',
}


def _claim(name: str, value: Any) -> bytes:
    return line_of({**HELLO[1], name: value})


def calls_to_read(read: Reader, written: bytes) -> int:
    """Calls of functions, in Python or C, that it takes to make a crash of ``written``."""
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        assert not accepted(read, written)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("what", ["answers", "handshakes"])
@pytest.mark.parametrize("growing", GROWING)
def test_the_work_grows_no_faster_than_the_reply(what: str, growing: str) -> None:
    read, *_ = READERS[what]
    # Once before: some of it is cached.
    calls_to_read(read, GROWING[growing](4))
    once, twice = (calls_to_read(read, GROWING[growing](size)) for size in (400, 800))
    assert twice <= 2.2 * once + 100


class Endless(io.RawIOBase):
    """A stream that never ends, and counts what was read of it."""

    def __init__(self, pattern: bytes) -> None:
        self._pattern = pattern
        self.read_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(buffer) // len(self._pattern) * len(self._pattern)
        buffer[:size] = self._pattern * (size // len(self._pattern))
        self.read_bytes += size
        return size


@pytest.mark.usefixtures("shorter_lines")
@pytest.mark.parametrize("pattern", [b"[", b"\n", b"log\n", b" \r", b"\xff", "σ".encode()])
@pytest.mark.parametrize("what", REPLIES)
def test_no_more_is_read_than_can_be_an_answer(what: str, pattern: bytes) -> None:
    read, *_ = READERS[what]
    stream = Endless(pattern)
    assert crash_of(read, stream)
    # Of two bytes a character, and what a buffer holds ahead of it.
    assert stream.read_bytes <= 2 * LONGEST + 2**17


@pytest.fixture
def written(tmp_path: Path) -> list[bytes]:
    """What the harness writes at n = 13, the one after the other."""
    rng = random.Random(SEED)
    several = [fuzzed_replies.draw(rng, RIGHT)[1] for _ in range(200)]
    (tmp_path / "replies.json").write_text(json.dumps([each.hex() for each in several]), "utf-8")
    return several


def test_real_processes_too(make: Make, written: list[bytes], tmp_path: Path) -> None:
    # Each of its processes takes up where the one before has ended.
    inserted = (
        f"folder = {str(tmp_path)!r}\n"
        "replies = json.load(open(folder + '/replies.json'))\n"
        "def misbehave(message):\n"
        "    with open(folder + '/done', 'a+') as done:\n"
        "        done.write('x')\n"
        "        done.flush()\n"
        "        done.seek(0)\n"
        "        place = len(done.read()) - 1\n"
        "    sys.stdout.buffer.write(bytes.fromhex(replies[place]))\n"
        "    sys.stdout.flush()\n"
        "    os._exit(0) if place % 2 else sys.exit()\n"
    )
    asked = batch(13.0, None)
    taken = []
    with contextlib.closing(HarnessDriver(make(inserted), DEFAULT_TIMEOUT)) as driver:
        for _ in written:
            # They all answer the first question.
            driver._asked = 0
            try:
                driver.observe(asked)
                taken.append(True)
            except ImplementationCrashed:
                taken.append(False)
            # What else it wrote belongs to no question.
            driver._process.stop()
        assert_usable(driver)
    assert (tmp_path / "done").read_text("utf-8") == "x" * len(written)
    right = fuzzed_replies.is_right_answer
    messages = [fuzzed_replies.message_in(each, line_process.LONGEST_ANSWER) for each in written]
    assert 0 < sum(taken) < len(taken)
    assert taken == [right(message) for message in messages]


def test_a_name_of_a_class_or_a_call_stays_a_name(make: Make, tmp_path: Path) -> None:
    calls = f"__import__('os').mkdir({str(tmp_path / 'made')!r})"
    claims = {
        "name": calls,
        "version": f"{{{calls}}}",
        "parameter": "!!python/object/apply:os.mkdir",
    }
    harness = Harness(make(f"claims.update(json.loads({json.dumps(claims)!r}))"))
    assert (harness.name, harness.version) == (claims["name"], claims["version"])
    assert not (tmp_path / "made").exists()
