"""Every table that a script writes into a page is the one of the committed figures."""

from collections.abc import Callable
from typing import Any

import bans_and_penalties
import choosing_n
import claims
import marked_blocks
import pytest
import small_vocabularies

from examples import committed

BLOCKS: dict[str, Callable[[Any], dict[str, dict[str, str]]]] = {
    "choosing-n.json": choosing_n.blocks,
    "bans-and-penalties.json": lambda found: {
        "when-not-to-use-it.md": bans_and_penalties.blocks(found)
    },
    "small-vocabularies.json": lambda found: {
        "when-not-to-use-it.md": {"small vocabularies": small_vocabularies.block(found)}
    },
}
"""File of figures to a function from its content to page, name and text of blocks."""


def evidence() -> dict[str, str]:
    """The blocks of the page that shows several files."""
    return claims.blocks(claims.load(committed.DOCS / "evidence"))


def test_evidence_shows_the_committed_figures() -> None:
    for name, text in evidence().items():
        assert marked_blocks.read(committed.DOCS / "evidence.md", name) == text.strip(), name


@pytest.mark.parametrize("file", BLOCKS)
def test_pages_show_the_committed_figures(file: str) -> None:
    for page, texts in BLOCKS[file](committed.figures(file)).items():
        for name, text in texts.items():
            assert marked_blocks.read(committed.DOCS / page, name) == text.strip(), name


def test_no_block_is_written_by_nobody() -> None:
    known = {
        (page, name)
        for file, blocks in BLOCKS.items()
        for page, texts in blocks(committed.figures(file)).items()
        for name in texts
    } | {("evidence.md", name) for name in evidence()}
    found = {
        (page.name, line.removeprefix("<!-- end of ").removesuffix(" -->"))
        for page in committed.DOCS.glob("*.md")
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("<!-- end of ")
    }
    assert found == known
