"""How surely the suite catches the gallery's wrong samplers, and that it blames no right one.

    PYTHONPATH=tests python -m gallery.power --write docs/power.md

Every sampler runs in profile ``quick``: the wrong ones once derandomised, and then with each of
``--seeds`` seeds until a check says no; the right ones with as many seeds as it takes to have
judged ``--rows`` rows. Exit status 1 if a wrong one escapes or a right one is blamed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

from gallery import right, wrong, wrong_processes
from gallery.power_page import page
from gallery.textbook import Textbook

from topnsigma_conformance import Session
from topnsigma_conformance.batch import Batch
from topnsigma_conformance.case import Case
from topnsigma_conformance.check import Check
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.driver import Driver
from topnsigma_conformance.observation import Observation
from topnsigma_conformance.report import CONFORMING, CheckResult

TIMEOUT = 5.0
"""Seconds that a call of an isolated sampler may take: one of them hangs."""


@dataclasses.dataclass(frozen=True)
class Caught:
    """How the suite fared on one wrong sampler.

    Attributes:
        name: of the sampler.
        breaks: the rule that it breaks; or the status that it ends in, where it breaks none.
        blamed: another rule that may be named first.
        check, rule: that said no first in the derandomised run; empty if none did.
        status: of that check.
        tokens: of the longest row of its shrunk counterexample.
        seeds: how many of the random seeds caught it.
        escaped: the seeds that did not.
    """

    name: str
    breaks: str
    blamed: str
    check: str
    rule: str
    status: str
    tokens: int
    seeds: int
    escaped: tuple[int, ...]

    @property
    def named(self) -> bool:
        """Whether the first check that said no names the rule that is broken."""
        return self.breaks in (self.rule, self.status)


@dataclasses.dataclass(frozen=True)
class Cleared:
    """How the suite fared on one right sampler with one seed."""

    name: str
    seed: int
    rows: int
    blamed: tuple[str, ...]


def measure_wrong(cls: type[Textbook], seeds: int) -> Caught:
    """Run one wrong sampler derandomised, and with seeds 1 … ``seeds``."""
    first = next(_failures(cls, 0, list(CHECKS.values()), shrink=True), None)
    tokens = 0
    if first is not None and first.failure is not None:
        tokens = max(len(row) for row in Case.from_json(first.failure.case).rows)
    order = _likely_first(first.check if first else "", cls.breaks)
    escaped = [
        seed
        for seed in range(1, seeds + 1)
        if next(_failures(cls, seed, order, shrink=False), None) is None
    ]
    return Caught(
        name=cls.__name__,
        breaks=cls.breaks or getattr(cls, "ends_as", ""),
        blamed=cls.blamed,
        check=first.check if first else "",
        rule=first.rule if first and first.status == "fail" else "",
        status=first.status if first else "",
        tokens=tokens,
        seeds=seeds - len(escaped),
        escaped=tuple(escaped),
    )


def measure_right(cls: type[Textbook], seed: int) -> Cleared:
    """Run one right sampler with one seed, all checks."""
    with Session(cls(), seed=seed, timeout=TIMEOUT) as session:
        counting = session.driver = _Counting(session.driver)
        results = [session.run(check, shrink=False) for check in CHECKS.values()]
    blamed = tuple(
        f"{result.check}: {result.failure}" for result in results if result.status not in CONFORMING
    )
    return Cleared(cls.__name__, seed, counting.rows, blamed)


def _failures(
    cls: type[Textbook], seed: int, checks: list[Check], *, shrink: bool
) -> Iterator[CheckResult]:
    with Session(cls(), seed=seed, timeout=TIMEOUT) as session:
        for check in checks:
            result = session.run(check, shrink=shrink)
            if result.status not in CONFORMING:
                yield result


def _likely_first(caught_by: str, rule: str) -> list[Check]:
    # Whether a run catches a sampler does not depend on the order of its checks, but how long it
    # takes to know does: the draws of a check hang on its id and the seed alone.
    return sorted(
        CHECKS.values(), key=lambda check: (check.id != caught_by, check.rule != rule, check.id)
    )


class _Counting:
    """A driver that counts the rows that came back and so were judged."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.rows = 0

    def observe(self, batch: Batch) -> Observation:
        observation = self._driver.observe(batch)
        if observation.outcome == "returned":
            self.rows += len(batch.n)
        return observation

    def resident_bytes(self) -> int | None:
        return self._driver.resident_bytes()

    def close(self) -> None:
        self._driver.close()


def _clear_all(pool: ProcessPoolExecutor, rows: int) -> list[Cleared]:
    done: list[Cleared] = []
    seed = 0
    while sum(each.rows for each in done) < rows:
        futures: list[Future[Cleared]] = [
            pool.submit(measure_right, cls, seed) for cls in right.ALL
        ]
        for future in futures:
            done.append(future.result())
            _say(done[-1])
        seed += 1
    return done


def _say(result: Caught | Cleared) -> None:
    print(json.dumps(dataclasses.asdict(result)), flush=True)


def main() -> int:
    """Measure, print one line of JSON a result, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.jobs) as pool:
        futures = [
            pool.submit(measure_wrong, cls, arguments.seeds)
            for cls in (*wrong.ALL, *wrong_processes.ALL)
        ]
        caught = []
        for future in futures:
            caught.append(future.result())
            _say(caught[-1])
        cleared = _clear_all(pool, arguments.rows)
    text = page(caught, cleared, arguments.seeds)
    if arguments.write is not None:
        arguments.write.write_text(text, encoding="utf-8")
    print(text)
    escaped = [each.name for each in caught if not each.check or each.escaped]
    blamed = [each for each in cleared if each.blamed]
    return 1 if escaped or blamed else 0


if __name__ == "__main__":
    sys.exit(main())
