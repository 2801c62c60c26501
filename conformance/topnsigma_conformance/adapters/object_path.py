"""MODULE:NAME, and the object that it names."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any


def load_object(path: str) -> Any:
    """The object that ``MODULE:NAME`` names, importable from the current directory.

    Raises:
        ValueError: ``path`` is not of this form.
        ImportError: there is no such module, or no such name in it.
    """
    module_name, separator, name = path.partition(":")
    if not separator or not module_name or not name:
        raise ValueError(f"path must be MODULE:NAME; got {path!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    module = importlib.import_module(module_name)
    try:
        return getattr(module, name)
    except AttributeError as error:
        raise ImportError(str(error)) from error
