"""What ``quality.py`` measures, cell by cell: all prompts by one method, temperature and seed.

A finished cell is a line of a file, so that a run which was interrupted goes on where it was.
"""

import dataclasses
import hashlib
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import generation
import smollm2
from prompts import PROMPTS, Prompt

Key = tuple[str, float | None, int | None]
"""Method, temperature and seed; the latter two are None for greedy, which has neither."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """What is measured.

    Attributes:
        name: of the setting.
        prompts: names of prompts.
        methods: names of ``generation.METHODS``.
        temperatures: each a finite number > 0.
        seeds: how many; they are 0, 1, ….
        cap: no answer is longer than so many tokens, whatever its kind allows; None: no cap.
    """

    name: str
    prompts: tuple[str, ...]
    methods: tuple[str, ...]
    temperatures: tuple[float, ...]
    seeds: int
    cap: int | None = None

    def all_keys(self) -> list[Key]:
        """The cells, seed by seed, so that the first to be finished cover all methods."""
        sampled: list[Key] = [
            (method, temperature, seed)
            for seed in range(self.seeds)
            for temperature in self.temperatures
            for method in self.methods
            if method != "greedy"
        ]
        greedy: list[Key] = [("greedy", None, None)] if "greedy" in self.methods else []
        return greedy + sampled

    def chosen(self) -> list[Prompt]:
        """The prompts, in the order of their names here."""
        named = {prompt.name: prompt for prompt in PROMPTS}
        return [named[name] for name in self.prompts]

    def limit(self, prompt: Prompt) -> int:
        """The most tokens that follow ``prompt``."""
        return prompt.kind.limit if self.cap is None else min(self.cap, prompt.kind.limit)

    def digest(self) -> str:
        """Of what a cell depends on: settings that differ in which cells they have share cells."""
        text = repr((self.chosen(), self.cap))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


ALL = tuple(prompt.name for prompt in PROMPTS)
METHODS = tuple(method.name for method in generation.METHODS)
TEMPERATURES = (0.7, 1.0, 1.5, 2.0, 3.0)

SETTINGS = {
    "full": Settings("full", ALL, METHODS, TEMPERATURES, seeds=10),
    "small": Settings("small", ALL, METHODS, TEMPERATURES, seeds=2),
    "tiny": Settings(
        "tiny", ALL[::10] + ALL[1::20], ("min_p 0.1", "top_n_sigma 1", "greedy"), (1.5,), 2, cap=8
    ),
}


@dataclasses.dataclass(frozen=True)
class Sample:
    """One answer.

    Attributes:
        prompt: its name.
        text: what follows the prompt.
        ids: its tokens.
        correct: whether the prompt's check accepts it.
        steps: tokens that were chosen, a stop token included.
        log_likelihood: of these, summed, under the model at temperature 1; natural logarithm.
        candidates: from how many tokens they were chosen, summed.
    """

    prompt: str
    text: str
    ids: tuple[int, ...]
    correct: bool
    steps: int
    log_likelihood: float
    candidates: int


@dataclasses.dataclass(frozen=True)
class Cell:
    """The answers of one method at one temperature with one seed, in the order of the prompts.

    Attributes:
        key: which cell it is.
        samples: its answers.
        seconds: of the clock, how long it took.
        processor_seconds: of one core, without those of the programs among the answers.
        load: processes that were running or waiting on the machine, as a mean over the last minute.
    """

    key: Key
    samples: tuple[Sample, ...]
    seconds: float
    processor_seconds: float
    load: float

    def to_json(self) -> str:
        """One line."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, line: str) -> "Cell":
        """The reverse of ``to_json``; ValueError, KeyError or TypeError for anything else."""
        fields = json.loads(line)
        samples = [Sample(**{**one, "ids": tuple(one["ids"])}) for one in fields["samples"]]
        method, temperature, seed = fields["key"]
        return cls(**{**fields, "key": (method, temperature, seed), "samples": tuple(samples)})


class CellFile:
    """Finished cells, a line each, below a line with the digest of the settings they are of.

    Opening a file creates it where there is none. A last line without its end is what a run left
    that was interrupted, and is dropped. Raises ValueError where the file is of other settings or
    has a line that is no cell.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path = path
        self.cells: dict[Key, Cell] = {}
        head = json.dumps({"settings": settings.digest()})
        whole = b""
        if path.exists():
            content = path.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
        if not whole:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(head + "\n", encoding="utf-8")
            return
        first, *lines = whole.decode().splitlines()
        if first != head:
            raise ValueError(
                f"{path} holds cells of other prompts or limits ({first[:80]}) than those of"
                f" {settings.name!r} ({head}); name another file, or delete it"
            )
        for number, line in enumerate(lines, 2):
            try:
                cell = Cell.from_json(line)
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"line {number} of {path} is not a cell: {error!r}") from error
            self.cells[cell.key] = cell
        os.truncate(path, len(whole))

    def add(self, cell: Cell) -> None:
        """Append ``cell``."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(cell.to_json() + "\n")
        self.cells[cell.key] = cell


class Measurement:
    """The model with the prompts of ``settings`` read, ready for any number of cells."""

    def __init__(self, settings: Settings) -> None:
        self.prompts, self.model = settings.chosen(), smollm2.load()
        encode = self.model.tokenizer.encode
        requests = [
            generation.Request(
                prompt.name, tuple(encode(prompt.text)), settings.limit(prompt), prompt.kind.end
            )
            for prompt in self.prompts
        ]
        self.prefix = generation.Prefix(self.model, requests)

    def cell(self, key: Key) -> Cell:
        """Generate and check."""
        begin, cost = time.perf_counter(), time.process_time()
        name, temperature, seed = key
        method = next(method for method in generation.METHODS if method.name == name)
        texts = self.prefix.generate(method, temperature or 1.0, seed or 0)
        samples = tuple(map(self._sample, self.prompts, texts))
        return Cell(
            key,
            samples,
            time.perf_counter() - begin,
            time.process_time() - cost,
            os.getloadavg()[0],
        )

    def _sample(self, prompt: Prompt, text: generation.Text) -> Sample:
        answer = self.model.tokenizer.decode(text.ids)
        return Sample(
            prompt.name,
            answer,
            tuple(text.ids),
            prompt.answer.accepts(answer),
            len(text.candidates),
            sum(text.log_likelihoods),
            sum(text.candidates),
        )


def measure(settings: Settings, keys: Sequence[Key], workers: int) -> Iterator[Cell]:
    """The cells of ``keys``, as they are finished, by so many processes of one thread each.

    One thread, because a matrix product of a batch as small as this gains less from a second one
    than a second cell does; and because the bits of a result then depend on the machine alone.
    """
    if not keys:
        return
    # OpenBLAS reads this when numpy is imported, which the new processes are still to do.
    before = {name: os.environ.get(name) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    os.environ.update(dict.fromkeys(before, "1"))
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(keys)), context, _start, (settings,))
    try:
        for done in as_completed([pool.submit(_cell, key) for key in keys]):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


_worker: dict[str, Any] = {}


def _start(settings: Settings) -> None:
    # A parent that is killed can't tell its workers to end.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker["measurement"] = Measurement(settings)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _cell(key: Key) -> Cell:
    cell: Cell = _worker["measurement"].cell(key)
    return cell
