"""Frozen vectors: their bytes, and the parts that they are made of."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema

from topnsigma_conformance.vectors.export import MANIFEST, schema_bytes
from topnsigma_conformance.vectors.subjects import SUBJECTS
from topnsigma_conformance.vectors.vector import answer, decode_n, encode_n, from_json, to_json
from topnsigma_conformance.vectors.words import from_hex, ordinal, stepped, to_hex, value_of, word

GOLDEN = "5e9623f30ccd834cc11dffad05f63ccd92588745183e6690b2598ed32963e8b3"
"""SHA-256 of the manifest, and with it of every byte, the suite's version included. To change it is
to change frozen vectors: no id may get another meaning, and the changelog has to say so."""


def test_the_bytes_are_frozen(exported: Path) -> None:
    assert hashlib.sha256((exported / MANIFEST).read_bytes()).hexdigest() == GOLDEN


def test_another_process_writes_the_same_bytes(exported: Path, tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("topnsigma-conformance")
    # Sets would be in another order.
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    subprocess.run([script, "vectors", "export", tmp_path], check=True, env=environment)
    names = sorted(path.name for path in exported.iterdir())
    assert names == sorted(path.name for path in tmp_path.iterdir())
    for name in names:
        assert (tmp_path / name).read_bytes() == (exported / name).read_bytes(), name


def test_a_few_thousand_in_a_few_megabytes(
    exported: Path, everything: list[dict[str, Any]]
) -> None:
    assert 3000 < len(everything) < 8000
    assert sum(path.stat().st_size for path in exported.iterdir()) < 4_000_000
    assert len({vector["id"] for vector in everything}) == len(everything)
    assert {vector["dtype"] for vector in everything} == {"float32", "float16", "bfloat16"}
    assert {letter for v in everything for row in v["expected"] for letter in row} == set("KDET")


def test_the_schema_is_one() -> None:
    schema = json.loads(schema_bytes())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]


def test_n_and_words_survive_json() -> None:
    entries: tuple[Any, ...] = (
        None,
        2,
        2.5,
        5e-324,
        0,
        -0.0,
        -3,
        float("inf"),
        True,
        "2.0",
        [2.0],
        {},
    )
    for entry in entries:
        back = decode_n(json.loads(json.dumps(encode_n(entry))))
        assert (type(back), repr(back)) == (type(entry), repr(entry))
    assert encode_n(decode_n({"invalid": "nan", "bits": "fff8000000000123"})) == {
        "invalid": "nan",
        "bits": "fff8000000000123",
    }
    for dtype in ("float32", "float16", "bfloat16"):
        for value in (0.0, -0.0, 1.5, -(2.0**-14), 2.0**-24, float("-inf")):
            pattern = word(value, dtype)
            assert from_hex(to_hex([pattern], dtype), dtype) == (pattern,)
            assert repr(value_of(pattern, dtype)) == repr(value)
            if pattern != word(-0.0, dtype):
                assert stepped(pattern, 0, dtype) == pattern
        assert ordinal(word(-0.0, dtype), dtype) == 0
        assert value_of(stepped(word(0.0, dtype), -1, dtype), dtype) < 0


def test_a_vector_survives_json(everything: list[dict[str, Any]]) -> None:
    for entry in everything[::50]:
        vector = from_json(entry)
        assert to_json(vector, answer(vector), entry["id"]) == entry


def test_every_subject_is_described() -> None:
    assert all(subject.description.endswith(".") for subject in SUBJECTS)
