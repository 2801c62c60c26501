"""Model Runner V1: thousands of random lives of a batch, against a dictionary."""

from collections.abc import Callable

import pytest
from engine import batch_machine, machine_runs, state_breaks
from engine.machine_runs import Tally

from topnsigma_processor.vllm_plugin import TopNSigma

RULES = 11


def test_every_row_is_its_requests_own(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> None:
    tally = Tally()
    runs: int = request.config.getoption("--state-machine-runs")
    machine_runs.run(batch_machine.machine(TopNSigma, tally), runs)
    record_property("state_machine", tally.line("state machine of V1"))
    assert tally.runs >= machine_runs.LEAST_RUNS
    assert len(tally.rules) == RULES
    assert 0 < tally.opted_in < tally.rows


@pytest.mark.parametrize("name", state_breaks.V1)
def test_a_fault_is_found(name: str) -> None:
    """The machine would be worth little if a processor that is wrong lived through it."""
    broken = state_breaks.V1[name]
    with pytest.raises(state_breaks.SEEN):
        machine_runs.run(batch_machine.machine(broken, Tally()), 300, shrink=False)
