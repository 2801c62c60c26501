"""Writing the vectors: the same bytes every time and everywhere."""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

from topnsigma_conformance.vectors.subjects import SUBJECTS, Subject
from topnsigma_conformance.vectors.vector import to_json
from topnsigma_conformance.version import SUITE_VERSION
from topnsigma_reference import SPEC_VERSION

MANIFEST, SCHEMA = "manifest.json", "schema.json"


def schema_bytes() -> bytes:
    """The JSON Schema of the files of vectors, as it is shipped."""
    return resources.files(__package__).joinpath(SCHEMA).read_bytes()


def export(directory: Path) -> int:
    """Write the schema, a file for each subject and the manifest; return the number of vectors.

    Files of these names are replaced; others are left alone.
    """
    directory.mkdir(parents=True, exist_ok=True)
    counts = {SCHEMA: 0}
    contents = {SCHEMA: schema_bytes()}
    for subject in SUBJECTS:
        name = f"{subject.name}.json"
        counts[name], contents[name] = _file(subject)
    contents[MANIFEST] = _lines(
        {"$schema": f"{SCHEMA}#/$defs/manifest", **_versions()},
        "files",
        [
            {"name": name, "vectors": counts[name], "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in contents.items()
        ],
    )
    for name, data in contents.items():
        (directory / name).write_bytes(data)
    return sum(counts.values())


def exported_names() -> frozenset[str]:
    """Names of all files that :func:`export` writes."""
    return frozenset({MANIFEST, SCHEMA, *(f"{subject.name}.json" for subject in SUBJECTS)})


def _versions() -> dict[str, str]:
    return {"spec_version": SPEC_VERSION, "suite_version": SUITE_VERSION}


def _file(subject: Subject) -> tuple[int, bytes]:
    vectors = [
        to_json(vector, found, f"{subject.name}/{number:04}")
        for number, (vector, found) in enumerate(subject.claimed_vectors())
    ]
    head = {
        "$schema": SCHEMA,
        **_versions(),
        "subject": subject.name,
        "description": subject.description,
    }
    return len(vectors), _lines(head, "vectors", vectors)


def _lines(head: dict[str, str], key: str, entries: list[dict[str, Any]]) -> bytes:
    """A JSON object with one of ``entries`` a line, so that a change shows as a line."""
    first = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items())
    rest = ",\n".join(
        json.dumps(entry, separators=(",", ":"), allow_nan=False) for entry in entries
    )
    return f"{{\n{first},\n{json.dumps(key)}: [\n{rest}\n]\n}}\n".encode("ascii")
