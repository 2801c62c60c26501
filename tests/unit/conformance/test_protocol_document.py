"""PROTOCOL.md and the schema say the same, and what they show is right."""

from __future__ import annotations

import base64
import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from topnsigma_conformance.harness import PROTOCOL_VERSION, Harness, encode_n
from topnsigma_conformance.implementation import DTYPES, Implementation
from topnsigma_conformance.line_process import DEFAULT_TIMEOUT, LineProcess
from topnsigma_reference import DIALECT_CHOICES, parse_n, top_n_sigma

DOCUMENT = (Path(__file__).parents[3] / "conformance" / "PROTOCOL.md").read_text("utf-8")
SCHEMA: dict[str, Any] = json.loads(
    resources.files("topnsigma_conformance").joinpath("protocol.schema.json").read_text("utf-8")
)
IN_SHORT = re.findall(r"^    (suite|harness) +(\{.*\})$", DOCUMENT, re.MULTILINE)


def section(title: str) -> str:
    """The text under a heading."""
    return DOCUMENT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def table(title: str) -> list[list[str]]:
    """The cells of the one table under a heading, without its head."""
    rows = re.findall(r"^\| (.*) \|$", section(title), re.MULTILINE)
    return [re.split(r" ?\| ?", row) for row in rows][1:]


def names(cell: str) -> set[str]:
    """What a cell has in backticks."""
    return set(re.findall("`([^`]+)`", cell))


def valid(message: Any, kind: str) -> bool:
    """Whether a message is of a kind of the schema."""
    schema = {"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]}
    return bool(jsonschema.Draft202012Validator(schema).is_valid(message))


def logits(message: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """float32 [V] of a message of one row."""
    return np.frombuffer(base64.b64decode(message["logits"]), "<f4")


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_dialogue_is_valid_under_the_schema() -> None:
    kinds = ["suite_hello", "harness_hello", "apply", "answer", "apply", "answer"]
    assert [who for who, _ in IN_SHORT] == ["suite", "harness"] * 3
    for kind, (_, line) in zip(kinds, IN_SHORT, strict=True):
        message = json.loads(line)
        assert valid(message, kind), line
        for other in set(kinds) - {kind}:
            assert not valid(message, other), (other, line)
        assert not valid({**message, "extra": 1}, kind)
        for member in message.keys() - {"version"}:
            assert not valid({k: v for k, v in message.items() if k != member}, kind), member


def test_the_answers_of_the_dialogue_are_right() -> None:
    hello, _, *rest = [json.loads(line) for _, line in IN_SHORT]
    assert hello["protocol"] == PROTOCOL_VERSION
    asked, answered = rest[::2], rest[1::2]
    assert [message["type"] for message in answered] == ["result", "rejected"]
    for question, answer in zip(asked, answered, strict=True):
        assert question["id"] == answer["id"]
        row, (n,) = logits(question), question["n"]
        assert row.size == question["tokens"]
        if answer["type"] == "result":
            expected = top_n_sigma(row, n)
            np.testing.assert_array_equal(logits(answer).view("u4"), expected.view("u4"))
        else:
            with pytest.raises(ValueError, match="got 0"):
                parse_n(n)


def test_the_claims_are_those_of_the_schema() -> None:
    claims = SCHEMA["$defs"]["harness_hello"]
    rows = table("Handshake")
    assert {name for row in rows for name in names(row[0])} == set(claims["properties"])
    required = {name for row in rows if row[2] == "required" for name in names(row[0])}
    assert required == set(claims["required"])
    defaults = {row[0].strip("`"): row[2].strip("`") for row in rows if row[2] != "required"}
    assert defaults.pop("dialect") == "RFC"
    for name, default in defaults.items():
        value = json.loads(default)
        assert getattr(Implementation, name) == (tuple(value) if name == "dtypes" else value), name


def test_dialects_and_dtypes_are_those_of_the_package() -> None:
    dialect = SCHEMA["$defs"]["harness_hello"]["properties"]["dialect"]["properties"]
    choices = {field: tuple(values["enum"]) for field, values in dialect.items()}
    assert choices == DIALECT_CHOICES
    assert tuple(SCHEMA["$defs"]["dtype"]["enum"]) == DTYPES


def test_the_question_is_that_of_the_schema() -> None:
    members = {name for row in table("Asking") for name in names(row[0])}
    assert members == set(SCHEMA["$defs"]["apply"]["properties"])


def test_the_answers_are_those_of_the_schema() -> None:
    documented = {
        row[0].strip("`").strip('"'): {"type", *names(row[1])} for row in table("Answering")
    }
    by_schema = {}
    for answer in (SCHEMA["$defs"]["result"], SCHEMA["$defs"]["refusal"]):
        kind = answer["properties"]["type"]
        for name in kind.get("enum", [kind.get("const")]):
            by_schema[name] = set(answer["properties"])
            assert by_schema[name] == set(answer["required"])
    assert set(by_schema) == set(SCHEMA["$defs"]["answer"]["properties"]["type"]["enum"])
    assert documented == by_schema


def test_numbers_that_json_lacks() -> None:
    documented = [json.loads(text) for text in re.findall(r"`(\{\"invalid\".*?\})`", DOCUMENT)]
    assert documented == [encode_n(float(name)) for name in ("nan", "inf", "-inf")]


def test_times() -> None:
    assert f"({DEFAULT_TIMEOUT:g} s;" in section("When it goes wrong")
    assert LineProcess.grace == 5
    assert "after five seconds it is killed" in section("In short")
    assert Harness.remote
