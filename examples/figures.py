"""The figures that scripts commit to ``docs/evidence``, as JSON."""

import json
from pathlib import Path
from typing import Any


def write(docs: Path, name: str, found: Any) -> Path:
    """Write ``found`` to ``docs``/evidence/NAME.json and return the path.

    Raises TypeError for what JSON does not know.
    """
    path = docs / "evidence" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
