"""The page on the peers: what it says of reports, and that the one in docs is of these peers."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sample_reports
from gallery import wrong
from gallery.right import TwoPassFloat32
from peers.outside_domain import answers, shown, wanted
from peers.page import page
from peers.pinned import EXAMPLES, OURS, PEERS, VERSIONS
from peers.remarks import ABOUT, About, Place, Remark

from topnsigma_conformance import Report
from topnsigma_conformance.case import BAD_N
from topnsigma_conformance.shown_row import ShownRow

ROOT = Path(__file__).parents[3]
REMARK = Remark(
    kind="a fault",
    expected="That it is right.",
    seen="That it is wrong.",
    by_hand="One and one.",
    places=(Place("engine", "sampler.py", "sample"), Place("", "src/engine.cpp", "sample")),
    fix="Mend it.",
    concerns="Everybody.",
)


def named(report: Report, target: str, **fields: Any) -> Report:
    return dataclasses.replace(
        report, header=dataclasses.replace(report.header, target=target, **fields)
    )


def page_of(*reports: Report, examples: Sequence[Report] = ()) -> str:
    """A page on ``reports`` as those of peers, beside ``examples``."""
    about = {
        report.header.target: About("An Engine", "Its sampler.", "Its own.", remarks_on(report))
        for report in reports
    }
    return page([*examples, *reports], {}, {"engine": "1.2"}, about)


def remarks_on(report: Report) -> dict[str, Remark]:
    return {result.check: REMARK for result in report.failures}


def test_a_failure_is_shown_with_its_row_and_what_there_is_to_say() -> None:
    report = named(sample_reports.failing(), "engine", started="2026-02-03T04:05:06+00:00")
    count = len(report.failures)
    assert count > 1
    text = page_of(report)
    assert "Written by `tox -e peers` on 2026-02-03: suite" in text
    assert text.count("### An Engine: TNS-") == count
    assert "### An Engine: TNS-4.divisor\n" in text
    for said in ("That it is right.", "That it is wrong.", "One and one.", "Mend it.", "Everybody"):
        assert text.count(said) == count
    assert "*Where.* `sample` in `engine/sampler.py`, `sample` in `src/engine.cpp`." in text
    for result in report.failures:
        assert result.failure is not None
        assert f"```text\n{result.failure}\n```" in text
    assert "| TNS-4 | **✗** divisor |" in text
    assert "| engine | 1.2 |" in text


def test_rows_are_decimals_and_bits() -> None:
    report = named(sample_reports.failing(), "engine")
    (result,) = (each for each in report.failures if each.check == "TNS-4.divisor")
    failure = result.failure
    assert failure is not None
    assert failure.shown is not None
    case = '{"rows":[{"values":[0.0,1.0,2.0]},{"values":[0.5,-0.0,3.0]}],"n":[1.1,null]}'
    drawn = dataclasses.replace(
        failure.shown, tokens=(0, 1, 2), before="", after="ff800000ff80000040000000"
    )
    changed = dataclasses.replace(failure, case=case, row=0, shown=drawn)
    report = dataclasses.replace(report, results=(dataclasses.replace(result, failure=changed),))
    text = page_of(report)
    assert (
        "| 0 | 1.1 | 0.0, 1.0, 2.0 | 00000000, 3f800000, 40000000 | -inf, -inf, 2.0 |\n"
        "| 1 | None | 0.5, -0.0, 3.0 | 3f000000, 80000000, 40400000 |  |\n"
    ) in text


def test_of_a_long_row_the_token_is_shown() -> None:
    report = named(sample_reports.failing(), "engine")
    result = next(each for each in report.failures if each.check == "TNS-4.divisor")
    assert result.failure is not None
    changed = dataclasses.replace(
        result.failure,
        case='{"rows":[{"family":"one-outlier","size":50257,"seed":3}],"n":[1.0]}',
        row=0,
        token=1,
        logit=-3.5,
        logit_bits="0xc0600000",
        shown=ShownRow(
            (0, 1), before="c0400000c0600000", after="c0400000ff800000", allowed="KK", did="KD"
        ),
    )
    report = dataclasses.replace(report, results=(dataclasses.replace(result, failure=changed),))
    assert (
        "| 0 | 1.0 | 50,257 tokens of the family one-outlier, seed 3; token 1 is -3.5 | 0xc0600000"
        " | -inf |\n"
    ) in page_of(report)


def test_what_rfc_says_is_told_from_what_fails() -> None:
    failing, passing = sample_reports.failing(), sample_reports.passing()
    assert failing.rfc is not None
    check = failing.failures[0].check
    failing = dataclasses.replace(
        failing,
        rfc=dataclasses.replace(failing.rfc, conforms=False, failing=("TNS-3.neg-inf", check)),
    )
    text = page_of(
        named(failing, "one", started="2026-02-03T23:59:59+00:00"),
        named(passing, "two", started="2026-02-04T00:30:00+00:00"),
    )
    assert "Written by `tox -e peers` on 2026-02-04: suite" in text
    assert (
        "*RFC.* It does not meet RFC: its dialect is another one, which shows in TNS-3.neg-inf; and"
        " what fails below fails there too. "
    ) in " ".join(text.split())
    assert "**Does not conform.**" in text
    assert "**Conforms.**" in text


def test_every_failure_needs_a_remark_and_every_remark_a_failure() -> None:
    report = named(sample_reports.failing(), "engine")
    remarks = remarks_on(report)
    for wrong_ones in ({}, {**remarks, "TNS-5.fill": REMARK}):
        about = {"engine": About("An Engine", "Its sampler.", "Its own.", wrong_ones)}
        with pytest.raises(
            ValueError, match=r"^engine fails TNS-4\.divisor.*; there are remarks on"
        ):
            page([report], {}, {}, about)


def test_our_examples_are_no_verdict_on_anybody() -> None:
    peer = named(sample_reports.passing(), "engine")
    example = named(sample_reports.not_a_number(), "numpy:ours:wrong")
    text = page_of(peer, examples=[example])
    verdicts, _, examples = text.partition("## Adapters for what you bring")
    assert "ours:wrong" not in verdicts
    assert "| `numpy:ours:wrong` | no, as it should be | TNS-3.nan |" in examples
    assert "`engine`" not in examples
    assert "topnsigma-conformance run sglang:MODULE:CLASS\n" in examples


def test_answers_that_differ_are_a_table_and_refusals_a_list() -> None:
    reports = [named(sample_reports.passing(), target) for target in ("lax", "strict")]
    about = {target: About(target.title(), "", "") for target in ("lax", "strict")}
    outside = {
        "lax": {"zero": "left alone", "true": "refused"},
        "strict": {"zero": "refused", "true": "refused"},
    }
    text = page(reports, outside, {}, about)
    assert "| n | Lax |\n|---|---|\n| 0.0 | left alone |\n| True | refused |\n\n" in text
    assert "All of them are refused by:\n\n- Strict\n" in text


class Compares(TwoPassFloat32):
    """Refuses what is not > 0, and asks nothing before it compares."""

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        if any(entry <= 0 for entry in n):
            raise ValueError("n must be > 0")
        return super().apply(logits, n)


def test_what_comes_of_an_n_outside_of_the_domain() -> None:
    right = answers(TwoPassFloat32(), "gallery.right:TwoPassFloat32")
    assert right == dict.fromkeys(BAD_N, wanted("reject"))
    greedy = answers(wrong.AcceptsZero(), "gallery.wrong:AcceptsZero")
    assert greedy["zero"] == "keeps 1 of 4"
    assert greedy["minus one"] == "refused"
    as_one = answers(wrong.AcceptsBool(), "gallery.wrong:AcceptsBool")
    assert as_one["true"] == "keeps 2 of 4"
    off = answers(wrong.AcceptsNegative(), "gallery.wrong:AcceptsNegative")
    assert off["minus one"] == "left alone"
    assert answers(Compares(), "a:Compares")["string"] == "error"
    assert shown("zero") == "0.0"
    assert shown("10**400") == "10**400"


@pytest.fixture(scope="module")
def document() -> str:
    return (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")


def test_the_page_names_the_versions_that_tox_installs(document: str) -> None:
    pins = (ROOT / "tox.ini").read_text(encoding="utf-8")
    section = pins.partition("[testenv:peers]")[2].partition("\n[testenv:")[0]
    constraints = (ROOT / "tests" / "constraints.txt").read_text(encoding="utf-8")
    found = dict(re.findall(r"([a-z-]+)(?:\[cpu\])?==([0-9.]+)", section + constraints))
    assert found.items() >= VERSIONS.items()
    for package, version in found.items():
        # Triton comes with torch, and runs nothing here.
        if package != "triton":
            # What is pinned, in whichever build: 2.13.0+cpu is 2.13.0.
            line = rf"^\| {package} \| {re.escape(version)}(\+\w+)? \|$"
            assert re.search(line, document, re.MULTILINE), package


def test_the_page_has_the_failures_that_are_pinned(document: str) -> None:
    headings = re.findall(r"^### (.*): ((?:TNS|THM)-\S+)$", document, re.MULTILINE)
    pinned = {(ABOUT[each.target].title, check) for each in (*PEERS, *OURS) for check in each.fails}
    assert len(headings) == len(pinned)
    assert set(headings) == pinned
    for each in EXAMPLES:
        assert f"| `{each.target}` | {'no, as it should be' if each.fails else 'yes'} |" in document


def test_the_page_lets_every_failure_be_repeated(document: str) -> None:
    for each in PEERS:
        for check in each.fails:
            assert f"topnsigma-conformance run {each.target} --check {check} " in document
