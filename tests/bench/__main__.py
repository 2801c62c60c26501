"""Measure the processor, hold it to its limits, and show the figures.

    PYTHONPATH=tests python -m bench                     what `tox -e bench` does
    PYTHONPATH=tests python -m bench --grid full         every batch size, also those that take long
    PYTHONPATH=tests python -m bench --require-gpu       fail where there is no GPU
    PYTHONPATH=tests python -m bench --against REV       this working tree beside another revision

Exit status: 0 as it has to be, 1 not, 2 usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from bench import counters
from bench.against import compare
from bench.benchmark_ids import cases_of
from bench.benchmark_run import NotMeasuredError, Run, run
from bench.cases import GRIDS, Case
from bench.gate import (
    Counted,
    Held,
    Seconds,
    Together,
    hold_counters,
    hold_times,
    hold_together,
    passed,
)
from bench.limits import Gates, load
from bench.page import write_page
from bench.recording import record_counters, record_times
from bench.table import counters_line, summary, times_table, together_line
from rich.console import Console


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    gates = load()
    cases = cases_of(options.grid, options.cases)
    if options.against:
        return compare(options.against, cases, options.rounds, gates.against_revision, console)
    devices = _devices(options.device, options.require_gpu)
    if "cuda" in devices and not torch.cuda.is_available():
        console.print("failed: there is no GPU, and one is asked for")
        return 1
    results: list[Held | Together | Counted] = []
    try:
        for device in devices:
            results += _times(device, cases, gates, options, console)
    except NotMeasuredError as error:
        console.print(f"failed: {error}", markup=False)
        return 1
    if not options.cases:
        results += _counters(gates, options, console)
    held = [each for each in results if isinstance(each, Held)]
    counted = [each for each in results if isinstance(each, Counted)]
    for line in summary(held, counted):
        console.print(line, markup=False)
    console.print("passed" if passed(results) else "failed")
    return 0 if passed(results) else 1


def _devices(asked: str, require_gpu: bool) -> list[str]:
    if asked != "all":
        return list(dict.fromkeys([asked, *(["cuda"] if require_gpu else [])]))
    return ["cpu", *(["cuda"] if require_gpu or torch.cuda.is_available() else [])]


def _times(
    device: str,
    cases: Sequence[Case],
    gates: Gates,
    options: argparse.Namespace,
    console: Console,
) -> list[Held | Together]:
    first = run(cases, device, options.rounds)

    def remeasure(suspects: Sequence[Case]) -> Seconds:
        names = ", ".join(map(str, suspects))
        console.print(f"measured again, with twice the rounds: {names}", markup=False)
        return run(suspects, device, 2 * options.rounds).seconds

    name = str(first.machine["device_name"])
    if options.record:
        record_times(gates, first.seconds, first.machine)
        gates = load()
    held = hold_times(gates, first.seconds, device, name, remeasure)
    title = f"{name}, torch {first.machine['torch']}: medians, and how many times as long as …"
    console.print(times_table(held, first.seconds, title))
    _write(options.output, device, first, held)
    together = hold_together(gates, held, device, name)
    if together is None:
        return [*held]
    console.print(together_line(together))
    return [*held, together]


def _counters(gates: Gates, options: argparse.Namespace, console: Console) -> list[Counted]:
    found = counters.count()
    if options.record:
        record_counters(found, counters.triton_version())
        gates = load()
    if counters.triton_version() != gates.triton:
        console.print(
            f"counters of compiled kernels are those of triton {gates.triton}, "
            f"and here is {counters.triton_version()}"
        )
    counted = hold_counters(gates, found)
    console.print(counters_line(counted))
    return counted


def _write(folder: Path, device: str, measured: Run, held: Sequence[Held]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"bench-{device}.json"
    path.write_text(json.dumps(measured.document, indent=1) + "\n", encoding="utf-8")
    write_page(folder, device, measured, held)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--grid", choices=[*GRIDS], default="default")
    parser.add_argument("--cases", default="", help="names, separated by commas; counts nothing")
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--device", choices=["all", "cpu", "cuda"], default="all")
    parser.add_argument("--require-gpu", action="store_true")
    parser.add_argument("--against", metavar="REV", default="")
    parser.add_argument("--record", action="store_true", help="write recorded.toml")
    parser.add_argument("--output", type=Path, default=Path("bench-results"))
    return parser


if __name__ == "__main__":
    sys.exit(main())
