"""Reports read back from JSON Lines, and which of them may be looked at together."""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema

from topnsigma_conformance.report import Report
from topnsigma_conformance.version import SUITE_VERSION


def read_reports(paths: Iterable[Path]) -> list[Report]:
    """All reports in JSON Lines files, in order. One without a footer is an interrupted one.

    Raises:
        ValueError: a file holds no report, or a line that does not belong to one; the message names
            file and line.
        OSError: a file cannot be read.
    """
    return [report for path in paths for report in _read(path)]


def check_comparable(reports: Sequence[Report]) -> None:
    """Refuse reports of different suites or specifications: their checks are not the same.

    Raises:
        ValueError: two of them differ; the message names both.
    """
    for report in reports[1:]:
        for field, what in (("suite_version", "suite"), ("spec_version", "spec")):
            one, other = getattr(reports[0].header, field), getattr(report.header, field)
            if one != other:
                raise ValueError(
                    f"reports of different {what} versions: {reports[0].header.implementation}"
                    f" has {one}, {report.header.implementation} has {other}"
                )


def _read(path: Path) -> Iterator[Report]:
    data: dict[str, Any] = {}
    # Only "\n" ends a line: in a JSON string all other line breaks may stand as they are.
    lines = path.read_bytes().split(b"\n")
    if not any(lines):
        raise ValueError(f"{path}: there is no report in it")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        # The last line has no end where writing it was interrupted.
        if data and number == len(lines) and not _is_json(line):
            break
        entry = _entry(line, f"{path}, line {number}")
        kind = entry.pop("kind")
        if kind == "header":
            if data:
                yield Report.from_dict(data)
            data = {"header": entry, "results": []}
        elif not data:
            raise ValueError(f"{path}, line {number}: a {kind} without a header")
        elif kind == "result":
            data["results"].append(entry)
        else:
            yield Report.from_dict({**data, "footer": entry})
            data = {}
    if data:
        yield Report.from_dict(data)


def _entry(line: bytes, where: str) -> dict[str, Any]:
    try:
        entry = _json(line)
        wrong = jsonschema.exceptions.best_match(_validator(entry).iter_errors(entry))
    except (ValueError, RecursionError):
        raise ValueError(f"{where}: not a line of a report: no JSON") from None
    if wrong is None:
        return dict(entry)
    version = (
        entry.get("suite_version", SUITE_VERSION) if isinstance(entry, dict) else SUITE_VERSION
    )
    if version != SUITE_VERSION:
        raise ValueError(f"{where}: a report of suite {version}, which {SUITE_VERSION} cannot read")
    raise ValueError(f"{where}: not a line of a report: {wrong.json_path}: {wrong.message[:200]}")


def _is_json(line: bytes) -> bool:
    try:
        _json(line)
    except (ValueError, RecursionError):
        return False
    return True


def _json(line: bytes) -> Any:
    """The value of a line, without what no JSON of ours can carry on: NaN and infinities.

    Raises:
        ValueError: it is not JSON, or holds a number that is not finite as binary64.
        RecursionError: it is too deep.
    """
    return json.loads(line, parse_float=_finite, parse_int=_whole, parse_constant=_finite)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not finite")
    return value


def _whole(text: str) -> int:
    _finite(text)
    return int(text)


@functools.cache
def _schema() -> dict[str, Any]:
    source = importlib.resources.files("topnsigma_conformance") / "report.schema.json"
    schema: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    return schema


def _validator(entry: Any) -> jsonschema.Draft202012Validator:
    """For one kind of line, so that a message speaks of what is wrong with it."""
    kind = entry.get("kind") if isinstance(entry, dict) else None
    schema = _schema()
    if isinstance(kind, str) and kind in ("header", "result", "footer"):
        schema = {"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}
    return jsonschema.Draft202012Validator(schema)
