"""A harness that breaks the protocol, dies or hangs is a crash, and is started again."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from unit.conformance.harness.echo import Make, assert_usable, batch

from topnsigma_conformance.harness import HarnessDriver
from topnsigma_conformance.line_process import DEFAULT_TIMEOUT, ImplementationCrashed


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


MORE = "answer(message)\n for _ in range(10_000): say('done ' * 1000)\n os._exit(0)"


@pytest.mark.parametrize("driver", [MORE], indirect=True, ids=["any"])
def test_a_harness_that_says_more_and_more_is_not_listened_to(driver: HarnessDriver) -> None:
    driver.observe(batch(13.0))
    process = driver._process._process
    assert process is not None
    # Of a pipe that nobody reads; it is not asked again before that.
    assert process.wait(DEFAULT_TIMEOUT) != 0
    with pytest.raises(ImplementationCrashed, match=r"not JSON: 'done "):
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
    # On a busy machine an interpreter may take longer to exit than a run would wait for it.
    driver._process.grace = DEFAULT_TIMEOUT
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
