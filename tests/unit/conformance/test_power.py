"""The measurement of the suite's power, and the page that it writes."""

from __future__ import annotations

import dataclasses

import pytest
from gallery import power, right, wrong, wrong_processes
from gallery.power import Caught, Cleared
from gallery.power_page import page
from gallery.textbook import Textbook

from topnsigma_conformance.checks import CHECKS

CAUGHT = Caught("BillionFill", "TNS-5", "", "TNS-5.fill", "TNS-5", "fail", 2, 3, ())


@pytest.fixture
def few_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    few = ("TNS-4.divisor", "TNS-4.one-token")
    monkeypatch.setattr(power, "CHECKS", {check: CHECKS[check] for check in few})


@pytest.mark.usefixtures("few_checks")
def test_a_wrong_sampler_is_caught_by_its_first_failing_check() -> None:
    caught = power.measure_wrong(wrong.PopulationDivisor, 2)
    assert (caught.check, caught.rule, caught.status) == ("TNS-4.divisor", "TNS-4", "fail")
    assert (caught.seeds, caught.escaped, caught.named) == (2, (), True)
    assert 2 <= caught.tokens <= 8


@pytest.mark.usefixtures("few_checks")
def test_one_that_fails_as_a_process_is_named_by_its_status() -> None:
    caught = power.measure_wrong(wrong_processes.RaisesKeyError, 1)
    assert (caught.check, caught.status, caught.named) == ("TNS-4.one-token", "error", True)


@pytest.mark.usefixtures("few_checks")
def test_one_that_is_not_caught_says_with_which_seeds() -> None:
    caught = power.measure_wrong(wrong.BillionFill, 3)
    assert dataclasses.replace(caught, seeds=0) == Caught(
        "BillionFill", "TNS-5", "", "", "", "", 0, 0, (1, 2, 3)
    )
    assert not caught.named


@pytest.mark.usefixtures("few_checks")
@pytest.mark.parametrize("cls", [right.TwoPassBinary64, wrong.OneTokenRowMasked])
def test_rows_of_right_ones_are_counted(cls: type[Textbook]) -> None:
    cleared = power.measure_right(cls, 1)
    assert [each.partition(":")[0] for each in cleared.blamed] == (
        [] if cls is right.TwoPassBinary64 else ["TNS-4.one-token"]
    )
    assert cleared.rows >= (100 if cls is right.TwoPassBinary64 else 60)


def test_the_page_says_what_was_measured() -> None:
    other = dataclasses.replace(CAUGHT, name="KeepsTwo", rule="TNS-4", tokens=9)
    escaped = dataclasses.replace(CAUGHT, name="AbsoluteValues", seeds=1, escaped=(2, 3))
    cleared = [
        Cleared("InPlace", 0, 4000, ()),
        Cleared("InPlace", 1, 4000, ("TNS-5.cut: it | is",)),
    ]
    text = page([CAUGHT, other, escaped], cleared, 3)
    assert "| wrong samplers caught, derandomised | 3 of 3 |" in text
    assert "(or as the crash or error they are), first | 2 of 3 |" in text
    assert "with every one of 3 random seeds | 2 of 3 |" in text
    assert "| the one caught least | 1 of 3 seeds |" in text
    assert "| shrunk to at most 8 tokens | 2 of 3 |" in text
    assert "| rows of theirs judged | 8,000 |" in text
    assert "| false alarms | 1 |" in text
    assert "| `BillionFill` | TNS-5 | masks with -1e9 |  | TNS-5.fill | 2 | 3 |" in text
    assert "KeepsTwo (TNS-4)" in text
    assert "Counterexamples of more than 8 tokens: KeepsTwo (9).\n" in text
    assert "AbsoluteValues: 2, 3." in text
    assert "| 2 | 8,000 | TNS-5.cut: it &#124; is |" in text
    assert all(f"`{cls.__name__}`" in text for cls in right.ALL)
