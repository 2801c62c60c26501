"""How often state machines run, and what is counted while they do."""

import dataclasses
from typing import Any

import hypothesis
import torch
from engine import oracle
from engine.known_rows import Setting, known_rows
from hypothesis.stateful import run_state_machine_as_test

LEAST_RUNS = 2_000
MOST_STEPS = 60

_RUNS_OF_A_PART = 500


@dataclasses.dataclass
class Tally:
    """What the runs of a state machine amount to.

    Attributes:
        runs: from a new processor to the end.
        steps: of the engine, some of them without a row.
        rows: rows compared with the reference, bit for bit.
        opted_in: how many of those had to be truncated, as far as they can be.
        rules: how often each rule was followed.
    """

    runs: int = 0
    steps: int = 0
    rows: int = 0
    opted_in: int = 0
    rules: dict[str, int] = dataclasses.field(default_factory=dict)

    def followed(self, rule: str) -> None:
        self.rules[rule] = self.rules.get(rule, 0) + 1

    def line(self, name: str) -> str:
        rules = ", ".join(f"{rule} {count:,}" for rule, count in sorted(self.rules.items()))
        return (
            f"{name}: {self.runs:,} runs, {self.steps:,} steps, {self.rows:,} rows compared, "
            f"{self.opted_in:,} of them opted in; {rules}"
        )

    def compare(
        self, got: torch.Tensor, vocab_size: int, chosen: list[int], settings: list[Setting]
    ) -> None:
        """Hold rows [B, V] to the reference.

        Args:
            chosen: which known row each of them was.
            settings: what each has to be truncated with.

        Raises:
            AssertionError: a bit differs.
        """
        want = known_rows(vocab_size).expected(chosen, settings)
        assert oracle.same_bits(got, want), (
            f"rows {chosen} under {settings} became\n{got}\nand not\n{want}"
        )
        self.rows += len(chosen)
        self.opted_in += sum(setting is not None for setting in settings)


def run(machine: Any, runs: int, *, shrink: bool = True) -> None:
    """Run a state machine at least so many times, the same ones each time.

    Args:
        machine: what makes a new one for each run; Hypothesis types it as the class itself.
        runs: how many times.
        shrink: whether to look for the shortest way to a fault.

    Raises:
        AssertionError: a step went wrong; Hypothesis notes the way there.
    """
    phases = [hypothesis.Phase.generate, *([hypothesis.Phase.shrink] if shrink else [])]
    # In parts, because Hypothesis keeps all that it has drawn until it is done.
    for part, start in enumerate(range(0, runs, _RUNS_OF_A_PART)):
        run_state_machine_as_test(
            hypothesis.seed(part)(machine),
            settings=hypothesis.settings(
                max_examples=min(_RUNS_OF_A_PART, runs - start),
                stateful_step_count=MOST_STEPS,
                deadline=None,
                database=None,
                phases=phases,
                report_multiple_bugs=False,
                # A slow machine is no reason to give up, and 60 steps draw more than usual.
                suppress_health_check=[
                    hypothesis.HealthCheck.too_slow,
                    hypothesis.HealthCheck.data_too_large,
                ],
            ),
        )
