"""SPEC.md says what the package says: rules word for word, dialects, and a true worked example."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from topnsigma_reference import DIALECT_CHOICES, RULES, SPEC_VERSION

SPEC = (Path(__file__).parents[3] / "reference" / "SPEC.md").read_text(encoding="utf-8")
IDS = [*(f"TNS-{number}" for number in range(1, 12)), *(f"THM-{number}" for number in range(1, 6))]
SECTIONS: dict[str, str] = dict(
    re.findall(r"^### ((?:TNS|THM)-\d+ [^\n]+)\n(.*?)(?=^#{2,3} |\Z)", SPEC, flags=re.M | re.S)
)


def words(text: str) -> str:
    return " ".join(text.split())


def quoted(body: str) -> str:
    return words(" ".join(re.findall(r"^> ?(.*)$", body, flags=re.M)))


def paragraph(body: str, label: str) -> str:
    found = re.search(rf"^\*{label}\*\s(.*?)(?=\n\n)", body + "\n\n", flags=re.M | re.S)
    assert found, f"no paragraph {label}"
    return words(found[1])


def test_version() -> None:
    assert SPEC.splitlines()[0] == f"# Top-nσ truncation, spec {SPEC_VERSION}"


def test_rules_and_sections_are_the_same_in_the_same_order() -> None:
    assert list(RULES) == IDS
    assert list(SECTIONS) == [f"{rule.id} {rule.title}" for rule in RULES.values()]
    assert [rule.id for rule in RULES.values()] == IDS


@pytest.mark.parametrize("rule_id", IDS)
def test_statement_and_rationale_word_for_word(rule_id: str) -> None:
    rule = RULES[rule_id]
    body = SECTIONS[f"{rule.id} {rule.title}"]
    assert quoted(body) == rule.statement
    assert paragraph(body, r"Rationale\.").startswith(rule.rationale)


@pytest.mark.parametrize("rule_id", IDS)
def test_each_rule_names_its_own_checks(rule_id: str) -> None:
    body = SECTIONS[f"{rule_id} {RULES[rule_id].title}"]
    enforced = paragraph(body, "Enforced by:")
    checks = re.findall(r"(?:TNS|THM)-\d+\.[a-z-]+(?=[,.;)]|$)", enforced.split(". (")[0])
    assert checks
    assert all(check.startswith(f"{rule_id}.") for check in checks)
    assert len(set(checks)) == len(checks)


@pytest.mark.parametrize("rule_id", [rule for rule in IDS if rule.startswith("TNS")])
def test_each_rule_says_what_the_paper_the_rfc_and_the_field_do(rule_id: str) -> None:
    body = SECTIONS[f"{rule_id} {RULES[rule_id].title}"]
    assert "*Paper, RFC and field.*" in body or (
        "*Paper and RFC.*" in body and "*In the field.*" in body
    )


def test_each_theorem_has_a_proof() -> None:
    for rule_id in IDS[11:]:
        assert "*Proof.*" in SECTIONS[f"{rule_id} {RULES[rule_id].title}"]


def test_every_rule_that_is_mentioned_exists() -> None:
    assert set(re.findall(r"(?:TNS|THM)-\d+", SPEC)) == set(IDS)


def test_the_table_of_dialects_lists_every_field_and_value() -> None:
    table: dict[str, list[str]] = {}
    for field, value in re.findall(r"^\| (?:`(\w+)` )?\| `([^`]+)` \|", SPEC, flags=re.M):
        table.setdefault(field or list(table)[-1], []).append(value)
    assert table == {field: list(values) for field, values in DIALECT_CHOICES.items()}


def test_the_worked_example_is_true() -> None:
    examples = doctest.DocTestParser().get_doctest(SPEC, {}, "SPEC.md", "SPEC.md", 0)
    assert len(examples.examples) >= 15
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_examples_in_the_text_are_those_that_other_tests_compute() -> None:
    # test_dialects computes these; here only that the text still gives the same ones.
    text = words(SPEC)
    for example in (
        "exclude, [10, 8, 6, 6, 5] at n = 1 keeps 10 and 8, then 10",
        "zero, [0, -2, -3] at n = 1.5 keeps 0 and -2, then 0",
        "[0, L/64, L/32, L, L, L] at n = 0.029 keeps 0 and L/64, then 0",
    ):
        assert example in text
