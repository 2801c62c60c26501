"""Batches and observations survive the way to another process, bit for bit."""

from __future__ import annotations

import base64
import json
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp

from topnsigma_conformance import strategies
from topnsigma_conformance.batch import Batch, Layout
from topnsigma_conformance.case import BAD_N
from topnsigma_conformance.formats import SPECIALS, special_bits, width
from topnsigma_conformance.implementation import DTYPES
from topnsigma_conformance.observation import Observation
from topnsigma_conformance.transport import (
    decode_batch,
    decode_observation,
    encode_batch,
    encode_observation,
)


@settings(deadline=None)
@given(st.data(), st.sampled_from(DTYPES), strategies.layouts())
def test_batch(data: st.DataObject, dtype: str, layout: Layout) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=2, max_dims=2, max_side=6))
    # Any bits at all: NaNs with every payload among them.
    bits = data.draw(hnp.arrays(width(dtype), shape))
    n = tuple(
        data.draw(st.one_of(st.none(), strategies.valid_n(), strategies.unusual_n()))
        for _ in range(shape[0])
    )
    line = encode_batch(Batch(bits, dtype, n, layout))
    assert "\n" not in line
    read = decode_batch(line)
    np.testing.assert_array_equal(read.bits, bits)
    assert read.bits.dtype == bits.dtype
    assert (read.dtype, read.layout) == (dtype, layout)
    assert [(type(entry), entry) for entry in read.n] == [(type(entry), entry) for entry in n]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SPECIALS)
def test_special_patterns(dtype: str, name: str) -> None:
    bits = np.full((2, 3), special_bits(dtype, name), width(dtype))
    np.testing.assert_array_equal(
        decode_batch(encode_batch(Batch(bits, dtype, (1.0, None)))).bits, bits
    )


@pytest.mark.parametrize("name", BAD_N)
def test_bad_n_arrives_as_the_same_object(name: str) -> None:
    batch = Batch(np.zeros((2, 1), np.uint32), "float32", (BAD_N[name], 1.0))
    read = decode_batch(encode_batch(batch)).n
    assert read[0] is BAD_N[name]
    assert read[1] == 1.0


@pytest.mark.parametrize("value", [0.0, -0.0, 0, True, 1, 1.0, 5e-324, 2**70, None])
def test_numbers_that_equal_a_bad_one_stay_themselves(value: Any) -> None:
    read = decode_batch(encode_batch(Batch(np.zeros((1, 1), np.uint32), "float32", (value,)))).n[0]
    assert (type(read), repr(read)) == (type(value), repr(value))


@settings(deadline=None)
@given(st.data(), st.sampled_from(DTYPES), st.booleans(), st.booleans())
def test_observation(data: st.DataObject, dtype: str, guards: bool, returned: bool) -> None:
    arrays = hnp.arrays(width(dtype), (2, 3))
    sent = Observation(
        outcome="returned" if returned else "raised",
        message=data.draw(st.text(max_size=20)),
        bits=data.draw(arrays) if returned else None,
        input_bits=data.draw(arrays),
        guards_intact=guards,
    )
    given_bits = sent.input_bits if data.draw(st.booleans()) else data.draw(arrays)
    batch = Batch(given_bits, dtype, (1.0, 1.0))
    line = encode_observation(sent, batch)
    assert "\n" not in line
    read = decode_observation(line, batch)
    assert (read.outcome, read.message, read.guards_intact) == (
        sent.outcome,
        sent.message,
        sent.guards_intact,
    )
    np.testing.assert_array_equal(read.input_bits, sent.input_bits)
    if sent.bits is None:
        assert read.bits is None
    else:
        assert read.bits is not None
        np.testing.assert_array_equal(read.bits, sent.bits)


BATCH = Batch(np.zeros((1, 2), np.uint32), "float32", (1.0,))
GOOD: dict[str, Any] = json.loads(
    encode_observation(
        Observation("returned", "", np.ones((1, 2), np.uint32), np.ones((1, 2), np.uint32), True),
        BATCH,
    )
)


@pytest.mark.parametrize(
    "answer",
    [
        "nonsense",
        "",
        "[]",
        "null",
        "{}",
        json.dumps(GOOD | {"bits": "AAAA"}),
        json.dumps(GOOD | {"bits": 3}),
        json.dumps(GOOD | {"bits": "!!"}),
        json.dumps(GOOD | {"input_bits": 1}),
        json.dumps(GOOD | {"outcome": "wonderful"}),
        json.dumps(GOOD | {"bits": None}),
        json.dumps({key: GOOD[key] for key in GOOD if key != "guards_intact"}),
    ],
)
def test_nonsense_is_no_observation(answer: str) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        decode_observation(answer, BATCH)


def test_bits_are_little_endian_on_every_machine() -> None:
    line = json.loads(encode_batch(Batch(np.array([[1, 0x7F800001]], np.uint32), "float32", (1,))))
    assert base64.b64decode(line["bits"]) == b"\x01\x00\x00\x00\x01\x00\x80\x7f"
