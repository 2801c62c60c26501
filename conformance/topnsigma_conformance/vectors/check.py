"""Holding a directory of vectors to the schema, to its manifest and to the reference."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema

from topnsigma_conformance.faults import FAULTS
from topnsigma_conformance.vectors.export import MANIFEST, SCHEMA, schema_bytes
from topnsigma_conformance.vectors.subjects import SUBJECTS
from topnsigma_conformance.vectors.vector import answer, encode_n, from_json, to_json
from topnsigma_conformance.version import SUITE_VERSION
from topnsigma_reference import RULES, SPEC_VERSION


def problems(directory: Path) -> Iterator[str]:
    """What is wrong with the vectors in ``directory``: file, vector and what, a line each.

    Nothing is yielded exactly when the manifest is right and complete, every file satisfies the
    schema and every answer is the reference's.
    """
    manifest, wrong = _parsed(directory / MANIFEST)
    if not wrong:
        wrong = _schema_problems(manifest, "#/$defs/manifest")
    if wrong:
        yield from (f"{MANIFEST}: {problem}" for problem in wrong)
        return
    if manifest["spec_version"] != SPEC_VERSION:
        yield (
            f"{MANIFEST}: spec_version is {manifest['spec_version']},"
            f" the reference follows {SPEC_VERSION}"
        )
    yield from _names(directory, manifest)
    for entry in manifest["files"]:
        path = directory / entry["name"]
        if path.exists():
            yield from (f"{entry['name']}: {problem}" for problem in _file(path, entry, manifest))


def _names(directory: Path, manifest: dict[str, Any]) -> Iterator[str]:
    listed = [entry["name"] for entry in manifest["files"]]
    for name in listed:
        if not (directory / name).exists():
            yield f"{name}: is missing"
        if listed.count(name) > 1:
            yield f"{MANIFEST}: lists {name} more than once"
    for path in sorted(directory.glob("*.json")):
        if path.name not in (*listed, MANIFEST):
            yield f"{path.name}: is not in the manifest"
    expected = [SCHEMA]
    if manifest["suite_version"] == SUITE_VERSION:
        expected += [f"{subject.name}.json" for subject in SUBJECTS]
    for name in expected:
        if name not in listed:
            yield f"{MANIFEST}: does not list {name}"


def _file(path: Path, entry: dict[str, Any], manifest: dict[str, Any]) -> Iterator[str]:
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        yield "its SHA-256 is not that of the manifest"
    if path.name == SCHEMA:
        if data != schema_bytes():
            yield "is not the schema of this suite"
        return
    content, wrong = _parsed(path)
    wrong = wrong or _schema_problems(content)
    if wrong:
        yield from wrong
        return
    for field in ("spec_version", "suite_version"):
        if content[field] != manifest[field]:
            yield f"{field} is {content[field]}, in the manifest {manifest[field]}"
    vectors = content["vectors"]
    if len(vectors) != entry["vectors"]:
        yield f"holds {len(vectors)} vectors, the manifest says {entry['vectors']}"
    if content["subject"] != path.stem:
        yield f"its subject is {content['subject']!r}, not its name"
    for number, vector in enumerate(vectors):
        wanted = f"{path.stem}/{number:04}"
        if vector["id"] != wanted:
            yield f"{vector['id']}: stands where {wanted} should"
        yield from (f"{vector['id']}: {problem}" for problem in _vector(vector))


def _parsed(path: Path) -> tuple[Any, list[str]]:
    try:
        return json.loads(path.read_bytes()), []
    except FileNotFoundError:
        return None, ["is missing"]
    except (ValueError, RecursionError) as error:
        return None, [f"is not JSON: {error}"]


def _schema_problems(content: Any, definition: str = "") -> list[str]:
    schema = json.loads(schema_bytes())
    if definition:
        schema = {"$schema": schema["$schema"], "$ref": definition, "$defs": schema["$defs"]}
    errors = jsonschema.Draft202012Validator(schema).iter_errors(content)
    return [_schema_problem(content, error) for error in errors]


def _schema_problem(content: Any, error: jsonschema.ValidationError) -> str:
    path = list(error.absolute_path)
    where = "/".join(str(part) for part in path)
    if len(path) > 1 and path[0] == "vectors":
        vector = content["vectors"][path[1]]
        identifier = vector.get("id") if isinstance(vector, dict) else None
        where = ": ".join(
            part for part in (str(identifier or where), "/".join(map(str, path[2:]))) if part
        )
    message = error.message if len(error.message) < 300 else f"{error.message[:300]}…"
    return f"{where}: {message}" if where else message


def _vector(given: dict[str, Any]) -> Iterator[str]:
    if given["rule"] not in RULES:
        yield f"unknown rule {given['rule']}"
    for fault in given["faults"]:
        if fault not in FAULTS:
            yield f"unknown fault {fault}"
    if len(given["n"]) != len(given["rows"]):
        yield f"{len(given['rows'])} rows, but {len(given['n'])} entries of n"
        return
    vector = from_json(given)
    if any(len(row) != given["size"] for row in vector.rows):
        yield f"a row does not hold {given['size']} tokens"
        return
    for index, (entry, meant) in enumerate(zip(given["n"], vector.n, strict=True)):
        if json.dumps(entry) != json.dumps(encode_n(meant)):
            yield f"n[{index}]: {json.dumps(entry)} should be {json.dumps(encode_n(meant))}"
    try:
        right = to_json(vector, answer(vector), given["id"])
    except ValueError as error:
        yield str(error)
        return
    for field in ("error", "fill", "domain"):
        if given[field] != right[field]:
            yield f"{field}: {given[field]!r}, the reference says {right[field]!r}"
    yield from _differences("expected", given, right)
    yield from _differences("thresholds", given, right)


def _differences(field: str, given: dict[str, Any], right: dict[str, Any]) -> Iterator[str]:
    if len(given[field]) != len(right[field]):
        yield f"{field}: {len(given[field])} entries, the reference has {len(right[field])}"
        return
    for row, (mine, theirs) in enumerate(zip(given[field], right[field], strict=True)):
        if mine == theirs:
            continue
        if not isinstance(mine, str):
            yield f"{field}: row {row}: {json.dumps(mine)}, the reference says {json.dumps(theirs)}"
        elif len(mine) != len(theirs):
            yield f"{field}: row {row}: {len(mine)} letters for {len(theirs)} tokens"
        else:
            token = next(i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b)
            yield (
                f"{field}: row {row}, token {token}: {mine[token]},"
                f" the reference says {theirs[token]}"
            )
