"""How long our operation may take, and what it must cost exactly: `gates.toml`, `recorded.toml`."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.benchmark_ids import OURS, contenders_of
from bench.cases import FULL, Case

GATES = Path(__file__).with_name("gates.toml")
RECORDED = Path(__file__).with_name("recorded.toml")

_CASES = {str(case): case for case in FULL}

SECONDS = "seconds"
"""What a limit is against that is no ratio."""


@dataclasses.dataclass(frozen=True)
class Limit:
    """How long a case may take.

    Attributes:
        device: "cpu" or "cuda".
        case: what is measured.
        against: the contender that it is held to, or "seconds".
        at_most: on any machine.
        measured: by name of a machine, the most that was measured there.
        reason: why this figure.
    """

    device: str
    case: Case
    against: str
    at_most: float
    measured: dict[str, float]
    reason: str

    def recorded(self, machine: str) -> float | None:
        """What a later run on a machine of this name can be held to, if there is such a figure."""
        # On a CPU the ratios to others depend on who else uses its caches.
        steady = self.device != "cpu" or self.against == "passes"
        return self.measured.get(machine) if steady else None

    def on(self, machine: str, margin: float) -> float:
        """The limit on a machine of this name: what was recorded there times the margin, where
        that is lower."""
        recorded = self.recorded(machine)
        return self.at_most if recorded is None else min(self.at_most, recorded * margin)


@dataclasses.dataclass(frozen=True)
class Gates:
    """All limits.

    Attributes:
        margin: see `Limit.on`.
        together: see `gate.hold_together`.
        limits: of what is measured.
        counters: of what is counted, by name; held to exactly.
        triton: version that the counters of compiled kernels were taken with.
        against_revision: how many times as long as another revision this one may take.
    """

    margin: float
    together: float
    limits: tuple[Limit, ...]
    counters: dict[str, int]
    triton: str
    against_revision: float


def load(gates: Path = GATES, recorded: Path = RECORDED) -> Gates:
    """Read the files.

    Raises:
        ValueError: they name a case or a contender that there is not, name a case twice, or give
            no reason.
    """
    document = tomllib.loads(gates.read_text(encoding="utf-8"))
    records = tomllib.loads(recorded.read_text(encoding="utf-8"))
    limits: list[Limit] = []
    for device in ("cpu", "cuda"):
        names = [row["case"] for row in document[device]]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{gates.name}: more than one row for {', '.join(twice)} on {device}")
        for row in document[device]:
            limits += _limits(device, row, records["machines"])
    return Gates(
        document["margin"],
        document["together"],
        tuple(limits),
        records["counters"],
        records["triton"],
        document["against_revision"],
    )


def _limits(device: str, row: dict[str, Any], machines: dict[str, Any]) -> Iterator[Limit]:
    name, reason = row["case"], row["reason"]
    case = _CASES.get(name)
    if case is None:
        raise ValueError(f"there is no case {name!r}")
    if not reason:
        raise ValueError(f"the limits of {name} give no reason")
    others = {*contenders_of(case, device), SECONDS} - {OURS}
    if device != "cpu":
        others.add("vllm_min_p")
    for against, at_most in row.items():
        if against in ("case", "reason"):
            continue
        if against not in others:
            raise ValueError(f"{name} can be held to {', '.join(sorted(others))}; got {against!r}")
        found = {
            machine: recorded[name][against]
            for machine, recorded in machines.items()
            if recorded["device"] == device and against in recorded.get(name, {})
        }
        yield Limit(device, case, against, at_most, found, reason)
