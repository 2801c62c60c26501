"""One module of a peer, without the rest of its package."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any


def load_module(
    package: str, file: str, stand_ins: Mapping[str, Mapping[str, Any]] | None = None
) -> Any:
    """The module in ``file`` of an installed ``package``, neither of which is imported otherwise.

    Args:
        package: top-level name.
        file: inside its folder.
        stand_ins: module name to its contents: what the file imports and does not need, there
            while it is imported.

    Raises:
        ImportError: the package is not installed, or has no such file.
    """
    spec = importlib.util.find_spec(package)
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    paths = [path for folder in folders if (path := Path(folder) / file).is_file()]
    if not paths:
        raise ImportError(f"no {file} of {package} is installed")
    name = f"_{package}_{paths[0].stem}"
    found = importlib.util.spec_from_file_location(name, paths[0])
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    with _present(stand_ins or {}):
        found.loader.exec_module(module)
    return module


@contextlib.contextmanager
def _present(stand_ins: Mapping[str, Mapping[str, Any]]) -> Iterator[None]:
    before = {name: sys.modules.get(name) for name in stand_ins}
    for name, contents in stand_ins.items():
        module = ModuleType(name)
        vars(module).update(contents)
        sys.modules[name] = module
    try:
        yield
    finally:
        for name, module_before in before.items():
            if module_before is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module_before
