"""Reports as one HTML page that needs nothing beside it, and no network."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import json
from collections.abc import Sequence
from typing import Any

from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.publish.rule_order import rules_of
from topnsigma_conformance.publish.title import titles
from topnsigma_conformance.report import Report
from topnsigma_reference import RULES

_SCRIPTS = ("row_drawing.js", "result_card.js", "page.js")


def page(reports: Sequence[Report]) -> str:
    """The page: a matrix of implementations by rules, and every result with its counterexample.

    Script and style are allowed by their hashes alone, and everything that comes from a report is
    data to them: nothing that an implementation calls itself or prints is run.
    """
    style = _packaged("page.css")
    script = "\n".join(_packaged(name) for name in _SCRIPTS)
    text = _packaged("page.html")
    for name, value in (
        ("style-hash", _hash(style)),
        ("script-hash", _hash(script)),
        ("style", style),
        ("script", script),
        # Last: what it holds is not looked at again.
        ("data", _embedded(_data(reports))),
    ):
        text = text.replace(f"{{{{{name}}}}}", value)
    return text


def _data(reports: Sequence[Report]) -> dict[str, Any]:
    rules = [
        {
            "id": rule,
            "title": known.title if known else "",
            "text": known.statement if known else "",
        }
        for rule in rules_of(reports)
        for known in (RULES.get(rule),)
    ]
    return {
        "rules": rules,
        "checks": {check.id: check.title for check in CHECKS.values()},
        "reports": [
            {"title": title, **report.to_dict()}
            for report, title in zip(reports, titles(reports), strict=True)
        ],
    }


def _embedded(data: dict[str, Any]) -> str:
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    # In a script element "</" and "<!--" mean something even inside of a string.
    return text.replace("<", "\\u003c")


def _packaged(name: str) -> str:
    folder = importlib.resources.files("topnsigma_conformance.publish")
    return (folder / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
