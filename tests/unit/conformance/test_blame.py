"""What is blamed for a token on the wrong side: σ, the threshold, or what was done to survivors."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from gallery import right, wrong
from gallery.textbook import Textbook

from topnsigma_conformance.batch import Batch
from topnsigma_conformance.check import Context, Violation
from topnsigma_conformance.checks.blame import check_and_blame, errs_without_sigma
from topnsigma_conformance.driver import InProcess
from topnsigma_conformance.implementation import Claims
from topnsigma_conformance.judge import judge

# Of several scales and offsets; each with its maximum first, last, and in the middle.
ROWS = [
    np.roll(np.array(values, np.float32) * scale + offset, shift)
    for values in ([8, -3, 5, 1, 0, -9, 2, 4, 7], [3, 1, 1, 0, -2], [-1, 2, 5])
    for scale in (1.0, 0.03125, 40.0)
    for offset in (0.0, -11.0, 3.7)
    for shift in (0, 1, 2)
]
OF_SIGMA = [
    cls for cls in wrong.ALL if cls.breaks == "TNS-4" and not cls.__name__.endswith("RowMasked")
]
OF_THRESHOLD = [
    wrong.MeanForMaximum,
    wrong.MaximumFromZero,
    wrong.LastTokenNotCompared,
    wrong.Bfloat16Threshold,
    wrong.TemperatureOnOneSide,
    wrong.AbsoluteValues,
    wrong.ThresholdLoosened,
    wrong.TailNotMasked,
    wrong.FirstTokenLost,
    wrong.KeepsTwo,
]


def context_of(cls: type[Textbook]) -> Context:
    claims = Claims.of(cls())
    return Context(claims, claims.dialect, "float32", InProcess(cls()))


@functools.cache
def wrong_tokens(cls: type[Textbook]) -> list[tuple[Batch, int]]:
    """Single rows and n on which ``cls`` errs, with the token that shows it."""
    context = context_of(cls)
    found = []
    for row in ROWS:
        for n in (0.3, 0.5, 1.0, 1.1, 1.5, 2.0):
            batch = Batch(row[np.newaxis].view(np.uint32), "float32", (n,))
            findings = judge(batch, context.result(batch), context.dialect).findings
            found += [(batch, each.token) for each in findings if each.kind == "membership"]
    return found


@pytest.mark.parametrize("cls", OF_SIGMA, ids=lambda cls: cls.__name__)
def test_a_wrong_sigma_does_not_err_where_sigma_does_not_matter(cls: type[Textbook]) -> None:
    context = context_of(cls)
    for batch, token in [*wrong_tokens(cls), *wrong_tokens(wrong.VarianceForDeviation)]:
        assert not errs_without_sigma(context, batch, token)


@pytest.mark.parametrize("cls", OF_THRESHOLD, ids=lambda cls: cls.__name__)
def test_a_wrong_threshold_does(cls: type[Textbook]) -> None:
    found = wrong_tokens(cls)
    assert found
    context = context_of(cls)
    assert all(errs_without_sigma(context, batch, token) for batch, token in found)


@pytest.mark.parametrize(
    "cls",
    [cls for cls in right.ALL if "float32" in cls.dtypes],
    ids=lambda cls: cls.__name__,
)
def test_a_right_one_never_does(cls: type[Textbook]) -> None:
    context = context_of(cls)
    for row in ROWS[::4]:
        batch = Batch(row[np.newaxis].view(np.uint32), "float32", (1.0,))
        assert not errs_without_sigma(context, batch, 1)


@pytest.mark.parametrize("cls", [wrong.SurvivorsScaled, wrong.SurvivorsThroughFloat16])
def test_a_rewritten_survivor_below_the_row_is_not_called_masked(cls: type[Textbook]) -> None:
    # At a maximum of 0, which both leave as it is.
    row = np.array([[0.0, -3.3333, -0.5]], np.float32)
    batch = Batch(row.view(np.uint32), "float32", (3.0,))
    with pytest.raises(Violation) as caught:
        check_and_blame(context_of(cls), batch, "TNS-4", {"membership", "fill"})
    assert caught.value.rule == "TNS-6"


def test_an_answer_that_changes_is_not_repeatable() -> None:
    context = context_of(wrong.LastNUsed)
    row = np.array([[0.0, 1.0, 5.0, 2.0]], np.float32)
    batch = Batch(row.view(np.uint32), "float32", (2.0,))
    context.result(batch)
    with pytest.raises(Violation) as caught:
        check_and_blame(context, dataclasses.replace(batch, n=(0.1,)), "TNS-4", {"membership"})
    assert caught.value.rule == "TNS-11"
