"""Reports of others: a file is one that every writer can write, or refused by file and line."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sample_reports
from click.testing import CliRunner
from rich.console import Console

from topnsigma_conformance.cli import main
from topnsigma_conformance.publish.badge import badge
from topnsigma_conformance.publish.collection import read_reports
from topnsigma_conformance.publish.junit import junit_xml
from topnsigma_conformance.publish.markdown import markdown
from topnsigma_conformance.publish.page import page
from topnsigma_conformance.table import result_text, summary_table

SEED = 20_261_130
FILES = 2_000
SAMPLES = (
    *(sample_reports.failing, sample_reports.waived, sample_reports.hostile),
    *(sample_reports.not_a_number, sample_reports.interrupted, sample_reports.loose),
)

VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 0.5, 1e308, 10**30, 10**400, float("nan"), float("inf"), "nan", "inf"),
    *(
        "",
        "x",
        "\x00\x1b[31m",
        "\n",
        "\ud800",
        "0x00000000",
        "2026-01-01\n",
        [],
        [1, 2],
        {},
        "W" * 99,
    ),
    *(["nan", "inf"], ["-inf", 1], "00000000", "KKK", "TNS-99.odd", [[[]]], "pass", "fail"),
)

Entry = dict[str, Any]


def line(entry: Entry, **changes: Any) -> bytes:
    return json.dumps({**entry, **changes}).encode() + b"\n"


def with_failure(entry: Entry, **changes: Any) -> bytes:
    return line(entry, failure={**entry["failure"], **changes})


def with_text(entry: Entry, member: str, text: bytes) -> bytes:
    """With ``text``, which need not be JSON, as the value of ``member``."""
    return line(entry, **{member: "@"}).replace(b'"@"', text)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda entry: line(entry, seconds=float("nan")),
        lambda entry: line(entry, seconds=float("inf")),
        lambda entry: with_text(entry, "seconds", b"1e400"),
        lambda entry: line(entry, examples=10**400),
        lambda entry: with_text(entry, "examples", b"9" * 5000),
        lambda entry: with_failure(entry, cut=float("nan")),
        lambda entry: with_failure(entry, logit=10**400),
        lambda entry: with_text(entry, "failure", b"[" * 100_000),
        lambda entry: with_text(entry, "failure", b"[" * 985 + b"]" * 985),
        lambda entry: with_text(entry, "detail", b'"\xff"'),
        lambda entry: b"[" * 100_000 + b"\n",
        lambda entry: b"\x1b[31m\n",
    ],
)
def test_what_is_no_line_is_refused_by_file_and_line(
    spoil: Callable[[Entry], bytes], tmp_path: Path
) -> None:
    header, *results, footer = map(json.loads, sample_reports.failing().lines())
    entry = next(each for each in results if each["failure"])
    path = tmp_path / "report.jsonl"
    path.write_bytes(line(header) + spoil(entry) + line(footer))
    with pytest.raises(ValueError, match=r"report\.jsonl, line 2: not a line of a report: "):
        read_reports([path])
    result = CliRunner().invoke(main, ["summary", str(path)])
    assert (result.exit_code, type(result.exception)) == (2, SystemExit)
    path.write_bytes(line(header) + line(entry) + line(footer))
    assert len(read_reports([path])) == 1


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a JSON value, with each of its keys or indices."""
    keys: Iterable[Any] = ()
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        yield from places(value[key])


def changed(rng: random.Random) -> bytes:
    """The lines of a sample, of which something is another way."""
    entries = [json.loads(each) for each in rng.choice(SAMPLES)().lines()]
    for _ in range(rng.randint(1, 3)):
        container, key = rng.choice(list(places(entries)))
        if isinstance(container, dict) and rng.random() < 0.1:
            del container[key]
        else:
            container[key] = rng.choice(VALUES)
    written = bytearray(b"".join(json.dumps(each).encode() + b"\n" for each in entries))
    if rng.random() < 0.3:
        at = rng.randrange(len(written))
        written[at : at + rng.randint(0, 20)] = rng.choice((b"", b"\n", b"\xff", rng.randbytes(4)))
    return bytes(written)


def test_every_report_can_be_written_in_every_way_or_is_refused(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    rng = random.Random(SEED)
    path = tmp_path / "report.jsonl"
    accepted = 0
    for number in range(FILES):
        written = changed(rng)
        path.write_bytes(written)
        reports = []
        # Anything else that is raised fails.
        with contextlib.suppress(ValueError):
            reports = read_reports([path])
        if not reports:
            continue
        accepted += 1
        for write in (junit_xml, markdown, page, badge):
            assert write(reports), (number, written)
        # As a page reads them.
        json.loads(json.dumps([each.to_dict() for each in reports], allow_nan=False))
        console = Console(file=io.StringIO())
        console.print(summary_table(reports))
        for report in reports:
            console.print(*map(result_text, report.results))
    # About a twentieth; samples hold times of day, so that the same bytes are not the same member.
    assert FILES // 100 < accepted < FILES // 2
    record_property("fuzzed reports", f"{FILES}, {accepted} of them reports")
