"""Blocks between comments: found by name, replaced whole, and never guessed."""

from pathlib import Path

import marked_blocks
import pytest

PAGE = """# Title

<!-- one: written by a script -->

old

<!-- end of one -->

Between.

<!-- one more: written by a script -->
<!-- end of one more -->
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_a_block_is_replaced_and_the_rest_stays(page: Path) -> None:
    marked_blocks.fill(page, {"one": "new\nlines", "one more": "σ\n"})
    assert page.read_text(encoding="utf-8") == (
        PAGE.replace("old", "new\nlines").replace(
            "-->\n<!-- end of one more", "-->\n\nσ\n\n<!-- end of one more"
        )
    )
    assert marked_blocks.read(page, "one") == "new\nlines"
    assert marked_blocks.read(page, "one more") == "σ"


def test_to_fill_it_again_changes_nothing(page: Path) -> None:
    blocks = {"one": "| a |\n|---|\n| \\| |", "one more": r"\1"}
    marked_blocks.fill(page, blocks)
    once = page.read_bytes()
    marked_blocks.fill(page, blocks)
    assert page.read_bytes() == once
    assert marked_blocks.read(page, "one more") == r"\1"


@pytest.mark.parametrize(
    "spoilt",
    [
        PAGE.replace("<!-- end of one -->", ""),
        PAGE.replace("<!-- one: written by a script -->", ""),
        PAGE.replace("<!-- one: written by a script -->", "<!-- end of one -->"),
        PAGE + PAGE,
    ],
)
def test_a_page_without_one_pair_is_refused_and_left_alone(page: Path, spoilt: str) -> None:
    page.write_text(spoilt, encoding="utf-8")
    with pytest.raises(ValueError, match=r"page\.md must have one pair of comments named 'one'"):
        marked_blocks.fill(page, {"one": "new"})
    with pytest.raises(ValueError, match="'one'"):
        marked_blocks.read(page, "one")
    assert page.read_text(encoding="utf-8") == spoilt


def test_cells_can_hold_bars_and_line_breaks() -> None:
    assert marked_blocks.table(("a", "b"), [("`x|y`", 1), ("two\nlines", 2.5)]) == (
        "| a | b |\n|---|--:|\n| `x\\|y` | 1 |\n| two⏎lines | 2.5 |"
    )
