"""What tests of several subjects need: the packages as wheels, and a pytest of its own."""

import os
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


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A pytest in a process of its own, which finds what tests import and no options of this run.

    For modules with ``pytest_plugins = ["pytester"]``.
    """
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"), prepend=os.pathsep)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    # Set by xdist in its workers; the inner run is not one.
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID"):
        monkeypatch.delenv(name, raising=False)
    return pytester
