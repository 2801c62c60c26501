"""TARGET: how an implementation is named, and how it is loaded."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from topnsigma_conformance.adapters import ADAPTERS
from topnsigma_conformance.implementation import Implementation


class TargetError(Exception):
    """The target cannot be loaded; the message says what was asked for and why it failed."""


def load_class(target: str) -> type[Implementation]:
    """The :class:`Implementation` subclass that ``target`` names.

    Args:
        target: an adapter's name, or ``MODULE:CLASS``, importable from the current directory.

    Raises:
        TargetError: there is no such adapter, module or class, or it is not an Implementation.
    """
    path = ADAPTERS[target].path if target in ADAPTERS else target
    module_name, separator, class_name = path.partition(":")
    if not separator or not module_name or not class_name:
        raise TargetError(
            f"target must be MODULE:CLASS or one of {', '.join(ADAPTERS)}; got {target!r}"
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        loaded = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError) as error:
        raise TargetError(f"cannot load {target}: {error}") from error
    if not (isinstance(loaded, type) and issubclass(loaded, Implementation)):
        raise TargetError(f"{target} is not a subclass of topnsigma_conformance.Implementation")
    return loaded


def load(target: str, device: str | None = None) -> Implementation:
    """Construct the implementation that ``target`` names, for ``device``.

    Raises:
        TargetError: it cannot be loaded or constructed.
    """
    loaded = load_class(target)
    try:
        return loaded(device)
    except Exception as error:
        raise TargetError(f"cannot construct {target}: {error}") from error


def target_of(implementation: Implementation) -> str:
    """The ``MODULE:CLASS`` or adapter name under which this object's class can be loaded."""
    cls = type(implementation)
    path = f"{cls.__module__}:{cls.__qualname__}"
    return next((name for name, adapter in ADAPTERS.items() if adapter.path == path), path)
