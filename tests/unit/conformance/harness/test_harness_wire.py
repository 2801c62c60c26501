"""What travels to a harness and back."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unit.conformance.harness.echo import Make, assert_usable, batch

from topnsigma_conformance import RFC
from topnsigma_conformance.batch import Batch
from topnsigma_conformance.case import BAD_N
from topnsigma_conformance.formats import SPECIALS, special_bits, width
from topnsigma_conformance.harness import Harness, HarnessDriver, encode_n
from topnsigma_conformance.implementation import DTYPES, Claims
from topnsigma_conformance.line_process import DEFAULT_TIMEOUT
from topnsigma_conformance.strategies import bad_n_names


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
