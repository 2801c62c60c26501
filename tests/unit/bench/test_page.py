"""What is shown of a run: every case, its limit, and what is too slow."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from bench.benchmark_run import Run
from bench.cases import DEFAULT, Case
from bench.gate import Counted, Held, Together
from bench.limits import Limit
from bench.page import write_page
from bench.ratios import Ratio
from bench.table import counters_line, summary, times_table, together_line
from rich.console import Console

SLOW, FAST = Case(8, 151_936), Case(64, 151_936)


@pytest.fixture
def run() -> Run:
    seconds = {
        case: {"copy": [1e-3] * 3, "top_n_sigma_": [2e-3] * 3, "textbook": [9e-3] * 3}
        for case in DEFAULT
    }
    machine = {"device_name": "<b>machine</b>", "torch": "2.13.0", "triton": "", "threads": 1}
    return Run(seconds, {"machine_info": machine, "commit_info": {"id": "abc", "dirty": True}})


@pytest.fixture
def held() -> list[Held]:
    def at(case: Case, against: str, most: float, found: Ratio, again: Ratio | None) -> Held:
        return Held(Limit("cpu", case, against, most, {}, "a <reason>"), most, found, again)

    slow, ok = Ratio(3.0, 2.9, 3.1), Ratio(2.0, 1.9, 2.1)
    return [
        at(SLOW, "copy", 2.5, slow, slow),
        at(SLOW, "textbook", 2.5, ok, ok),
        at(FAST, "copy", 2.5, slow, ok),
        at(FAST, "seconds", 2.5e-3, Ratio(2e-3, 2e-3, 2e-3), None),
    ]


def test_the_page_has_every_limit_and_loads_nothing(
    tmp_path: Path, run: Run, held: list[Held]
) -> None:
    write_page(tmp_path, "cpu", run, held)
    text = (tmp_path / "bench-cpu.html").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("<tr") and "<td>" in line]
    assert len(rows) == len(held)
    assert 'class="slow"' in rows[0]
    assert not any('class="slow"' in row for row in rows[1:])
    assert "3<td>2.9–3.1<td>2.5<td>too slow<td>a &lt;reason&gt;" in rows[0]
    assert "&lt;b&gt;machine" in text
    assert "<b>machine" not in text
    assert text.count("<svg") == 2
    assert "<script" not in text
    assert "src=" not in text
    for name in ("latency-cpu.png", "bandwidth-cpu.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_without_a_case_that_is_drawn_there_is_a_page(tmp_path: Path, run: Run) -> None:
    disabled = Case(8, 151_936, rows="disabled")
    assert disabled in run.seconds
    some = Run({disabled: run.seconds[disabled]}, run.document)
    write_page(tmp_path, "cpu", some, [])
    assert [path.name for path in tmp_path.iterdir()] == ["bench-cpu.html"]


def test_the_table_has_a_line_a_case(run: Run, held: list[Held]) -> None:
    printed = io.StringIO()
    measured = {case: run.seconds[case] for case in (SLOW, FAST)}
    Console(file=printed, width=160).print(times_table(held, measured, "title"))
    lines = printed.getvalue().splitlines()
    (slow,) = (line for line in lines if str(SLOW) in line)
    (fast,) = (line for line in lines if str(FAST) in line)
    assert "2 ms" in slow
    assert "3 (2.5)" in slow
    assert "too slow" in slow
    assert "2 ms (2.5 ms)" in fast
    assert "ok, measured again" in fast


def test_the_summary_names_what_failed_and_why(held: list[Held]) -> None:
    counted = [Counted("launches", 2, 3), Counted("bytes", 0, 0), Counted("spills", 0, None)]
    assert list(summary(held, counted)) == [
        f"too slow: {SLOW} takes 3 beside copy, limit 2.5 (a <reason>)",
        "launches: 3, has to be 2",
        "spills: None, has to be 0",
    ]
    assert counters_line(counted) == "counters: 1 of 3 as recorded"


def test_what_all_cases_take_together() -> None:
    assert together_line(Together(1.1, 1.2, 0.9)) == (
        "all cases together take 0.9 times as long as recorded here, at least; limit 1.1"
    )
    assert together_line(Together(1.1, 1.2, 1.19)).startswith("too slow: all cases together take")
