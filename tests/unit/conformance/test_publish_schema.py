"""The schema of the lines of a report: real ones fit it, and what it does not name is refused."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
import sample_reports

from topnsigma_conformance import Report
from topnsigma_conformance.report import STATUSES

SCHEMA = json.loads(
    (importlib.resources.files("topnsigma_conformance") / "report.schema.json").read_text("utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)


def objects(value: Any) -> list[dict[str, Any]]:
    """Every object in a JSON value, from the outside in."""
    if isinstance(value, list):
        return [found for each in value for found in objects(each)]
    if isinstance(value, dict):
        return [value, *(found for each in value.values() for found in objects(each))]
    return []


def lines(report: Report) -> list[Any]:
    # As strict readers of JSON do: NaN and Infinity are none of it.
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return [json.loads(line, parse_constant=refuse) for line in report.lines()]


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_samples_have_every_status() -> None:
    seen = {result.status for sample in sample_reports.ALL for result in sample().results}
    assert seen == set(STATUSES)


@pytest.mark.parametrize("sample", sample_reports.ALL)
def test_every_line_of_a_real_report_fits(sample: Callable[[], Report]) -> None:
    for line in lines(sample()):
        VALIDATOR.validate(line)


@pytest.mark.parametrize(
    "sample", [sample_reports.failing, sample_reports.waived, sample_reports.interrupted]
)
def test_an_unknown_member_fails_wherever_it_stands(sample: Callable[[], Report]) -> None:
    for line in lines(sample()):
        for found in objects(line):
            found["extra"] = 1
            assert not VALIDATOR.is_valid(line), line
            del found["extra"]
        VALIDATOR.validate(line)


def test_every_member_is_required() -> None:
    for line in lines(sample_reports.waived()):
        for found in objects(line):
            for name, value in list(found.items()):
                del found[name]
                assert not VALIDATOR.is_valid(line), name
                found[name] = value


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        (0, "seed", "0"),
        (0, "started", "yesterday"),
        (1, "status", "odd"),
        (1, "seconds", -1),
        (2, "complete", 1),
    ],
)
def test_values_of_another_kind_fail(place: int, name: str, value: object) -> None:
    header, result, *_, footer = lines(sample_reports.failing())
    line = (header, result, footer)[place]
    assert name in line
    line[name] = value
    assert not VALIDATOR.is_valid(line)
