"""One server under the traffic of a seed, from its start to its end."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from engine import server, tiny_model
from engine.conftest import ENVIRONMENT
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from soak.finding import Finding, finding
from soak.load import Outcome, goes_on_until, send_all
from soak.memory import resident
from soak.questions import ask, state_at_the_end
from soak.shutdown import shut_down
from soak.traffic import SLOTS
from soak.watched_processor import ROWS

_SAMPLES_IN = 200
"""Of memory, while `Load.requests` are answered."""

_COLUMNS = (BarColumn(), TextColumn("{task.completed:,} requests"), TimeElapsedColumn())


@dataclasses.dataclass(frozen=True)
class Load:
    """The traffic of a seed, until there were so many requests and so many minutes have passed.

    Attributes:
        seed, watched: see `traffic`.
    """

    seed: int
    requests: int
    minutes: float
    watched: int


@dataclasses.dataclass
class Served:
    """What came of it.

    Attributes:
        outcomes: of each request, in the order in which they ended.
        samples: of memory: requests that had ended, and KiB by process.
        minutes: that the traffic took.
        end: findings about the server once every request was over.
    """

    outcomes: list[Outcome] = dataclasses.field(default_factory=list)
    samples: list[tuple[int, dict[str, int]]] = dataclasses.field(default_factory=list)
    minutes: float = 0.0
    end: list[Finding] = dataclasses.field(default_factory=list)


def serve(processor: str, runner: str, load: Load, folder: Path, console: Console) -> Served:
    """Start a server with the processor, send it the load and end it.

    The rows that it records are in the file ``rows`` of `folder`.

    Raises:
        RuntimeError: the server did not start.
    """
    log = folder / "log"
    served = Served()
    with _started(processor, runner, folder, log) as running:
        start = time.monotonic()
        with Progress(*_COLUMNS, console=console) as progress:
            task = progress.add_task("", total=load.requests)

            def finished(outcome: Outcome) -> None:
                served.outcomes.append(outcome)
                ended = len(served.outcomes)
                # Without a total it goes on until the minutes have passed.
                total = None if ended >= load.requests else load.requests
                progress.update(task, advance=1, total=total)
                if ended % max(1, load.requests // _SAMPLES_IN) == 0:
                    # That a server is not there is said by what became of the requests.
                    with contextlib.suppress(OSError, RuntimeError, psutil.Error):
                        ask(running.address, "soak_release")
                        served.samples.append((ended, resident(running.process.pid)))

            until = goes_on_until(load.requests, load.minutes)
            asyncio.run(
                send_all(
                    running.address,
                    load.seed,
                    load.watched,
                    lambda index: running.process.poll() is None and until(index),
                    finished,
                )
            )
        served.minutes = (time.monotonic() - start) / 60.0
        status = running.process.poll()
        died = [] if status is None else [f"status {status}: {log.read_text()[-1000:]}"]
        served.end.append(finding("the server lives to the end", 1, died))
        if not died:
            served.end.append(state_at_the_end(running.address, runner))
            served.end.append(shut_down(running.process, log))
    return served


@contextlib.contextmanager
def _started(processor: str, runner: str, folder: Path, log: Path) -> Iterator[server.Server]:
    model = tiny_model.build(folder / "tiny")
    arguments = [
        *("--enforce-eager", "--dtype", "float32", "--max-model-len", "128"),
        *("--max-num-seqs", str(SLOTS), "--logits-processors", processor),
        *("--worker-extension-cls", "soak.watched_processor.AskedWorker"),
    ]
    environment = _environment(runner) | {ROWS: str(folder / "rows")}
    with server.started(model, log, *arguments, environment=environment) as running:
        ask(running.address, "soak_watch")
        yield running


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
