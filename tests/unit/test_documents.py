"""Links in the documents lead somewhere: files, pictures, and headings as GitHub names them."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("", "conformance", "docs", "examples", "examples/harness", "processor", "reference")
DOCUMENTS = sorted(page for folder in FOLDERS for page in (ROOT / folder).glob("*.md"))

_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:href|src|srcset)=\"([^\"]+)\"")


def links(text: str) -> list[str]:
    """The targets in a document, without those that only look like one."""
    prose = _CODE.sub("code", _FENCED.sub("", text))
    return [markdown or html for markdown, html in _LINK.findall(prose)]


def anchors(text: str) -> set[str]:
    """What GitHub makes of the headings of a document."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#{1,6} +(.+?)(?: +#+)? *$", _FENCED.sub("", text), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    found = []
    for link in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        there = target.exists() and target.is_relative_to(ROOT)
        if not there or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            found.append(link)
    return found


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_every_page_and_picture_of_docs_is_linked() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in DOCUMENTS
        for link in links(page.read_text(encoding="utf-8"))
    }
    index = ROOT / "docs" / "README.md"
    from_index = {
        (index.parent / link.partition("#")[0]).resolve()
        for link in links(index.read_text(encoding="utf-8"))
    }
    assert {*(ROOT / "docs").glob("*.md")} - from_index == {index}
    assert {*(ROOT / "docs" / "images").iterdir()} <= linked


def test_tests_that_a_page_names_in_words_are_there() -> None:
    page = (ROOT / "docs" / "composition.md").read_text(encoding="utf-8")
    named = re.findall(r"\(\.\./(tests/engine/test_\w+\.py)\)(?::([^|)`\[]+))?", page)
    assert len(named) > 20
    described = 0
    for path, phrases in named:
        source = (ROOT / path).read_text(encoding="utf-8").lower()
        for phrase in filter(None, map(str.strip, phrases.split(";"))):
            name = "_".join(phrase.replace(",", "").lower().split())
            assert f"def test_{name}(" in source, phrase
            described += 1
    assert described > 10


def test_what_counts_as_a_link_and_as_an_anchor(tmp_path: Path) -> None:
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    other.write_text("# A bias of -100\n\n## What σ says, `x`\n\n## Twice\n\n## Twice\n", "utf-8")
    assert anchors(other.read_text("utf-8")) == {
        "a-bias-of--100",
        "what-σ-says-x",
        "twice",
        "twice-1",
    }
    good = "(other.md#a-bias-of--100) [b](other.md#twice-1) [web](https://example.org/#x)"
    page.write_text(
        f"# Title\n[two\nlines]{good} [own](#title) `[no](link)`\n```\n[no](link)\n```\n", "utf-8"
    )
    assert [link.partition(".md")[2] for link in links(page.read_text("utf-8"))] == [
        "#a-bias-of--100",
        "#twice-1",
        "",
        "",
    ]
    bad = ["missing.md", "other.md#missing", "#missing", "images/missing.png"]
    page.write_text(
        "".join(f"[x]({link})\n" for link in bad[:3]) + f'<img src="{bad[3]}">\n', "utf-8"
    )
    assert sorted(links(page.read_text("utf-8"))) == sorted(bad)


@pytest.mark.parametrize(
    "bad", ["missing.md", "../docs/README.md#missing", "#missing", "/etc/passwd"]
)
def test_a_broken_link_is_found(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs" / "README.md"
    read = Path.read_text

    def with_one_more(self: Path, *arguments: str, **options: str) -> str:
        text = read(self, *arguments, **options)
        return f"{text}\n[x]({bad})\n" if self == page else text

    assert broken(page) == []
    monkeypatch.setattr(Path, "read_text", with_one_more)
    assert broken(page) == [bad]
