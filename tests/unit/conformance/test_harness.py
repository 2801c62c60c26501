"""The harness protocol: what travels, and what becomes of a harness that breaks it."""

from __future__ import annotations

import base64
import json
import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topnsigma_conformance import RFC, Dialect, Implementation, Session
from topnsigma_conformance.batch import Batch
from topnsigma_conformance.case import BAD_N
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.driver import driver_for
from topnsigma_conformance.formats import SPECIALS, special_bits, width
from topnsigma_conformance.harness import Harness, HarnessDriver, encode_n
from topnsigma_conformance.implementation import DTYPES, Claims
from topnsigma_conformance.line_process import DEFAULT_TIMEOUT, ImplementationCrashed
from topnsigma_conformance.strategies import bad_n_names

# Leaves every row as it is. What a test inserts may replace anything that stands above it.
ECHO = """
import json, os, signal, sys

claims = {{"type": "hello", "protocol": 1, "name": "echo"}}

def say(text):
    print(text, flush=True)

def answer(message, **changes):
    reply = {{"type": "result", "id": message["id"], "logits": message["logits"]}}
    say(json.dumps({{**reply, **changes}}))

def misbehave(message):
    answer(message)

def apply(message):
    misbehave(message) if 13.0 in message["n"] else answer(message)

{inserted}

for line in sys.stdin:
    message = json.loads(line)
    say(json.dumps(claims)) if message["type"] == "hello" else apply(message)
"""

Make = Callable[[str], list[str]]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes an echoing harness with something inserted, and returns the command that runs it."""

    def made(inserted: str = "") -> list[str]:
        script = tmp_path / "harness.py"
        script.write_text(ECHO.format(inserted=inserted), "utf-8")
        return [sys.executable, str(script)]

    return made


def batch(*n: Any, dtype: str = "float32", tokens: int = 3) -> Batch:
    count = len(n) * tokens
    bits = np.arange(count, dtype=width(dtype)).reshape(len(n), tokens)
    return Batch(bits, dtype, n)


def assert_usable(driver: HarnessDriver) -> None:
    asked = batch(1.0, None)
    observation = driver.observe(asked)
    assert observation.outcome == "returned"
    np.testing.assert_array_equal(observation.bits, asked.bits)


def test_without_further_claims_it_claims_what_an_implementation_does(make: Make) -> None:
    class Plain(Implementation):
        name = "echo"
        strided = False
        remote = True

        def apply(self, logits: Any, n: Any) -> Any:
            raise NotImplementedError

    assert Claims.of(Harness(make(""))) == Claims.of(Plain())


def test_claims_are_respected(make: Make) -> None:
    claims = {
        "name": "mine",
        "version": "2.3",
        "dialect": {"sigma": "population", "invalid_n": "disable"},
        "dtypes": ["bfloat16", "float32"],
        "batched": False,
        "per_row_n": False,
        "extreme": True,
        "n_format": "binary32",
        "parameter": "top_n_sigma",
    }
    harness = Harness(make(f"claims.update(json.loads({json.dumps(claims)!r}))"))
    claimed = Claims.of(harness)
    assert claimed.dialect == Dialect(sigma="population", invalid_n="disable")
    assert claimed.dtypes == ("bfloat16", "float32")
    for name in claims.keys() - {"dialect", "dtypes"}:
        assert getattr(claimed, name) == claims[name], name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"protocol": 2}, r"protocol: 1 was expected in '\{"),
        ({"protocol": True}, "protocol: 1 was expected"),
        ({"type": "ready"}, "type: 'hello' was expected"),
        ({"skip": ["TNS-1.reject"]}, r"'skip' was unexpected"),
        ({"dialect": {"sgima": "sample"}}, r"dialect: .*'sgima' was unexpected"),
        ({"dialect": {"sigma": "both"}}, r"dialect\.sigma: 'both' is not one of \['sample'"),
        ({"dialect": "RFC"}, "dialect: 'RFC' is not of type 'object'"),
        ({"dtypes": ["float64"]}, r"dtypes\[0\]: 'float64' is not one of"),
        ({"dtypes": []}, r"dtypes: \[\] "),
        ({"name": ""}, "name: '' "),
        ({"extreme": "yes"}, "extreme: 'yes' is not of type 'boolean'"),
        ({"n_format": "decimal"}, "n_format: 'decimal' is not one of"),
    ],
)
def test_claims_that_are_not_of_the_protocol_are_refused(
    make: Make, change: dict[str, Any], message: str
) -> None:
    command = make(f"claims.update(json.loads({json.dumps(change)!r}))")
    with pytest.raises(ImplementationCrashed, match=f"broke the protocol: .*{message}"):
        Harness(command)


def test_a_harness_has_to_have_a_name(make: Make) -> None:
    with pytest.raises(ImplementationCrashed, match="'name' is a required property"):
        Harness(make("del claims['name']"))


@pytest.mark.parametrize(
    ("inserted", "message"),
    [
        ("sys.exit('no model at path')", "died with exit status 1: no model at path"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "died with signal 11"),
        ("say('Loading model')", r"not JSON: 'Loading model\\n'"),
    ],
)
def test_a_harness_that_does_not_start(make: Make, inserted: str, message: str) -> None:
    with pytest.raises(ImplementationCrashed, match=message):
        Harness(make(inserted))


def test_a_command_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ImplementationCrashed, match=r"missing' cannot be started: "):
        Harness([str(tmp_path / "missing")])


@pytest.mark.parametrize("command", ["", "  ", [], "harness 'unbalanced"])
def test_a_command_that_names_no_program(command: str | list[str]) -> None:
    with pytest.raises(ValueError, match=r"command must .*; got "):
        Harness(command)


def test_a_command_is_split_as_a_shell_would(make: Make) -> None:
    program, script = make("claims['name'] = sys.argv[1]")
    assert Harness(f"{program} {script} 'two words'").name == "two words"


def test_other_claims_after_a_restart_are_a_crash(make: Make, tmp_path: Path) -> None:
    command = make(
        f"starts = {str(tmp_path / 'starts')!r}\n"
        "open(starts, 'a').write('x')\n"
        "claims['name'] = open(starts).read()\n"
        "def misbehave(message): os._exit(0)"
    )
    with closing(HarnessDriver(command, DEFAULT_TIMEOUT)) as driver:
        assert_usable(driver)
        with pytest.raises(ImplementationCrashed, match="exit status 0"):
            driver.observe(batch(13.0))
        for _ in range(2):
            with pytest.raises(
                ImplementationCrashed, match=r"claims changed from .*'x'.* to .*'xx"
            ):
                driver.observe(batch(1.0))
    harness = Harness(command)
    driver = HarnessDriver(command, DEFAULT_TIMEOUT, harness.handshake)
    with closing(driver), pytest.raises(ImplementationCrashed, match="claims changed"):
        driver.observe(batch(1.0))


@pytest.fixture
def driver(request: pytest.FixtureRequest, make: Make) -> Iterator[HarnessDriver]:
    """Of a harness that does ``request.param`` instead of answering when n is 13."""
    body = f"def misbehave(message):\n {request.param}"
    with closing(HarnessDriver(make(body), DEFAULT_TIMEOUT)) as made:
        yield made


MISBEHAVIOUR = {
    "os._exit(7)": "died with exit status 7",
    "sys.stderr.write('first\\nGGML_ASSERT\\n\\n'); sys.stderr.flush(); os._exit(0)": (
        "died with exit status 0: GGML_ASSERT$"
    ),
    "os.abort()": "died with signal 6",
    "print('{', end='', flush=True); os._exit(3)": "died with exit status 3",
    "say('nonsense')": r"not JSON: 'nonsense\\n'",
    "say('')": r"not JSON: '\\n'",
    "say('[' * 100_000)": r"not JSON: '\[\[",
    "sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()": "not JSON: ",
    "say('[]')": r"\[\] is not of type 'object' in '\[\]",
    "say('{}')": "'(type|id)' is a required property in ",
    "say(json.dumps({'type': 'result', 'id': 1}))": "'logits' is a required property",
    "say(json.dumps(claims))": "type: 'hello' is not one of |'id' is a required property",
    "answer(message, id=message['id'] + 1)": r"answered id \d+ when asked \d+",
    "answer(message, id=0)": "0 is less than the minimum",
    "answer(message, id='1')": "id: '1' is not of type 'integer'",
    "answer(message, type='done')": "type: 'done' is not one of ",
    "answer(message, seconds=1)": "'seconds' was unexpected",
    "answer(message, logits='AAAA')": "3 bytes of logits where 12 were asked for",
    "answer(message, logits='')": "0 bytes of logits where 12 were asked for",
    "answer(message, logits='A' * 15 + '*')": "logits are not base64: ",
    "answer(message, logits='AAA')": "logits are not base64: ",
    "answer(message, logits='AAAAAAAA\\nAAAAAAAA')": "logits are not base64: ",
    "answer(message, logits=None)": "logits: None is not of type 'string'",
    "answer(message, type='rejected')": "'message' is a required property|'logits' was unexp",
    "say('sampling took 3 ms'); answer(message)": r"not JSON: 'sampling took 3 ms\\n'",
}


@pytest.mark.parametrize(("driver", "message"), MISBEHAVIOUR.items(), indirect=["driver"])
def test_misbehaviour_is_a_crash_and_the_harness_is_started_again(
    driver: HarnessDriver, message: str
) -> None:
    assert_usable(driver)
    for _ in range(2):
        with pytest.raises(ImplementationCrashed, match=message):
            driver.observe(batch(13.0))
        assert_usable(driver)


@pytest.mark.parametrize("driver", ["answer(message); say('done')"], indirect=True)
def test_what_is_said_after_an_answer_is_noticed_at_the_next_one(driver: HarnessDriver) -> None:
    driver.observe(batch(13.0))
    with pytest.raises(ImplementationCrashed, match=r"not JSON: 'done\\n'"):
        driver.observe(batch(1.0))
    assert_usable(driver)


@pytest.mark.parametrize("driver", ["signal.pause()"], indirect=True)
def test_a_harness_that_hangs_is_a_crash(driver: HarnessDriver) -> None:
    assert_usable(driver)
    # Short only where nothing can come: the start of a process takes as long as it takes.
    driver._process.timeout = 0.2
    with pytest.raises(ImplementationCrashed, match=r"no answer within 0\.2 s"):
        driver.observe(batch(13.0))
    driver._process.timeout = DEFAULT_TIMEOUT
    assert_usable(driver)


def test_a_harness_that_does_not_read_is_a_crash(make: Make) -> None:
    command = make("say(json.dumps(claims)); signal.pause()")
    with closing(HarnessDriver(command, DEFAULT_TIMEOUT)) as driver:
        driver.handshake()
        driver._process.timeout = 0.2
        with pytest.raises(ImplementationCrashed, match="no answer"):
            driver.observe(batch(1.0, tokens=262_144))


@pytest.mark.parametrize(
    "driver", ["os.close(1)\n signal.pause()", "os.close(1)\n sys.stdin.read()"], indirect=True
)
def test_a_harness_that_closes_its_output_is_a_crash(driver: HarnessDriver) -> None:
    driver._process.grace = 0.1
    with pytest.raises(ImplementationCrashed, match="closed its standard output and did not exit"):
        driver.observe(batch(13.0))
    assert_usable(driver)


@pytest.mark.parametrize(
    "driver", ["answer(message, type=message['dtype'])"], indirect=True, ids=["any"]
)
def test_a_long_answer_is_quoted_in_short(driver: HarnessDriver) -> None:
    with pytest.raises(ImplementationCrashed) as crash:
        driver.observe(batch(13.0, tokens=10_000))
    assert len(str(crash.value)) < 1000


def test_a_harness_can_finish_when_its_input_is_closed(make: Make, tmp_path: Path) -> None:
    finished = tmp_path / "finished"
    command = make(f"import atexit\natexit.register(lambda: open({str(finished)!r}, 'w').close())")
    driver = HarnessDriver(command, DEFAULT_TIMEOUT)
    assert_usable(driver)
    assert not finished.exists()
    driver.close()
    assert finished.exists()
    driver.close()


def test_a_harness_that_does_not_finish_is_killed(make: Make) -> None:
    driver = HarnessDriver(make("import atexit\natexit.register(signal.pause)"), DEFAULT_TIMEOUT)
    assert_usable(driver)
    pid = driver._process.pid
    assert pid is not None
    driver._process.grace = 0.1
    driver.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_end_does_not_wait_for_a_harness_that_does_not_read(make: Make) -> None:
    asked = batch(1.0, tokens=262_144)
    command = make(
        "import base64\nsay(json.dumps(claims))\n"
        f"logits = base64.b64encode(bytes({asked.bits.nbytes})).decode()\n"
        "answer({'id': 1, 'logits': logits})\nsignal.pause()"
    )
    driver = HarnessDriver(command, DEFAULT_TIMEOUT)
    assert driver.observe(asked).outcome == "returned"
    closing_it = threading.Thread(target=driver.close, daemon=True)
    closing_it.start()
    closing_it.join(DEFAULT_TIMEOUT)
    assert not closing_it.is_alive()


@pytest.mark.parametrize(
    ("inserted", "status", "message"),
    [
        ("os._exit(7)", "crash", "its process died with exit status 7"),
        ("say('1')", "crash", "its process broke the protocol: "),
        (
            "say(json.dumps({'type': 'error', 'id': message['id'], 'message': 'out of memory'}))",
            "error",
            "out of memory",
        ),
        (
            "say(json.dumps({'type': 'rejected', 'id': message['id'], 'message': 'no'}))",
            "fail",
            "rejected n = [None]: no",
        ),
    ],
)
def test_the_run_goes_on(make: Make, inserted: str, status: str, message: str) -> None:
    trouble = f"{inserted} if message['n'] == [None] else answer(message)"
    with Session(Harness(make(f"def apply(message):\n {trouble}"))) as session:
        for _ in range(2):
            result = session.run(CHECKS["TNS-2.disabled"], shrink=False)
            assert result.status == status
            assert message in str(result.failure)
            assert session.run(CHECKS["TNS-3.inf"]).status == "pass"


def test_what_cannot_be_seen_of_a_process_is_unsupported(make: Make) -> None:
    with Session(Harness(make(""))) as session:
        for check in ("TNS-8.layout", "TNS-10.in-place", "TNS-10.bounds"):
            result = session.run(CHECKS[check])
            assert (result.status, bool(result.detail)) == ("unsupported", True)


def test_a_harness_has_a_driver_of_its_own(make: Make) -> None:
    for isolate in (False, True):
        driver = driver_for(Harness(make("")), "", isolate=isolate)
        with closing(driver):
            assert isinstance(driver, HarnessDriver)


class Wire:
    """A harness that echoes, and what it was sent."""

    def __init__(self, make: Make, path: Path) -> None:
        self._path = path
        answer_and_note = (
            f"def apply(message):\n open({str(path)!r}, 'w').write(line)\n answer(message)"
        )
        self.driver = HarnessDriver(make(answer_and_note), DEFAULT_TIMEOUT)

    def line(self, asked: Batch) -> str:
        """The line in which ``asked`` went out; that it came back whole is checked."""
        observation = self.driver.observe(asked)
        np.testing.assert_array_equal(observation.bits, asked.bits)
        assert observation.bits is not None
        assert observation.bits.dtype == asked.bits.dtype
        return self._path.read_text("utf-8")


@pytest.fixture
def wire(make: Make, tmp_path: Path) -> Iterator[Wire]:
    made = Wire(make, tmp_path / "line")
    with closing(made.driver):
        yield made


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (1.0, "1.0"),
        (0.1, "0.1"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (2, "2"),
        (2**70, "1180591620717411303424"),
        (10**400, "1" + "0" * 400),
        (None, "null"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (-1, "-1"),
        (math.nan, '{"invalid": "nan"}'),
        (math.inf, '{"invalid": "inf"}'),
        (-math.inf, '{"invalid": "-inf"}'),
        (True, "true"),
        ("2.0", '"2.0"'),
        ("", '""'),
        ([2.0], "[2.0]"),
        ({"n": 2.0}, '{"n": 2.0}'),
    ],
    ids=repr,
)
def test_every_kind_of_n_is_carried(wire: Wire, n: Any, text: str) -> None:
    assert f'"n": [1.5, {text}]' in wire.line(batch(1.5, n))


def test_all_that_the_suite_asks_of_a_harness_can_be_carried() -> None:
    names = bad_n_names(json_only=True)
    assert {"zero", "nan", "inf", "-inf", "true", "string", "list", "dict", "10**400"} <= {*names}
    for name in names:
        carried = json.loads(json.dumps(encode_n(BAD_N[name]), allow_nan=False))
        if not isinstance(carried, dict) or "invalid" not in carried:
            assert carried == BAD_N[name]
            assert type(carried) is type(BAD_N[name])


@pytest.mark.parametrize("name", sorted(set(BAD_N) - set(bad_n_names(json_only=True))))
def test_the_rest_cannot(wire: Wire, name: str) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        wire.line(batch(BAD_N[name]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_bit_pattern_survives(wire: Wire, dtype: str) -> None:
    bits = np.array([[special_bits(dtype, name) for name in SPECIALS]] * 2, width(dtype))
    bits[1] ^= 1
    line = wire.line(Batch(bits, dtype, (1.0, None)))
    sent = base64.b64decode(json.loads(line)["logits"], validate=True)
    size = width(dtype).itemsize
    words = [int.from_bytes(sent[at : at + size], "little") for at in range(0, len(sent), size)]
    assert words == bits.ravel().tolist()


def test_a_view_travels_row_after_row(wire: Wire) -> None:
    bits = np.arange(12, dtype=np.uint32).reshape(4, 3).T[::-1]
    wire.line(Batch(bits, "float32", (1.0,) * 3))


def test_big_rows(wire: Wire) -> None:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, (4, 262_144), dtype=np.uint32)
    line = wire.line(Batch(bits, "float32", (1.0,) * 4))
    assert len(line) > 4 * 262_144 * 4 * 4 // 3


def test_ids_are_never_used_twice(wire: Wire) -> None:
    ids = [json.loads(wire.line(batch(1.0)))["id"] for _ in range(3)]
    wire.driver.close()
    assert [*ids, json.loads(wire.line(batch(1.0)))["id"]] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("type_", "outcome", "message"), [("rejected", "rejected", "n ≤ 0"), ("error", "raised", "")]
)
def test_errors_are_outcomes(make: Make, type_: str, outcome: str, message: str) -> None:
    reply = f"{{'type': {type_!r}, 'id': message['id'], 'message': {message!r}}}"
    body = f"def misbehave(message):\n say(json.dumps({reply}, ensure_ascii=False))"
    with closing(HarnessDriver(make(body), DEFAULT_TIMEOUT)) as driver:
        asked = batch(13.0)
        observation = driver.observe(asked)
        assert (observation.outcome, observation.message) == (outcome, message)
        assert observation.bits is None
        np.testing.assert_array_equal(observation.input_bits, asked.bits)
        assert_usable(driver)


def test_applying_goes_through_the_driver(make: Make) -> None:
    assert Claims.of(Harness(make(""))).dialect == RFC
    with pytest.raises(NotImplementedError):
        Harness(make("")).apply(np.zeros((1, 2)), [1.0])
