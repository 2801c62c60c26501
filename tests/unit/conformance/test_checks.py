"""The list of checks: complete, in the order of the rules, and the one that SPEC.md prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from topnsigma_conformance.checks import CHECKS
from topnsigma_reference import RULES

SPEC = (Path(__file__).parents[3] / "reference" / "SPEC.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", RULES)
def test_spec_names_exactly_the_checks_that_there_are(rule: str) -> None:
    section = re.search(rf"^### {rule} .*?(?=^##|\Z)", SPEC, flags=re.MULTILINE | re.DOTALL)
    assert section is not None
    enforced = re.search(r"\*Enforced by:\*\s(.*?)\n\n", section[0] + "\n\n", flags=re.DOTALL)
    assert enforced is not None
    # What follows in parentheses is a remark on them.
    listed = re.findall(r"(?:TNS|THM)-\d+\.[a-z-]*[a-z]", re.sub(r"\([^)]*\)", "", enforced[1]))
    assert listed == [check.id for check in CHECKS.values() if check.rule == rule]


def test_every_rule_has_a_check_and_every_check_a_rule_in_the_same_order() -> None:
    assert list(dict.fromkeys(check.rule for check in CHECKS.values())) == list(RULES)


def test_ids_are_keys_and_titles_are_told_apart() -> None:
    assert all(key == check.id for key, check in CHECKS.items())
    assert all(re.fullmatch(r"(TNS|THM)-\d+\.[a-z]+(-[a-z]+)*", key) for key in CHECKS)
    assert len({check.title for check in CHECKS.values()}) == len(CHECKS)
