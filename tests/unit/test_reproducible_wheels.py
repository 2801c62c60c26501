"""What users install: what it needs and holds, and that anybody can build the same bytes."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("reference", "conformance", "processor")

EPOCH = 1_700_000_000
"""When the copied sources were changed: not when those of the repository were."""

SUFFIXES = {".py", ".typed", ".json", ".html", ".css", ".js"}
"""Of files that belong into a package."""

each_package = pytest.mark.parametrize("package", PACKAGES)


def documented_requirements() -> dict[str, set[str]]:
    """Of SECURITY.md: package to its requirements, as METADATA has them."""
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {package: set() for package in PACKAGES}
    for package, requirement, extra, reason in re.findall(
        r"^\| `topnsigma-(\w+)` \| `([^`]+)` \|(?: with `\[(\w+)\]`:)? (.+) \|$", text, re.MULTILINE
    ):
        assert reason.strip()
        found[package].add(requirement + (f"; extra == '{extra}'" if extra else ""))
    return found


def in_order(requirement: str) -> str:
    """``requirement`` with its bounds in one order, whatever order was written down."""
    name, bounds, rest = re.fullmatch(r"([\w.-]+)([^;]*)(.*)", requirement).groups()  # type: ignore[union-attr]
    return name + ",".join(sorted(bounds.split(","))) + rest


def metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


@each_package
def test_requirements_are_those_of_the_table_and_no_others(
    package: str, wheels: dict[str, Path]
) -> None:
    found = metadata(wheels[package]).get_all("Requires-Dist") or []
    wanted = documented_requirements()[package]
    assert wanted
    assert sorted(map(in_order, found)) == sorted(map(in_order, wanted))


def test_the_reference_needs_numpy_alone(wheels: dict[str, Path]) -> None:
    found = metadata(wheels["reference"]).get_all("Requires-Dist")
    assert found is not None
    assert [re.split(r"[<>=]", each)[0] for each in found] == ["numpy"]


@each_package
def test_each_requirement_is_a_range(package: str) -> None:
    text = (ROOT / package / "pyproject.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    project = data["project"]
    requirements = [*project["dependencies"], *data["build-system"]["requires"]]
    for extra in project.get("optional-dependencies", {}).values():
        requirements += extra
    for requirement in requirements:
        # A lower end, and no single version: that would be a pin on users.
        assert re.search(">=", requirement), requirement
        assert not re.search("==|@|~=", requirement), requirement


def sources(package: str) -> set[str]:
    """Files of a package's folder that are under version control."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    folder = ROOT / package
    listed = subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True)
    return {
        name
        for name in listed.stdout.split("\0")
        if name.startswith(f"topnsigma_{package}/") and (folder / name).exists()
    }


@each_package
def test_a_wheel_holds_the_sources_the_licence_and_nothing_else(
    package: str, wheels: dict[str, Path]
) -> None:
    with zipfile.ZipFile(wheels[package]) as archive:
        names = set(archive.namelist())
        (licence,) = (name for name in names if name.endswith("/licenses/LICENSE"))
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
    described = {name for name in names if ".dist-info/" in name}
    kept = {name.partition(".dist-info/")[2] for name in described}
    assert kept - {"entry_points.txt"} == {"METADATA", "WHEEL", "RECORD", "licenses/LICENSE"}
    assert names - described == sources(package)
    assert {Path(name).suffix for name in names - described} <= SUFFIXES
    assert metadata(wheels[package])["License-Expression"] == "Apache-2.0"


@pytest.fixture(scope="module", params=PACKAGES)
def rebuilt(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    """A package, and a folder with what was built of a copy of it elsewhere, otherwise."""
    package: str = request.param
    folder = tmp_path_factory.mktemp("elsewhere") / "a folder"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist")
    shutil.copytree(ROOT / package, folder, ignore=ignored, copy_function=shutil.copyfile)
    for path in folder.rglob("*"):
        os.utime(path, (EPOCH, EPOCH))
        path.chmod(0o700 if path.is_dir() else 0o600)
    # What work leaves behind, and tests.
    cache = folder / f"topnsigma_{package}" / "__pycache__"
    cache.mkdir()
    (cache / "left.cpython-311.pyc").write_bytes(b"left")
    (folder / "tests").mkdir()
    (folder / "tests" / "test_left.py").write_text("left", "utf-8")
    (folder / ".hypothesis").mkdir()
    (folder / ".hypothesis" / "left").write_text("left", "utf-8")
    (folder / ".gitignore").write_text((ROOT / ".gitignore").read_text("utf-8"), "utf-8")
    out = folder.parent / "out"
    environment = {**os.environ, "LC_ALL": "C", "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "7"}
    command = [sys.executable, "-m", "build", "--outdir", str(out), str(folder)]
    built = subprocess.run(
        command, env=environment, umask=0o077, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return package, out


def looks(entry: zipfile.ZipInfo) -> tuple[object, ...]:
    return entry.filename, entry.date_time, oct(entry.external_attr >> 16), entry.CRC


def test_a_wheel_is_the_same_bytes_wherever_and_whenever_it_is_built(
    rebuilt: tuple[str, Path], wheels: dict[str, Path]
) -> None:
    package, out = rebuilt
    (wheel,) = out.glob("*.whl")
    assert wheel.name == wheels[package].name
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(wheels[package]) as other:
        # First what says more than that the bytes differ.
        assert [looks(entry) for entry in one.infolist()] == [
            looks(entry) for entry in other.infolist()
        ]
    assert wheel.read_bytes() == wheels[package].read_bytes()


def test_a_source_distribution_holds_what_builds_the_wheel_and_nothing_else(
    rebuilt: tuple[str, Path],
) -> None:
    package, out = rebuilt
    (path,) = out.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        members = archive.getmembers()
    assert all(member.isfile() for member in members)
    assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {
        (0, 0, "", "")
    }
    names = {member.name.partition("/")[2] for member in members}
    readme = "SPEC.md" if package == "reference" else "README.md"
    beside = {readme, "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore"}
    assert names == sources(package) | beside


@each_package
def test_each_package_brings_the_licence_of_the_repository(package: str) -> None:
    licence = ROOT / package / "LICENSE"
    assert licence.read_bytes() == (ROOT / "LICENSE").read_bytes()
