"""The handshake of the harness protocol, and what the suite makes of the claims."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from unit.conformance.harness.echo import Make, assert_usable, batch

from topnsigma_conformance import Dialect, Implementation, Session
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.driver import driver_for
from topnsigma_conformance.harness import Harness, HarnessDriver
from topnsigma_conformance.implementation import Claims
from topnsigma_conformance.line_process import DEFAULT_TIMEOUT, ImplementationCrashed


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
