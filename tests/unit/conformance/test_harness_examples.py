"""The harnesses of examples/harness: two in other languages that conform, and one that must not."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from toolchains import works

from topnsigma_conformance import RFC, check_implementation
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.cli import main
from topnsigma_conformance.harness import Harness

HARNESSES = Path(__file__).parents[3] / "examples" / "harness"

UNSEEN = {
    "its memory cannot be seen from outside of its process",
    "takes contiguous logits only",
}
"""Why a check may be unsupported, all of it true of every harness."""


def built(command: list[str], directory: Path) -> str:
    """The path of the harness that ``command``, with a path added, builds without a warning."""
    path = directory / "harness"
    finished = subprocess.run(
        [*command, "-o", path], capture_output=True, text=True, check=False, cwd=HARNESSES
    )
    assert finished.returncode == 0, finished.stderr
    return str(path)


@pytest.fixture(scope="session")
def c_harness(tmp_path_factory: pytest.TempPathFactory) -> str:
    assert works("cc"), "needs a C compiler: there is no cc that works"
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
    command = ["cc", "-std=c11", "-O2", *warnings, "c/top_n_sigma.c", "-lm"]
    return built(command, tmp_path_factory.mktemp("c"))


@pytest.fixture(scope="session")
def rust_harness(tmp_path_factory: pytest.TempPathFactory) -> str:
    if not works("rustc"):
        pytest.skip("needs rustc")
    command = ["rustc", "--edition", "2021", "-O", "-D", "warnings", "rust/top_n_sigma.rs"]
    return built(command, tmp_path_factory.mktemp("rust"))


@pytest.fixture
def wrong_harness() -> Harness:
    if not works("node"):
        pytest.skip("needs node")
    return Harness(["node", str(HARNESSES / "wrong.js")])


def assert_conforms(command: str, dtypes: tuple[str, ...]) -> None:
    """The whole suite in its quick profile, on every finite row."""
    harness = Harness([command])
    assert (harness.dialect, harness.dtypes, harness.extreme) == (RFC, dtypes, True)
    report = check_implementation(harness)
    report.raise_for_failures()
    assert {result.check for result in report.results} == set(CHECKS)
    for result in report.results:
        if result.status == "unsupported":
            assert result.detail in UNSEEN, result
        else:
            assert result.status == "pass", result


def test_the_one_in_c_conforms(c_harness: str) -> None:
    assert_conforms(c_harness, ("float32", "float16", "bfloat16"))


def test_the_one_in_rust_conforms(rust_harness: str) -> None:
    assert_conforms(rust_harness, ("float32",))


def test_fast_math_is_refused(tmp_path: Path) -> None:
    for option in ("-ffast-math", "-ffinite-math-only"):
        with pytest.raises(AssertionError, match="-ffast-math lets the compiler assume"):
            built(["cc", "-O2", option, "c/top_n_sigma.c", "-lm"], tmp_path)


def test_the_wrong_one_is_caught_by_the_rules_it_breaks(wrong_harness: Harness) -> None:
    report = check_implementation(wrong_harness, checks=["TNS-1.reject", "TNS-4.divisor"])
    greedy, divisor = (result.failure for result in report.failures)
    assert greedy is not None
    assert greedy.message == "n = [0.0] was accepted"
    assert divisor is not None
    assert "sigma=population" in divisor.matches
    assert report.explained_by == ()


def test_a_dialect_explains_one_half_of_it(wrong_harness: Harness) -> None:
    report = check_implementation(wrong_harness, checks=["TNS-4.divisor"])
    assert [result.check for result in report.failures] == ["TNS-4.divisor"]
    assert report.explained_by == ("sigma=population",)


def test_on_the_command_line(c_harness: str) -> None:
    result = CliRunner().invoke(main, ["run", "--exec", c_harness, "--check", "TNS-4.divisor"])
    assert result.exit_code == 0, result.output
    assert re.search(r"pass +TNS-4\.divisor", result.output)


def test_a_failure_can_be_repeated(wrong_harness: Harness) -> None:
    command = shlex.join(wrong_harness.command)
    result = CliRunner().invoke(main, ["run", "--exec", command, "--check", "TNS-4.divisor"])
    assert result.exit_code == 1, result.output
    lines = [line for line in result.output.splitlines() if line.startswith("  reproduce: ")]
    words = shlex.split(lines[0].removeprefix("  reproduce: "))
    assert words[2] == f"exec:{command}"
    again = CliRunner().invoke(main, words[1:])
    assert again.exit_code == 1, again.output
    assert lines[0] in again.output


@pytest.mark.parametrize(
    ("source", "command"),
    [
        ("c/top_n_sigma.c", "cc -O2 -o harness top_n_sigma.c -lm"),
        ("rust/top_n_sigma.rs", "rustc --edition 2021 -O -o harness top_n_sigma.rs"),
        ("wrong.js", "topnsigma-conformance run --exec 'node wrong.js'"),
    ],
)
def test_the_readme_says_how_to_run_it(source: str, command: str) -> None:
    readme = (HARNESSES / "README.md").read_text("utf-8")
    assert f"`{source}`" in readme
    assert f"\n{command}\n" in readme
    assert f"{command}\n" in (HARNESSES / source).read_text("utf-8")
