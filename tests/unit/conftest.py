"""The packages as wheels, built once a run."""

import sys
from pathlib import Path

import pytest
from fresh_environment import output_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folder of a package to its wheel."""
    out = tmp_path_factory.mktemp("wheels")
    packages = ("reference", "conformance", "processor")
    for package in packages:
        build = ("-m", "build", "--wheel", "--outdir", out / package, ROOT / package)
        output_of(sys.executable, *build)
    return {package: next((out / package).glob("*.whl")) for package in packages}
