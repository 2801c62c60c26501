"""``explain``: every rule with its faults, its checks and an example that is true."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.cli import main
from topnsigma_conformance.faults import FAULTS
from topnsigma_conformance.rule_examples import example_of
from topnsigma_conformance.rule_page import find_subject
from topnsigma_reference import RFC, RULES, Dialect, Keep, classify, parse_n, top_n_sigma

ROW = np.array([10, 8, 6, 6, 5], np.float32)


def explain(name: str) -> str:
    """What the command prints."""
    result = CliRunner().invoke(main, ["explain", name])
    assert result.exit_code == 0, result.output
    return str(result.output)


def example(rule: str) -> str:
    """The example at the end of the page."""
    return explain(rule).split("\nExample\n")[1]


def drawn_rows(text: str) -> list[tuple[str, np.ndarray, str]]:
    """(label, row, remark) of each line of ``text`` that holds a row of logits."""
    # The numbers of the tokens, above the rows, are no logits: they have no point.
    number = r"-?(?:\d+\.\d+|inf)|nan"
    lines = re.findall(rf"^ (.+?)   +((?:(?:{number})(?: +|$))+)(.*?) *$", text, re.MULTILINE)
    return [(label, np.array(row.split(), np.float32), remark) for label, row, remark in lines]


def number_lines(text: str) -> list[list[tuple[str, str, str]]]:
    """(logit, fate, what is allowed) of each token of each number line in ``text``."""
    line = re.compile(r"^ *(\d+) +(\S+) .* (kept|masked) +(MUST_KEEP|MUST_DROP|MAY, tight|MAY) *$")
    drawn: list[list[tuple[str, str, str]]] = []
    for match in filter(None, map(line.match, text.splitlines())):
        token, *rest = match.groups()
        if token == "0":
            drawn.append([])
        assert int(token) == len(drawn[-1])
        drawn[-1].append((rest[0], rest[1], rest[2]))
    return drawn


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_an_example_that_fits_the_terminal(rule: str) -> None:
    text = explain(rule)
    assert len(example(rule).split()) > 10
    assert max(cell_len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "\x1b" not in text
    assert "…" not in example(rule)
    assert explain(rule.lower()) == text


def test_there_is_no_example_of_something_else() -> None:
    with pytest.raises(KeyError):
        example_of("TNS-0")


@pytest.mark.parametrize("rule", RULES)
def test_a_page_names_the_faults_that_break_the_rule(rule: str) -> None:
    words = explain(rule).split()
    text = " ".join(words)
    for fault in FAULTS.values():
        assert (fault.name in words) == (fault.rule == rule)
        if fault.rule == rule:
            assert fault.summary in text
            assert fault.seen in text


@pytest.mark.parametrize("name", ["PopulationDivisor", "populationdivisor"])
def test_a_fault_is_explained_with_its_rule(name: str) -> None:
    text = explain(name)
    fault = FAULTS["PopulationDivisor"]
    first, second, _ = text.split("\n", 2)
    assert first == "Fault PopulationDivisor, breaks TNS-4"
    assert second.startswith(fault.summary)
    assert text.endswith(explain("TNS-4"))


def test_a_check_is_explained_with_its_rule() -> None:
    text = explain("tns-5.CUT")
    assert text.startswith(f"Check TNS-5.cut\n{CHECKS['TNS-5.cut'].title}\n")
    assert text.endswith(explain("TNS-5"))


def test_every_check_and_every_fault_is_found() -> None:
    for check in CHECKS.values():
        subject = find_subject(check.id)
        assert (subject.rule, subject.check) == (RULES[check.rule], check)
    for fault in FAULTS.values():
        subject = find_subject(fault.name.upper())
        assert (subject.rule, subject.fault) == (RULES[fault.rule], fault)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("TNS-99", "TNS-9"),
        ("TNS-5.odd", "TNS-5"),
        ("PopulationDiviser", "PopulationDivisor?"),
        ("", None),
    ],
)
def test_what_is_unknown_is_a_usage_error_that_says_what_is_known(
    name: str, meant: str | None
) -> None:
    result = CliRunner().invoke(main, ["explain", name])
    assert result.exit_code == 2
    output = " ".join(result.output.split())
    assert f"unknown rule {name}; known: {', '.join(RULES)}, their checks" in output
    assert ("did you mean" in output) == (meant is not None)
    assert meant is None or f"did you mean {meant}" in output


@pytest.mark.parametrize(
    ("rule", "n", "dialects"),
    [
        ("TNS-4", 1.1, [RFC, Dialect(sigma="population")]),
        ("TNS-5", 1.0, [RFC, Dialect(boundary="drop")]),
        ("TNS-7", 1e-30, [RFC]),
        ("TNS-9", 1.0, [RFC]),
    ],
)
def test_number_lines_say_what_the_reference_says(
    rule: str, n: float, dialects: list[Dialect]
) -> None:
    text = example(rule)
    drawn = number_lines(text)
    assert len(drawn) == len(dialects)
    for tokens, dialect in zip(drawn, dialects, strict=True):
        row = np.array([logit for logit, _, _ in tokens], np.float32)
        verdict = classify(row, n, dialect)
        assert f"t = {verdict.cut:.9g}" in text
        assert [fate == "kept" for _, fate, _ in tokens] == verdict.keep.tolist()
        codes = [allowed.split(",")[0] for _, _, allowed in tokens]
        assert codes == [Keep(code).name for code in verdict.codes]


def test_the_example_of_the_divisor_tells_the_divisors_apart() -> None:
    sample, population = number_lines(example("TNS-4"))
    assert sample != population


def test_the_example_of_the_threshold_has_tokens_on_it_and_on_both_sides() -> None:
    keep, drop = number_lines(example("TNS-5"))
    assert {allowed for _, _, allowed in keep} == {"MUST_KEEP", "MAY, tight", "MUST_DROP"}
    (on,) = [token for token, (_, _, allowed) in enumerate(keep) if allowed == "MAY, tight"]
    assert float(keep[on][0]) == classify(ROW, 1.0).cut
    assert (keep[on][1], drop[on][1]) == ("kept", "masked")


def test_the_example_of_accuracy_has_a_token_in_each_zone() -> None:
    text = example("TNS-9")
    (tokens,) = number_lines(text)
    fates = [(allowed, fate) for _, fate, allowed in tokens]
    assert set(fates) == {
        ("MUST_KEEP", "kept"),
        ("MAY", "kept"),
        ("MAY, tight", "kept"),
        ("MAY, tight", "masked"),
        ("MAY", "masked"),
        ("MUST_DROP", "masked"),
    }
    assert re.search(r"MUST_DROP *\| *MAY *\| *tight *\| *MAY *\| *MUST_KEEP", text)
    verdict = classify(np.array([logit for logit, _, _ in tokens], np.float32), 1.0)
    for interval in (verdict.accept, verdict.tight):
        assert interval is not None
        ends = (str(np.float32(end)) for end in (interval.lower, interval.upper))
        assert f"[{', '.join(ends)}]" in text


def test_the_example_of_the_maximum_rounds_the_threshold_to_it() -> None:
    (tokens,) = number_lines(example("TNS-7"))
    logits = [np.float32(logit) for logit, _, _ in tokens]
    cut = classify(np.array(logits), 1e-30).cut
    assert cut is not None
    assert np.float32(cut) == max(logits)
    kept = [logit for logit, (_, fate, _) in zip(logits, tokens, strict=True) if fate == "kept"]
    assert len(kept) > 1
    assert set(kept) == {max(logits)}


def test_the_example_of_the_domain_says_what_is_accepted() -> None:
    lines = re.findall(
        r"^ (.*?) +(accepted|rejected|disabled) +(accepted|disabled) *$",
        example("TNS-1"),
        re.MULTILINE,
    )
    assert len(lines) >= 12
    for text, *outcomes in lines:
        n = eval(text, {"nan": np.nan, "inf": np.inf, "Fraction": Fraction})
        for outcome, dialect in zip(outcomes, (RFC, Dialect(invalid_n="disable")), strict=True):
            try:
                exact = parse_n(n, dialect)
            except ValueError:
                assert outcome == "rejected"
            else:
                assert outcome == ("disabled" if exact is None else "accepted")
    assert {outcome for _, outcome, _ in lines} == {"accepted", "rejected", "disabled"}


def test_the_example_of_non_finite_rows() -> None:
    rows = drawn_rows(example("TNS-3"))
    assert len(rows) == 6
    for index, (label, row, remark) in enumerate(rows):
        before = np.append(ROW, np.float32((np.nan, np.inf, -np.inf)[index // 2]))
        dialect = Dialect.parse(label)
        np.testing.assert_array_equal(row, top_n_sigma(before, 1.0, dialect))
        unchanged = classify(before, 1.0, dialect).unchanged
        assert (remark == "left alone (TNS-3)") == unchanged
    assert [remark for _, _, remark in rows].count("t = 8.0") == 1


@pytest.mark.parametrize(("rule", "n"), [("TNS-2", None), ("TNS-6", 1.0)])
def test_examples_in_bits(rule: str, n: float | None) -> None:
    found = re.findall(r"0x([0-9a-f]{8}).*0x([0-9a-f]{8}) +(same|other)", example(rule))
    before, after = (
        np.array([int(line[side], 16) for line in found], np.uint32) for side in (0, 1)
    )
    exact = top_n_sigma(before.view(np.float32), n).view(np.uint32)
    np.testing.assert_array_equal(after, exact)
    assert [line[2] == "same" for line in found] == (before == after).tolist()
    assert 0x80000000 in before
    assert (before == after).all() == (n is None)


def test_the_example_of_independent_rows() -> None:
    text = example("TNS-8")
    rows = {label: row for label, row, _ in drawn_rows(text)}
    np.testing.assert_array_equal(rows["alone"], top_n_sigma(ROW, 1.0))
    np.testing.assert_array_equal(rows["alone"], rows["batch, row 1"])
    assert "Row 1 has the bits that it has alone." in text


def test_the_example_of_tensors_and_of_repeatability() -> None:
    text = example("TNS-10")
    assert re.search(r"shape +\[2, 5\] +\[2, 5\]", text)
    assert re.search(r"dtype +float16 +float16", text)
    assert "Input as it was: yes." in text
    calls = re.findall(r"call \d +(.*?) *$", example("TNS-11"), re.MULTILINE)
    exact = " ".join(f"{bits:08x}" for bits in top_n_sigma(ROW, 1.0).view(np.uint32))
    assert calls == [exact] * 3


def test_the_examples_of_theorems() -> None:
    for label, row, remark in drawn_rows(example("THM-1")):
        scaled = (ROW * np.float32(label.split()[1])).astype(np.float32)
        np.testing.assert_array_equal(row, top_n_sigma(scaled, 1.0))
        assert remark == f"t = {classify(scaled, 1.0).cut}"
        assert (row > -np.inf).tolist() == [True, True, False, False, False]

    kept = []
    for label, row, _ in drawn_rows(example("THM-2")):
        np.testing.assert_array_equal(row, top_n_sigma(ROW, float(label.split("=")[1])))
        kept.append(set(np.flatnonzero(row > -np.inf)))
    assert len(kept) == 4
    assert all(few < many for few, many in itertools.pairwise(kept))

    before, once, twice = (row for _, row, _ in drawn_rows(example("THM-3")))
    np.testing.assert_array_equal(once, top_n_sigma(before, 1.0))
    np.testing.assert_array_equal(twice, once)
    assert not np.array_equal(before, once)

    _, after, _, back = (row for _, row, _ in drawn_rows(example("THM-4")))
    np.testing.assert_array_equal(after, back[::-1])
    np.testing.assert_array_equal(after, top_n_sigma(ROW, 1.0))

    before, kept_row, *others = (row for _, row, _ in drawn_rows(example("THM-5")))
    np.testing.assert_array_equal(kept_row, top_n_sigma(before, 2.0))
    assert len(others) == 2
    for row in others:
        assert set(np.flatnonzero(row > -np.inf)) < set(np.flatnonzero(kept_row > -np.inf))
