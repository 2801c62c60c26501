"""Which benchmarks there have to be: asked by the run that makes them and by the gate that judges.

The gate needs the names without preparing anything, and a name that only one of the two knows is a
failure.
"""

from __future__ import annotations

import importlib.util

from bench.cases import GRIDS, Case

YARDSTICK = "copy"
OURS = "top_n_sigma_"


def cases_of(grid: str, names: str = "") -> tuple[Case, ...]:
    """The cases of a grid, or those of it that are named, separated by commas.

    Raises:
        ValueError: a name is none of the grid's.
    """
    cases = {str(case): case for case in GRIDS[grid]}
    if not names:
        return tuple(cases.values())
    unknown = [name for name in names.split(",") if name not in cases]
    if unknown:
        raise ValueError(f"cases must be of the grid {grid!r}, got {', '.join(unknown)}")
    return tuple(cases[name] for name in names.split(","))


def contenders_of(case: Case, device: str) -> tuple[str, ...]:
    """Names of the contenders of a case.

    Those that know nothing of disabled rows or of -inf stand beside cases without them only.
    """
    names = [YARDSTICK, OURS]
    if device != "cpu":
        names.append("one-launch")
    elif case.rows != "disabled":
        names.append("passes")
    if case.rows in ("enabled", "shifted"):
        names += ["textbook", "min_p"]
        if device == "cpu":  # elsewhere it waits for the device at every row
            names.append("rfc_example")
        elif importlib.util.find_spec("vllm") is not None:
            names.append("vllm_min_p")
    return tuple(names)


def benchmark_id(case: Case, contender: str) -> str:
    """As pytest-benchmark's JSON names it."""
    return f"test_latency[{case}-{contender}]"
