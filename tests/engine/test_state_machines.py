"""Thousands of random lives of a batch on V1, and of request slots on V2, against a dictionary."""

from collections.abc import Callable
from typing import Any

import pytest
from engine import machine_runs, state_breaks
from engine.machine_runs import Tally

from topnsigma_processor.vllm_plugin import TopNSigma

RULES = {"V1": 11, "V2": 10}

BROKEN = [
    pytest.param(broken, marks=pytest.mark.runner(name), id=f"{name}-{broken.__name__}")
    for name, all_broken in (("V1", state_breaks.V1), ("V2", state_breaks.V2))
    for broken in all_broken.values()
]


@pytest.fixture
def machine(runner: str) -> Callable[[type[TopNSigma], Tally], Any]:
    """Makes the state machine of the runner at hand, of a processor."""
    if runner == "V1":
        from engine import batch_machine

        return batch_machine.machine
    # On V1 vLLM's modules for it can't be imported.
    from engine import slot_machine

    return slot_machine.machine


def test_every_row_is_its_requests_own(
    runner: str,
    machine: Callable[[type[TopNSigma], Tally], Any],
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    tally = Tally()
    runs: int = request.config.getoption("--state-machine-runs")
    machine_runs.run(machine(TopNSigma, tally), runs)
    record_property("state_machine", tally.line(f"state machine of {runner}"))
    assert tally.runs >= machine_runs.LEAST_RUNS
    assert len(tally.rules) == RULES[runner]
    assert 0 < tally.opted_in < tally.rows


@pytest.mark.parametrize("broken", BROKEN)
def test_a_fault_is_found(
    broken: type[TopNSigma], machine: Callable[[type[TopNSigma], Tally], Any]
) -> None:
    """The machine would be worth little if a processor that is wrong lived through it."""
    with pytest.raises(state_breaks.SEEN):
        machine_runs.run(machine(broken, Tally()), 300, shrink=False)
