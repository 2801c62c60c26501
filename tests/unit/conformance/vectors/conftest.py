"""One export of the frozen vectors for all tests of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import run_vectors

from topnsigma_conformance.vectors.export import MANIFEST, export


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of vectors; not to be changed."""
    directory = tmp_path_factory.mktemp("vectors")
    export(directory)
    return directory


@pytest.fixture(scope="session")
def everything(exported: Path) -> list[dict[str, Any]]:
    """Every vector, in the order of the manifest."""
    files = json.loads((exported / MANIFEST).read_bytes())["files"]
    return [
        vector
        for file in files
        for vector in json.loads((exported / file["name"]).read_bytes()).get("vectors", ())
    ]


@pytest.fixture(scope="session")
def own(exported: Path) -> list[dict[str, Any]]:
    """The vectors that the samplers of the gallery can take, but for those of other dialects."""
    return list(run_vectors.load(exported, "RFC", "float32", extreme=True))
