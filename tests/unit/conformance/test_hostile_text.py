"""What an implementation says stays text: on a terminal, on a page, in Markdown, XML and JSON."""

from __future__ import annotations

import dataclasses
import functools
import html.parser
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import markdown_it
import pytest
import sample_reports
from click.testing import CliRunner
from gallery.textbook import Textbook
from rich.console import Console

from topnsigma_conformance import KnownFailure, Report, check_implementation
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.cli import main
from topnsigma_conformance.printable import printable, printable_lines
from topnsigma_conformance.publish.junit import junit_xml
from topnsigma_conformance.publish.markdown import markdown
from topnsigma_conformance.publish.page import page
from topnsigma_conformance.report import ConformanceError
from topnsigma_conformance.report_file import ReportFile
from topnsigma_conformance.suite import test_conformance as suite_test
from topnsigma_conformance.table import result_text, summary_table

CHECK = "TNS-5.cut"

PIECES = {
    "colour": "\x1b[31m",
    "clipboard": "\x1b]52;c;cm0gLXJmIH4=\x07",
    "link": "\x1b]8;;https://pwned.invalid\x1b\\there\x1b]8;;\x1b\\",
    "title": "\x1b]0;pwned\x07",
    "8-bit": "\x9b2J\x9d0;pwned\x9c",
    "return": "pass\rfail\x08\x7f\x0b\x0c",
    "bidi": "\u202egro\u2066.dewnp\u2069\u202c\u200f\u061c",
    "unseen": "\u200b\ufeff\u2060\u2028\u2029\x85\x00",
    "surrogate": "\ud800",
    "markup": "[red]pwned[/red] [link=https://pwned.invalid]here[/link] [/] [/dim] [@click=x]",
    "emoji": ":skull: :warning:",
    "backslash": "[bold]\\",
    "html": "</script><script>pwned()</script><img src=x onerror=pwned()>&lt;b&gt;<!--",
    "template": "{{data}} {{script}} ${pwned} {0} {task.total} %s",
    "markdown": "| a | `b` ~~~ ``` **c** [d](https://pwned.invalid) ![e](//pwned.invalid) _f_",
    "lines": "one\n           pass TNS-5.cut  1 cases\n  reproduce: pwned\n# pwned\n```\n<b>\n",
    "xml": "]]> <pwned/> &pwned; \ufffe",
    "json": '"}\n{"kind": "footer"}\n',
    "long": "W" * 500,
}

EVERYTHING = " ".join(PIECES.values())

each_piece = pytest.mark.parametrize("text", [*PIECES.values(), EVERYTHING], ids=[*PIECES, "all"])


def report_of(text: str, *, waived: bool = False) -> Report:
    """On an implementation that has nothing else to say than ``text``, by every way it has."""

    class Hostile(Textbook):
        def truncate(self, row: Any, n: float) -> None:
            raise RuntimeError(text)

    Hostile.name = Hostile.version = text
    if waived:
        Hostile.known_failures = {CHECK: KnownFailure(text, text, "2999-01-01")}
    report = check_implementation(Hostile(), checks=[CHECK], target=text)
    header = dataclasses.replace(report.header, expected=1, device=text, platform=text)
    return dataclasses.replace(report, header=header)


@functools.cache
def reports_of(text: str) -> list[Report]:
    return [report_of(text), report_of(text, waived=True)]


def seen(rendered: str) -> str:
    """``rendered``, after it was checked that it holds text and line feeds, and nothing else."""
    assert {each for each in rendered if not each.isprintable()} <= {"\n"}
    return rendered


def on_a_terminal(*printed: Any) -> str:
    """What is written to a terminal of many columns, without the colours that are our own."""
    # No cursor is moved, and nothing but the style of letters is set.
    console = Console(file=io.StringIO(), force_terminal=True, soft_wrap=True, width=4000)
    console.print(*printed)
    assert isinstance(console.file, io.StringIO)
    return re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue())


@each_piece
def test_tables_and_lines_on_a_terminal(text: str) -> None:
    for report in reports_of(text):
        (result,) = report.results
        assert printable(text) in seen(on_a_terminal(summary_table([report])))
        lines = seen(on_a_terminal(result_text(result))).splitlines()
        assert len([line for line in lines if line.startswith("  reproduce: ")]) == 1
        assert printable(text.split("\n")[0]) in "\n".join(lines)


def test_colours_are_our_own() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, soft_wrap=True, width=4000)
    (result,) = report_of(EVERYTHING).results
    console.print(result_text(result))
    assert isinstance(console.file, io.StringIO)
    styles = re.findall(r"\x1b\[[0-9;]*m", console.file.getvalue())
    # The status and the failure; a line feed starts a style anew.
    assert set(styles) == {"\x1b[1;31m", "\x1b[31m", "\x1b[0m"}


HARNESS = """
import json, os, sys
text = json.loads(sys.argv[1])
claims = {"type": "hello", "protocol": 1, "name": text, "version": text, "parameter": text}
# Of standard error, the last line is quoted.
last = text.replace("\\n", " ").encode("utf-8", "surrogatepass")
if sys.argv[2] == "start":
    sys.stderr.buffer.write(last); sys.exit(3)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps(claims), flush=True)
    elif sys.argv[2] == "dies":
        sys.stderr.buffer.write(last); sys.stderr.flush()
        os._exit(3)
    elif sys.argv[2] == "nonsense":
        sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass") + b"\\n"); sys.stdout.flush()
    else:
        print(json.dumps({"type": sys.argv[2], "id": message["id"], "message": text}), flush=True)
"""


@pytest.fixture
def harness(tmp_path: Path) -> Callable[[str], tuple[str, ...]]:
    script = tmp_path / "harness.py"
    script.write_text(HARNESS, "utf-8")

    def options(does: str) -> tuple[str, ...]:
        words = [sys.executable, str(script), f"'{json.dumps(EVERYTHING)}'", does]
        return ("--exec", " ".join(words), "--check", CHECK)

    return options


@pytest.mark.parametrize("does", ["rejected", "error", "dies", "nonsense"])
def test_a_run_on_a_harness(
    harness: Callable[[str], tuple[str, ...]], does: str, tmp_path: Path
) -> None:
    lines = tmp_path / "report.jsonl"
    result = CliRunner().invoke(main, ["run", *harness(does), "--report", str(lines)])
    assert result.exit_code == 1, result.output
    assert printable(EVERYTHING)[:20] in seen(result.output)
    for kind, line in zip(
        ("header", "result", "footer"), lines.read_bytes().splitlines(), strict=True
    ):
        assert json.loads(line)["kind"] == kind
    summary = CliRunner().invoke(main, ["summary", str(lines)])
    assert summary.exit_code == 1
    assert "pwned" in seen(summary.output)


def test_a_harness_that_does_not_start(harness: Callable[[str], tuple[str, ...]]) -> None:
    result = CliRunner().invoke(main, ["run", *harness("start")])
    assert result.exit_code == 2
    assert f"died with exit status 3: {printable(EVERYTHING)[:20]}" in seen(result.output)


def test_names_of_files(tmp_path: Path) -> None:
    for number, text in enumerate(PIECES.values()):
        name = text.replace("/", "").replace("\x00", "").replace("\ud800", "")[:80]
        path = tmp_path / f"{number}{name}"
        path.write_text("no report", "utf-8")
        result = CliRunner().invoke(main, ["summary", str(path)])
        assert result.exit_code == 2
        assert "not a line of a report" in seen(result.output)


@each_piece
def test_under_pytest_and_in_exceptions(text: str) -> None:
    failing, waived = reports_of(text)

    class Session:
        def __init__(self, report: Report) -> None:
            self.report = report

        def run(self, check: Any) -> Any:
            return self.report.results[0]

    with pytest.raises(AssertionError) as failure:
        suite_test(CHECKS[CHECK], Session(failing))  # type: ignore[arg-type]
    seen(str(failure.value))
    with pytest.raises(pytest.skip.Exception) as skipped:
        suite_test(CHECKS[CHECK], Session(waived))  # type: ignore[arg-type]
    assert "waived: " in seen(str(skipped.value))
    with pytest.raises(ConformanceError) as error:
        failing.raise_for_failures()
    assert printable(text) in seen(str(error.value))


class Tags(html.parser.HTMLParser):
    """Elements of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))


@each_piece
def test_the_page_has_the_elements_that_it_always_has(text: str) -> None:
    made = page(reports_of(text))
    assert Tags(made).found == Tags(page([sample_reports.passing()])).found
    assert made.isascii() or {each for each in made if ord(each) > 127} <= {
        each for each in page([sample_reports.passing()]) if ord(each) > 127
    }


def test_the_script_of_the_page_makes_text_of_text_and_nothing_else() -> None:
    text = page([sample_reports.passing()])
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    for name in (
        *("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "srcdoc", "DOMParser"),
        *("createContextualFragment", "eval(", "Function(", "javascript:", "import("),
    ):
        assert name not in script
    # No attribute that a report names: of handlers of events, for one.
    names = re.findall(r"setAttribute\(([^,]+),", script)
    assert set(names) == {"name", '"aria-label"'}


def rendered(text: str) -> str:
    made: str = (
        markdown_it.MarkdownIt("commonmark").enable("table").render(markdown(reports_of(text)))
    )
    return made


@each_piece
def test_markdown_renders_as_text(text: str) -> None:
    assert Tags(seen(rendered(text))).found == Tags(rendered("benign")).found


@each_piece
def test_xml_has_the_elements_that_it_always_has(text: str) -> None:
    made, benign = (
        ElementTree.fromstring(junit_xml(reports_of(each)).encode("utf-8"))
        for each in (text, "benign")
    )
    assert [each.tag for each in made.iter()] == [each.tag for each in benign.iter()]
    assert [[*each.attrib] for each in made.iter()] == [[*each.attrib] for each in benign.iter()]


@each_piece
def test_a_line_of_a_report_is_one_line(text: str, tmp_path: Path) -> None:
    report = report_of(text, waived=True)
    file = ReportFile(tmp_path / "lines", report.header)
    for result in report.results:
        file.add(result)
    file.finish(report)
    lines = (tmp_path / "lines").read_bytes().split(b"\n")
    assert [json.loads(line)["kind"] for line in lines[:-1]] == ["header", "result", "footer"]
    assert lines[-1] == b""


def test_a_long_message_is_cut() -> None:
    (result,) = report_of("W" * 100_000).results
    assert result.failure is not None
    assert len(result.failure.message) < 5000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("top-nσ 2.3 ≤ 🧠 é", "top-nσ 2.3 ≤ 🧠 é"),
        ("a\x1b[31m\r\n", "a\\x1b[31m\\r\\n"),
        ("\u202e\ud800\x9b\t", "\\u202e\\ud800\\x9b\\t"),
        ("[red]\\", "[red]\\"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable_lines(f"{text}\n{text}").count("\n") == 1 + 2 * text.count("\n")
