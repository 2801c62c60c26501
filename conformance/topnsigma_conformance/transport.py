"""Batches and observations as JSON, for an implementation in a process of its own.

One JSON object a line; arrays are base64 of their little-endian bytes. Nothing is evaluated or
unpickled on either side.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import Any, get_args

import numpy as np

from topnsigma_conformance.batch import Batch, Layout
from topnsigma_conformance.case import BAD_N
from topnsigma_conformance.formats import Bits, width
from topnsigma_conformance.observation import Observation, Outcome


def encode_batch(batch: Batch) -> str:
    """A batch as one line."""
    return json.dumps(
        {
            "bits": encode_bits(batch.bits),
            "shape": list(batch.shape),
            "dtype": batch.dtype,
            "n": [_encode_n(entry) for entry in batch.n],
            "layout": dataclasses.asdict(batch.layout),
        }
    )


def decode_batch(line: str) -> Batch:
    """The batch in a line of :func:`encode_batch`.

    Raises:
        ValueError, KeyError, TypeError: it is not one.
    """
    data = json.loads(line)
    return Batch(
        bits=_decode_bits(data["bits"], data["shape"], data["dtype"]),
        dtype=data["dtype"],
        n=tuple(_decode_n(entry) for entry in data["n"]),
        layout=Layout(**data["layout"]),
    )


def encode_observation(observation: Observation, batch: Batch) -> str:
    """An observation of ``batch`` as one line."""
    fields = {
        field.name: getattr(observation, field.name) for field in dataclasses.fields(Observation)
    }
    fields["bits"] = None if observation.bits is None else encode_bits(observation.bits)
    # Most calls leave their input alone: then it need not travel back.
    unchanged = np.array_equal(observation.input_bits, batch.bits)
    fields["input_bits"] = None if unchanged else encode_bits(observation.input_bits)
    return json.dumps(fields)


def decode_observation(line: str, batch: Batch) -> Observation:
    """The observation of ``batch`` in a line of :func:`encode_observation`.

    Raises:
        ValueError, KeyError, TypeError: it is not one.
    """
    data = json.loads(line)
    bits, input_bits = data["bits"], data["input_bits"]
    outcome = data["outcome"]
    if outcome not in get_args(Outcome) or (bits is not None) != (outcome == "returned"):
        raise ValueError(f"not an outcome, or one without its bits: {outcome!r}")
    return Observation(
        outcome=outcome,
        message=str(data["message"]),
        bits=None if bits is None else _decode_bits(bits, batch.shape, batch.dtype),
        input_bits=(
            batch.bits if input_bits is None else _decode_bits(input_bits, batch.shape, batch.dtype)
        ),
        guards_intact=bool(data["guards_intact"]),
    )


def encode_bits(bits: Bits) -> str:
    """``bits`` [B, V], row after row, each little-endian, in base64."""
    little_endian = bits.astype(bits.dtype.newbyteorder("<"), copy=False)
    return base64.b64encode(little_endian.tobytes()).decode("ascii")


def _decode_bits(text: str, shape: Any, dtype: str) -> Bits:
    little_endian = width(dtype).newbyteorder("<")
    flat = np.frombuffer(base64.b64decode(text), dtype=little_endian)
    return flat.reshape(shape).astype(width(dtype))


def _encode_n(entry: Any) -> Any:
    # Values that JSON cannot carry travel by the name that both sides know them by.
    for name, value in BAD_N.items():
        if value is entry:
            return {"bad": name}
    return entry


def _decode_n(entry: Any) -> Any:
    return BAD_N[entry["bad"]] if isinstance(entry, dict) else entry
