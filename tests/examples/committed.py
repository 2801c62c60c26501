"""What is committed under docs/: figures, and the pages that show them."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def figures(name: str) -> Any:
    """The JSON that a script has written."""
    return json.loads((DOCS / "evidence" / name).read_text(encoding="utf-8"))
