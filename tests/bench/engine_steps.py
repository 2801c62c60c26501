"""What the processor adds to a decode step of a real vLLM, on a CPU.

    PYTHONPATH=tests:examples python -m bench.engine_steps [--starts N] [--steps N] [--json FILE]

Three engines, each in a process of its own, step in turn, in random balanced order: one without a
logits processor, one where ours is loaded and no request asks for it, one where every request does.
What is compared is the processor time of a step, over all threads, with one thread for PyTorch; the
time that passes is shown besides. All step on one core: each core of a machine has its own
neighbours, a process stays where it is, and so one engine would be the slower one from its first
step to its last. What is left of that (where a process finds its memory) shows between one start of
the engines and another: they are started several times, and an interval spans those of all starts.

A step gives each of the requests its next token: prompts are read beforehand. Before and after the
measured steps each engine steps once while it is counted in how many rows the processor masks, so
that nothing is timed that does not run.

Model Runner V1 only: on a CPU, V2 runs vLLM's own kernels in Triton's interpreter, and the times of
its steps say nothing. Models are not compiled (`enforce_eager`). No figure is held to a limit.

Exit status: 0 measured, 1 something could not be, 2 usage.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bench.interleaved import WARM_UP, in_turn
from bench.ratios import Ratio, certain, ratio
from bench.table import duration, interval
from bench.worker_process import WorkerEndedError, WorkerProcess
from engine import language_model, tiny_model
from engine.conftest import ENVIRONMENT
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
PROCESSOR = "topnsigma_processor.vllm_plugin:TopNSigma"

BATCHES = (1, 8)
LONGEST_PROMPT = 16
"""Tokens that are taken of a prompt at most."""

MODELS = {"tiny": tiny_model.build, "SmolLM2-135M": language_model.build}
"""Name to what writes the model to a folder."""


@dataclasses.dataclass(frozen=True)
class Configuration:
    """What an engine loads, and what every request asks of it.

    Attributes:
        processor: a class by its name, if one is loaded.
        n: of each request, None if it does not ask for top-nσ.
    """

    processor: str | None
    n: float | None


BASE = "no processor"
CONFIGURATIONS = {
    BASE: Configuration(None, None),
    "loaded, unused": Configuration(PROCESSOR, None),
    "used by all": Configuration(PROCESSOR, 1.0),
}


class OtherStepError(RuntimeError):
    """What an engine would have timed is not what its configuration says."""


class Engine:
    """The process of an engine; see `bench.engine_worker`. A stopwatch of its steps.

    Args:
        model: its folder.
        length: tokens that a request may have with its prompt.
        name: of the configuration.

    Attributes:
        ask: see `WorkerProcess.ask`.
        wall_seconds: what passed in each step, the first `WARM_UP` included.
    """

    def __init__(self, model: Path, length: int, name: str) -> None:
        self.name = name
        self.wall_seconds: list[float] = []
        self._process = WorkerProcess(
            ["bench.engine_worker", str(model), str(length), name], _environment()
        )
        self.ask = self._process.ask

    def verify(self, batch: int) -> None:
        """Step once and see that the processor does what the configuration says.

        Raises:
            OtherStepError: it does something else.
            WorkerEndedError: the engine ended.
        """
        configuration = CONFIGURATIONS[self.name]
        loaded = int(configuration.processor is not None)
        masked_rows = 0 if configuration.n is None else batch
        expected = {"loaded": loaded, "calls": loaded, "masked_rows": masked_rows}
        found = self.ask("probe")
        if found != expected:
            raise OtherStepError(
                f"the engine '{self.name}', {batch} requests: a step had {found}, not {expected}"
            )

    def restore(self) -> None:
        """Nothing: each step computes logits of its own."""

    def restored(self) -> bool:
        """True; the process ends where a step is not one that it has to be."""
        return True

    def seconds(self) -> float:
        """Processor time of one step."""
        taken = self.ask("step")
        self.wall_seconds.append(taken["wall"])
        return float(taken["cpu"])

    def close(self) -> None:
        """End the process."""
        self._process.close()


@dataclasses.dataclass(frozen=True)
class Steps:
    """What the steps of one configuration took after one start, one figure a round.

    Attributes:
        model: its name.
        start: which of the starts.
        batch: requests in each step.
        configuration: its name.
        cpu_seconds: processor time.
        wall_seconds: what passed.
        times: how many times as long as without a processor, in processor time.
        added: seconds of processor time beyond those without.
    """

    model: str
    start: int
    batch: int
    configuration: str
    cpu_seconds: list[float]
    wall_seconds: list[float]
    times: Ratio
    added: Ratio


def measure(
    model: str, start: int, engines: Mapping[str, Engine], batch: int, steps: int
) -> Iterator[Steps]:
    """Let all engines of a model run `batch` requests, and step them in turn.

    Raises:
        OtherStepError: an engine does not do what it is measured for.
        WorkerEndedError: an engine ended.
    """
    core = max(os.sched_getaffinity(0))
    for engine in engines.values():
        engine.ask("pin", core)
        engine.wall_seconds.clear()
        engine.ask("admit", batch, _tokens(steps))
        engine.verify(batch)
    seconds = in_turn(engines, steps, seed=start * max(BATCHES) + batch)
    for name, engine in engines.items():
        engine.verify(batch)
        more = [own - base for own, base in zip(seconds[name], seconds[BASE], strict=True)]
        yield Steps(
            model,
            start,
            batch,
            name,
            seconds[name],
            engine.wall_seconds[WARM_UP:],
            ratio(seconds[name], seconds[BASE]),
            certain(more),
        )


def _tokens(steps: int) -> int:
    """Those of a request: at the end of its prompt, of two probes, and what no step may end at."""
    return 1 + 2 + WARM_UP + steps + 1


@contextmanager
def _started(model: Path, steps: int) -> Iterator[dict[str, Engine]]:
    with ExitStack() as stack:
        engines = {}
        for name in CONFIGURATIONS:
            engines[name] = Engine(model, LONGEST_PROMPT + _tokens(steps), name)
            stack.callback(engines[name].close)
        yield engines


def _environment() -> dict[str, str]:
    paths = [str(ROOT / "tests"), str(ROOT / "examples")]
    runner = {"VLLM_USE_V2_MODEL_RUNNER": "0", "PYTHONPATH": os.pathsep.join(paths)}
    return os.environ | ENVIRONMENT | runner


def spanning(found: Sequence[Ratio]) -> Ratio:
    """The median of several, with an interval that holds all of theirs."""
    return Ratio(
        statistics.median(each.value for each in found),
        min(each.lower for each in found),
        max(each.upper for each in found),
    )


def table(found: Sequence[Steps], title: str) -> Table:
    """A line a configuration."""
    shown = Table(title=title, title_justify="left")
    for heading in ("model", "requests", "processor"):
        shown.add_column(heading, no_wrap=True)
    for heading in ("CPU time", "passed", "beside none (95 %)", "added (95 %)"):
        shown.add_column(heading, justify="right", no_wrap=True)
    lines: dict[tuple[str, int, str], list[Steps]] = {}
    for each in found:
        lines.setdefault((each.model, each.batch, each.configuration), []).append(each)
    for (model, batch, configuration), starts in lines.items():
        base = configuration == BASE
        shown.add_row(
            model if base else "",
            str(batch) if base else "",
            configuration,
            duration(statistics.median(s for each in starts for s in each.cpu_seconds)),
            duration(statistics.median(s for each in starts for s in each.wall_seconds)),
            "" if base else interval(spanning([each.times for each in starts])),
            "" if base else _milliseconds(spanning([each.added for each in starts])),
            end_section=configuration == list(CONFIGURATIONS)[-1],
        )
    return shown


def _milliseconds(found: Ratio) -> str:
    value, lower, upper = (1e3 * seconds for seconds in found)
    return f"{value:.2f} ms ({lower:.2f} to {upper:.2f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.engine_steps",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--starts", type=int, default=3, help="of all engines")
    parser.add_argument("--steps", type=int, default=60, help="measured ones after each start")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    found: list[Steps] = []
    missing = []
    machine: dict[str, Any] = {}
    load = [os.getloadavg()]
    with tempfile.TemporaryDirectory() as folder:
        for model, build in MODELS.items():
            written = build(Path(folder) / model)
            try:
                for start in range(options.starts):
                    with _started(written, options.steps) as engines:
                        machine = engines[BASE].ask("machine")
                        for batch in BATCHES:
                            found += measure(model, start, engines, batch, options.steps)
            except (OtherStepError, WorkerEndedError) as error:
                missing.append(f"{model}: {error}")
    load.append(os.getloadavg())
    if options.json:
        document = {
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "machine": machine,
            "load_average": {"before": load[0], "after": load[1]},
            "starts": options.starts,
            "steps": options.steps,
            "results": [dataclasses.asdict(each) for each in found],
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    name, version = machine.get("device_name", ""), machine.get("vllm", "")
    title = f"{name}, vLLM {version}, V1: medians of {options.starts} x {options.steps} steps"
    console.print(table(found, title))
    for line in missing:
        console.print(f"failed: {line}", markup=False)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
