"""What the repository promises about itself: commands, layout, independence of the packages."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("reference", "conformance", "processor")


def _imports(package: str) -> dict[Path, set[str]]:
    """Per module of a package the top-level names that it imports, anywhere in it."""
    found = {}
    for path in sorted((ROOT / package / f"topnsigma_{package}").rglob("*.py")):
        names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.split(".")[0])
        found[path] = names
    assert found
    return found


def test_ci_runs_the_test_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^python -m pip install tox && tox.*$", readme, re.MULTILINE)
    assert commands == [
        "python -m pip install tox && tox -e conformance",
        "python -m pip install tox && tox",
    ]
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1] == commands[1]


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [
        ("reference", {"topnsigma_conformance", "topnsigma_processor", "torch", "hypothesis"}),
        ("processor", {"topnsigma_conformance", "topnsigma_reference", "numpy"}),
        ("conformance", {"topnsigma_processor", "xllamacpp"}),
    ],
)
def test_packages_are_independent(package: str, forbidden: set[str]) -> None:
    for path, names in _imports(package).items():
        # An adapter drives its peer; that is what it is for.
        allowed = {path.stem, f"topnsigma_{path.stem}"} if path.parent.name == "adapters" else set()
        assert not names & (forbidden - allowed), path


def test_modules_can_be_read_in_one_sitting() -> None:
    for package in PACKAGES:
        for path in _imports(package):
            assert len(path.read_text(encoding="utf-8").splitlines()) <= 320, path


@pytest.mark.parametrize("package", PACKAGES)
def test_version_is_the_one_in_the_changelog(package: str) -> None:
    version = importlib.import_module(f"topnsigma_{package}").__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"`topnsigma-{package}` {version}" in changelog
