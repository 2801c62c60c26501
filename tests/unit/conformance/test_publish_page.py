"""The page as a file: what stands in it, and that nothing in a report can get out of its place.

What it does in a browser is for tests/browser.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html.parser
import json
import re
from typing import Any

import sample_reports

from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.publish.page import page
from topnsigma_reference import RULES


class Elements(html.parser.HTMLParser):
    """Elements of a page by name, with their attributes and the text directly in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        self.found.append((f"/{tag}", {}, []))

    def handle_data(self, data: str) -> None:
        if self.found:
            self.found[-1][2].append(data)

    def named(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, "".join(text)) for name, attributes, text in self.found if name == tag]


def everything() -> str:
    return page([sample() for sample in sample_reports.ALL])


def data_of(text: str) -> Any:
    ((_, data),) = [each for each in Elements(text).named("script") if each[0].get("id") == "data"]
    return json.loads(data)


def test_the_data_are_the_reports() -> None:
    data = data_of(everything())
    for sample, shown in zip(sample_reports.ALL, data["reports"], strict=True):
        title = shown.pop("title")
        assert title.startswith(sample().header.implementation)
        assert shown == json.loads(json.dumps(sample().to_dict()))
    assert data["checks"] == {check.id: check.title for check in CHECKS.values()}
    for rule in data["rules"]:
        assert (rule["title"], rule["text"]) == (
            RULES[rule["id"]].title,
            RULES[rule["id"]].statement,
        )


def test_nothing_in_a_report_ends_its_script_or_starts_another() -> None:
    text = everything()
    assert len(Elements(text).named("script")) == 2
    assert text.count("<script") == text.count("</script>") == 2
    assert "<!--" not in text
    assert (
        data_of(text)["reports"][5]["header"]["version"] == sample_reports.hostile().header.version
    )
    text.encode("utf-8")


def test_a_placeholder_in_a_report_is_no_placeholder() -> None:
    names = ("{{script}}", "{{data}}")
    text = page([dataclasses.replace(sample_reports.failing(), explained_by=names)])
    assert data_of(text)["reports"][0]["footer"]["explained_by"] == ["{{script}}", "{{data}}"]
    assert text.count("{{") == 2


def test_only_its_own_script_and_style_may_run() -> None:
    elements = Elements(everything())
    (policy,) = (
        attributes["content"] or ""
        for attributes, _ in elements.named("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none';")
    (script,) = (text for attributes, text in elements.named("script") if "id" not in attributes)
    ((_, style),) = elements.named("style")
    for kind, text in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_it_needs_nothing_beside_it() -> None:
    elements = Elements(everything())
    for _, attributes, _ in elements.found:
        for name in ("src", "href", "srcset", "action"):
            value = attributes.get(name)
            assert value is None or value.startswith("#") or value == "data:,"
    ((_, style),) = elements.named("style")
    assert not re.search(r"@import|url\(", style)


def test_it_can_be_read_aloud_and_on_a_phone() -> None:
    elements = Elements(everything())
    ((attributes, _),) = elements.named("html")
    assert attributes["lang"] == "en"
    names = {each["name"]: each["content"] for each, _ in elements.named("meta") if "name" in each}
    assert names["viewport"] == "width=device-width, initial-scale=1"
    assert names["color-scheme"] == "light dark"
    assert len(elements.named("h1")) == len(elements.named("main")) == 1
    assert len(elements.named("caption")) == len(elements.named("table"))
