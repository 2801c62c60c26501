"""Measuring in turn: balanced, and never what an earlier call has masked."""

from __future__ import annotations

import collections

import pytest
import torch
from bench.cases import Case
from bench.contenders import of
from bench.interleaved import WARM_UP, CpuStopwatch, NotRestoredError, in_turn, measure, rotating

CPU = torch.device("cpu")
CASE = Case(2, 32_000)


class Noted:
    """A stopwatch that notes when it was asked."""

    def __init__(self, name: str, log: list[str]) -> None:
        self._name, self._log = name, log

    def restore(self) -> None:
        self._log.append(f"restore {self._name}")

    def restored(self) -> bool:
        return True

    def seconds(self) -> float:
        self._log.append(self._name)
        return float(len(self._log))


def test_each_has_each_place_from_either_end_equally_often() -> None:
    log: list[str] = []
    names = ["a", "b", "c"]
    seconds = in_turn({name: Noted(name, log) for name in names}, 40, seed=0)
    assert {name: len(figures) for name, figures in seconds.items()} == dict.fromkeys(names, 40)
    calls = [entry for entry in log if entry in names]
    rounds = [calls[i : i + 3] for i in range(0, len(calls), 3)][WARM_UP:]
    assert all(sorted(order) == names for order in rounds)
    for name in names:
        places = collections.Counter(order.index(name) for order in rounds)
        assert places[0] == places[2]
    assert len({tuple(order) for order in rounds}) == 6
    assert all(before == f"restore {x}" for before, x in zip(log[::2], log[1::2], strict=True))


def test_what_was_masked_before_is_not_timed() -> None:
    class Careless(CpuStopwatch):
        def restore(self) -> None:
            self._logits = next(self._buffers)

    source = CASE.logits(CPU)
    steps = of(CASE, CPU)
    careless = Careless(steps["top_n_sigma_"], source, rotating(source))
    with pytest.raises(NotRestoredError, match="top_n_sigma_"):
        in_turn({"top_n_sigma_": careless}, 1, seed=0)


def test_what_changes_the_source_itself_is_not_timed() -> None:
    class Hasty(CpuStopwatch):
        def restore(self) -> None:
            self._logits = self._source

    source = CASE.logits(CPU)
    hasty = Hasty(of(CASE, CPU)["top_n_sigma_"], source, rotating(source))
    with pytest.raises(NotRestoredError):
        in_turn({"top_n_sigma_": hasty}, 1, seed=0)


@pytest.mark.parametrize("rows", ["enabled", "half", "exclude", "noop", "disabled", "shifted"])
def test_every_contender_of_a_case_is_measured(rows: str) -> None:
    case = Case(2, 32_000, rows=rows)  # type: ignore[arg-type]
    measured = measure(case, CPU, rounds=1)
    assert {len(figures) for figures in measured.seconds.values()} == {1}
    assert {"copy", "top_n_sigma_"} <= set(measured.seconds)


def test_a_case_asks_for_what_it_is_named_after() -> None:
    masked = {}
    for rows in ("enabled", "shifted", "half", "disabled", "noop", "exclude"):
        case = Case(4, 32_000, rows=rows)
        logits = case.logits(CPU)
        given = logits.clone()
        of(case, CPU)["top_n_sigma_"](logits)
        changed = (logits != given).any(dim=1)
        masked[rows] = changed.tolist()
    assert masked == {
        "enabled": [True] * 4,
        "shifted": [True] * 4,
        "half": [True, False, True, False],
        "disabled": [False] * 4,
        "noop": [False] * 4,
        "exclude": [True] * 4,
    }


def test_contenders_of_the_same_meaning_keep_the_same_tokens() -> None:
    steps = of(CASE, CPU)
    results = {}
    for name in ("top_n_sigma_", "textbook", "rfc_example"):
        logits = CASE.logits(CPU)
        steps[name](logits)
        results[name] = logits
    # The cuts differ by rounding; no logit of this batch lies between them.
    assert torch.equal(results["top_n_sigma_"], results["textbook"])
    assert torch.equal(results["top_n_sigma_"], results["rfc_example"])
