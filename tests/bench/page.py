"""The figures of a run as one page, `bench.html`, and as pictures beside it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.benchmark_ids import OURS
from bench.benchmark_run import Run
from bench.gate import Held
from bench.plots import bandwidth, latency, measured_sizes, medians, svg
from bench.table import duration, shown, verdict
from jinja2 import Environment, FileSystemLoader

_PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True
)


def write_page(folder: Path, device: str, measured: Run, held: Sequence[Held]) -> None:
    """Write `bench-DEVICE.html`, and two PNG files if there is something to draw."""
    found = medians(measured.seconds)
    draws = {"latency": latency, "bandwidth": bandwidth} if measured_sizes(found) else {}
    pictures = {name: draw(found) for name, draw in draws.items()}
    for name, figure in pictures.items():
        figure.savefig(folder / f"{name}-{device}.png", dpi=160)
    text = _PAGES.get_template("page.html").render(
        machine=measured.machine,
        commit=measured.document.get("commit_info", {}),
        date=measured.document.get("datetime", ""),
        pictures=[svg(figure) for figure in pictures.values()],
        rows=[_row(each, measured) for each in held],
    )
    (folder / f"bench-{device}.html").write_text(text, encoding="utf-8")


def _row(each: Held, measured: Run) -> dict[str, Any]:
    found = each.again or each.found
    return {
        "case": str(each.limit.case),
        "median": duration(statistics.median(measured.seconds[each.limit.case][OURS])),
        "against": each.limit.against,
        "found": shown(each, found.value),
        "interval": f"{shown(each, found.lower)}–{shown(each, found.upper)}",
        "limit": shown(each, each.at_most),
        "verdict": verdict(each),
        "passed": each.passed,
        "reason": each.limit.reason,
    }
