"""The parts of a Markdown page that a script writes, between two comments that readers don't see.

<!-- NAME: written by examples/SCRIPT.py -->
...
<!-- end of NAME -->
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path


def fill(page: Path, blocks: Mapping[str, str]) -> None:
    """Put each text between the comments that bear its name, and leave the rest of the page alone.

    Raises ValueError where ``page`` has no such pair of comments, or has it twice.
    """
    text = page.read_text(encoding="utf-8")
    for name, block in blocks.items():
        before, _, after = _parts(page.name, text, name)
        text = f"{before}\n\n{block.strip()}\n\n{after}"
    page.write_text(text, encoding="utf-8")


def read(page: Path, name: str) -> str:
    """What stands between the comments of that name; ValueError as ``fill`` raises it."""
    return _parts(page.name, page.read_text(encoding="utf-8"), name)[1].strip()


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: bool = True) -> str:
    """A Markdown table of cells as ``str`` shows them.

    ``numbers`` says that all cells but the first of a row are numbers, which stand to the right.
    """
    others = "--:|" if numbers else "---|"
    lines = [f"| {' | '.join(columns)} |", "|---|" + others * (len(columns) - 1)]
    for row in rows:
        # A bar would end the cell, also within backquotes, and a line break the table.
        cells = [str(cell).replace("|", r"\|").replace("\n", "⏎") for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _parts(page: str, text: str, name: str) -> tuple[str, str, str]:
    opening, closing = rf"<!-- {re.escape(name)}: [^\n]*-->", f"<!-- end of {re.escape(name)} -->"
    found = re.fullmatch(rf"(.*?{opening})(.*?)({closing}.*)", text, re.DOTALL)
    if found is None or len(re.findall(f"{opening}|{closing}", text)) != 2:
        raise ValueError(f"{page} must have one pair of comments named {name!r}")
    before, between, after = found.groups()
    return before, between, after
