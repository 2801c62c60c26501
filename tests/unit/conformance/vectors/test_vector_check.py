"""``vectors check`` says what is wrong with a directory, whatever the damage."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from topnsigma_conformance.vectors.command import vectors as command
from topnsigma_conformance.vectors.export import MANIFEST, SCHEMA, schema_bytes

VECTORS = 8
"""In the directory that is damaged."""


def check(directory: Path) -> Result:
    return CliRunner().invoke(command, ["check", str(directory)])


def test_check_passes_on_an_export(exported: Path) -> None:
    result = check(exported)
    assert result.exit_code == 0, result.output
    assert result.output == "all vectors are right\n"


@pytest.fixture
def small(exported: Path, tmp_path: Path) -> Path:
    """A right directory of a few vectors, of another suite's version: quick to check."""
    content = json.loads((exported / "boundary.json").read_bytes())
    content["vectors"] = content["vectors"][:VECTORS]
    content["suite_version"] = "9.9.9"
    (tmp_path / SCHEMA).write_bytes(schema_bytes())
    write(tmp_path, content)
    assert check(tmp_path).exit_code == 0, check(tmp_path).output
    return tmp_path


def write(directory: Path, content: Any, *, version: str = "9.9.9") -> None:
    """Write boundary.json and a manifest that vouches for it."""
    data = json.dumps(content).encode()
    (directory / "boundary.json").write_bytes(data)
    manifest = {
        "$schema": "schema.json#/$defs/manifest",
        "spec_version": content["spec_version"],
        "suite_version": version,
        "files": [
            {"name": name, "vectors": count, "sha256": hashlib.sha256(contents).hexdigest()}
            for name, count, contents in (
                (SCHEMA, 0, schema_bytes()),
                ("boundary.json", len(content["vectors"]), data),
            )
        ],
    }
    (directory / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def flip_letter(vector: dict[str, Any]) -> None:
    row = vector["expected"][1]
    vector["expected"][1] = ("D" if row[0] == "K" else "K") + row[1:]


def change_bit(vector: dict[str, Any]) -> None:
    row = vector["rows"][2]
    vector["rows"][2] = f"{int(row[0], 16) ^ 4:x}{row[1:]}"


DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "letter": (flip_letter, "boundary/0003: expected: row 1, token 0: "),
    "bit": (change_bit, "boundary/0003: expected: row 2"),
    "key": (lambda v: v.update(colour=1), "boundary/0003: Additional properties are not allowed"),
    "no key": (lambda v: v.pop("fill"), "boundary/0003: 'fill' is a required property"),
    "digit": (
        lambda v: v["rows"].__setitem__(0, v["rows"][0][:-1]),
        "boundary/0003: rows/0: ",
    ),
    "words": (lambda v: v.update(size=1), "boundary/0003: a row does not hold 1 tokens"),
    "fewer n": (lambda v: v["n"].pop(), "boundary/0003: 16 rows, but 15 entries of n"),
    "n": (
        lambda v: v["n"].__setitem__(1, {"value": 1.25, "bits": "3ff0000000000000"}),
        'boundary/0003: n[1]: {"value": 1.25, "bits": "3ff0000000000000"} should be {"value": 1.0',
    ),
    "error": (lambda v: v.update(error=True), "boundary/0003: error: True, the reference says Fal"),
    "domain": (lambda v: v.update(domain="extreme"), "boundary/0003: domain: 'extreme', the refer"),
    "dialect": (
        lambda v: v["dialect"].update(fill="lowest"),
        "boundary/0003: fill: 'ff800000', the reference says 'ff7fffff'",
    ),
    "exact": (lambda v: v.update(exact=False), "T, the reference says E"),
    "threshold": (
        lambda v: v["thresholds"][0].update(first_kept="3f800000"),
        "boundary/0003: thresholds: row 0: ",
    ),
    "rule": (lambda v: v.update(rule="TNS-99"), "boundary/0003: unknown rule TNS-99"),
    "fault": (lambda v: v.update(faults=["Odd"]), "boundary/0003: unknown fault Odd"),
    "id": (lambda v: v.update(id="boundary/0004"), "boundary/0004: stands where boundary/0003 sho"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_check_says_which_vector_is_wrong(small: Path, damage: str) -> None:
    content = json.loads((small / "boundary.json").read_bytes())
    spoil, message = DAMAGE[damage]
    spoil(content["vectors"][3])
    write(small, content)
    result = check(small)
    assert result.exit_code == 1
    assert message in result.output
    assert all(line.startswith("boundary.json: ") for line in result.output.splitlines())


def test_check_says_which_file_is_wrong(small: Path) -> None:
    path = small / "boundary.json"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"note", b"nota", 1))
    assert "boundary.json: its SHA-256 is not that of the manifest" in check(small).output
    path.write_bytes(data[:-40])
    assert "boundary.json: is not JSON: " in check(small).output
    path.unlink()
    result = check(small)
    assert (result.exit_code, result.output) == (1, "boundary.json: is missing\n")
    path.write_bytes(data)
    (small / "odd.json").write_text("{}", encoding="utf-8")
    assert check(small).output == "odd.json: is not in the manifest\n"
    (small / "odd.json").unlink()
    (small / SCHEMA).write_bytes(schema_bytes() + b"\n")
    assert "schema.json: is not the schema of this suite" in check(small).output
    (small / MANIFEST).write_text("{}", encoding="utf-8")
    assert "manifest.json: 'files' is a required property" in check(small).output
    (small / MANIFEST).unlink()
    assert check(small).output == "manifest.json: is missing\n"


def test_check_compares_with_the_manifest(small: Path, exported: Path) -> None:
    content = json.loads((small / "boundary.json").read_bytes())
    manifest = json.loads((small / MANIFEST).read_bytes())
    manifest["files"][1]["vectors"] += 1
    (small / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    assert f"holds {VECTORS} vectors, the manifest says {VECTORS + 1}" in check(small).output
    write(small, content | {"subject": "fill"})
    assert "boundary.json: its subject is 'fill', not its name" in check(small).output
    suite_version = json.loads((exported / MANIFEST).read_bytes())["suite_version"]
    write(small, content | {"suite_version": suite_version}, version=suite_version)
    assert "manifest.json: does not list parameter.json" in check(small).output
    write(small, content | {"spec_version": "9.0"})
    assert "manifest.json: spec_version is 9.0, the reference follows" in check(small).output


def test_usage(small: Path, tmp_path: Path) -> None:
    invoke = CliRunner().invoke
    assert check(tmp_path / "nowhere").exit_code == 2
    (small / "mine.txt").touch()
    result = invoke(command, ["export", str(small)])
    assert result.exit_code == 2
    assert "holds other files, such as mine.txt" in " ".join(result.output.split())
