"""Writes down what was measured and counted, for the gate to hold later runs to."""

from __future__ import annotations

import datetime
import json
import tomllib
from collections.abc import Mapping
from typing import Any

from bench.benchmark_ids import OURS
from bench.cases import Case
from bench.gate import Seconds
from bench.limits import RECORDED, SECONDS, Gates
from bench.ratios import certain, ratio

_HEAD = """\
# Written by `python -m bench --record`. Whoever makes something slower or dearer on purpose shows
# by how much in the diff of this file.

# Compiled the kernels whose registers and spills are below.
triton = {triton}

# Held to exactly, on every machine.
[counters]
{counters}

# The slowest of several runs, quiet and busy, on a machine of this name. Medians of ratios, of
# processor time of one thread on a CPU and of device time on a GPU. What they limit: gates.toml.
"""


def record_times(gates: Gates, seconds: Seconds, machine: Mapping[str, Any]) -> None:
    """Add these cases on this machine to the file; of what was recorded there before, the slower
    one stays. To begin anew, take the machine's table out."""
    document = _document()
    rows = document["machines"].setdefault(machine["device_name"], {})
    rows["device"] = machine["device"]
    rows["date"] = datetime.date.today().isoformat()
    rows["torch"] = machine["torch"]
    for case in seconds:
        earlier = rows.get(str(case), {})
        row = _row(gates, case, seconds, machine["device"])
        rows[str(case)] = {name: max(value, earlier.get(name, 0)) for name, value in row.items()}
    _write(document)


def record_counters(counters: Mapping[str, int], triton: str) -> None:
    """Replace all counters."""
    _write(_document() | {"counters": counters, "triton": triton})


def _document() -> dict[str, Any]:
    return tomllib.loads(RECORDED.read_text(encoding="utf-8"))


def _row(gates: Gates, case: Case, seconds: Seconds, device: str) -> dict[str, float]:
    figures = seconds[case]
    return {
        limit.against: _rounded(
            certain(figures[OURS]).value
            if limit.against == SECONDS
            else ratio(figures[OURS], figures[limit.against]).value
        )
        for limit in gates.limits
        if limit.case == case and limit.device == device and limit.against in {*figures, SECONDS}
    }


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _write(document: Mapping[str, Any]) -> None:
    counters = "\n".join(f"{json.dumps(k)} = {v}" for k, v in document["counters"].items())
    lines = [_HEAD.format(triton=json.dumps(document["triton"]), counters=counters)]
    for machine, rows in document["machines"].items():
        lines.append(f"[machines.{json.dumps(machine)}]")
        for name, value in rows.items():
            if isinstance(value, dict):
                inside = ", ".join(f"{against} = {found}" for against, found in value.items())
                lines.append(f"{name} = {{ {inside} }}")
            else:
                lines.append(f"{name} = {json.dumps(value)}")
        lines.append("")
    RECORDED.write_text("\n".join(lines), encoding="utf-8")
