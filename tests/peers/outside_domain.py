"""What a sampler makes of each n that TNS-1 puts outside the domain, in a word or two."""

from __future__ import annotations

import numpy as np

from topnsigma_conformance import Session
from topnsigma_conformance.case import BAD_N, Case, Row
from topnsigma_conformance.formats import special_bits
from topnsigma_conformance.implementation import Implementation
from topnsigma_conformance.observation import Observation
from topnsigma_conformance.strategies import bad_n_names
from topnsigma_reference import RFC

ROW = Row(values=(0.0, 1.0, 3.0, 4.0))
"""At n = 1 two of its tokens stay with either divisor; at n = 0, by the formula, one."""


def answers(implementation: Implementation, target: str) -> dict[str, str]:
    """For each name of ``BAD_N`` that the suite gives to a sampler of this dialect, its answer."""
    with Session(implementation, target=target) as session:
        numbers_only = session.dialect.invalid_n == "disable"
        return {
            name: _in_words(
                session.driver.observe(Case((ROW,), (name,)).batch("float32", session.dialect))
            )
            for name in bad_n_names(numbers_only)
        }


def wanted(invalid_n: str) -> str:
    """The answer that TNS-1 asks for under a value of the dialect's ``invalid_n``."""
    return "refused" if invalid_n == "reject" else "left alone"


def shown(name: str) -> str:
    """The value behind a name of ``BAD_N``, or the name where that would be longer."""
    text = repr(BAD_N[name])
    return text if len(text) < 12 else name


def _in_words(observation: Observation) -> str:
    if observation.outcome == "rejected":
        return "refused"
    if observation.bits is None:
        return "error"
    before, after = ROW.bits("float32", None, RFC), observation.bits[0]
    if np.array_equal(before, after):
        return "left alone"
    kept = int((after != special_bits("float32", "-inf")).sum())
    return f"keeps {kept} of {after.size}"
