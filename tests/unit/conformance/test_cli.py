"""The command line: exit statuses, what it prints, and lines that can be pasted."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from gallery.right import TwoPassFloat32

from topnsigma_conformance import check_implementation
from topnsigma_conformance.adapters import ADAPTERS
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.cli import _conforms, main
from topnsigma_reference import RULES

RIGHT, WRONG = "gallery.right:TwoPassFloat32", "gallery.wrong:PopulationDivisor"
ONE = '{"rows":[{"values":[1]}],"n":[1]}'
FEW = ("--check", "TNS-4.divisor", "--check", "TNS-4.one-token")


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_list() -> None:
    result = invoke("list")
    assert result.exit_code == 0
    for name in (*ADAPTERS, *CHECKS):
        assert name in result.output


@pytest.mark.parametrize("rule", [*RULES, "TNS-5.boundary"])
def test_explain(rule: str) -> None:
    result = invoke("explain", rule)
    assert result.exit_code == 0
    known = RULES[rule.split(".")[0]]
    text = " ".join(result.output.split())
    assert f"{known.id}: {known.title}" in text
    assert known.statement in text
    assert known.rationale in text
    for check in CHECKS.values():
        assert (check.id in result.output) == (check.rule == known.id)


def test_explain_an_unknown_rule() -> None:
    result = invoke("explain", "TNS-99")
    assert result.exit_code == 2
    assert "unknown rule TNS-99; known: TNS-1," in result.output


@pytest.mark.parametrize(("targets", "status"), [((RIGHT,), 0), ((WRONG,), 1), ((RIGHT, WRONG), 1)])
def test_exit_status(targets: tuple[str, ...], status: int) -> None:
    result = invoke("run", *targets, *FEW)
    assert result.exit_code == status, result.output
    assert "own" in result.output


def test_a_run_that_was_meant_to_be_whole_has_to_be() -> None:
    report = check_implementation(TwoPassFloat32(), checks=["TNS-4.one-token"])
    assert _conforms(report, partial=True)
    assert not _conforms(report, partial=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run",), "Missing argument"),
        (("run", "nobody"), "target must be MODULE:CLASS or one of processor, llama.cpp"),
        (("run", "gallery.nowhere:Odd"), "cannot load gallery.nowhere:Odd: No module named"),
        (("run", "gallery.right:Odd"), "cannot load gallery.right:Odd"),
        (("run", "json:loads"), "json:loads is not a subclass of"),
        (("run", "gallery.unruly:RaisesAtConstruction"), "no such library"),
        (("run", RIGHT, "--device", "tpu"), "device must be one of cpu for TwoPassFloat32"),
        (("run", RIGHT, "--check", "TNS-5.odd"), "unknown check TNS-5.odd"),
        (("run", RIGHT, "--profile", "odd"), "'odd' is not one of"),
        (("run", RIGHT, "--seed", "odd"), "--seed takes a number or 'random'; got 'odd'"),
        (("run", RIGHT, "--dialect", "sigma=odd"), "sigma must be one of sample, population"),
        (("run", RIGHT, "--dialect", "odd"), "a dialect is RFC or a list of FIELD=VALUE"),
        (("run", RIGHT, "--case", "{}"), "--case needs exactly one --check"),
        (("run", RIGHT, *FEW, "--case", "{}"), "--case needs exactly one --check"),
        (("run", RIGHT, *FEW[:2], "--case", "{}"), "not a case"),
        (
            (
                "run",
                RIGHT,
                *FEW[:2],
                "--dtype",
                "odd",
                "--case",
                '{"rows":[{"values":[1]}],"n":[1]}',
            ),
            "dtype must be one of float32; got 'odd'",
        ),
    ],
)
def test_usage(arguments: tuple[str, ...], message: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.replace("│", " ").split())


def reproduce_line(output: str) -> list[str]:
    (line,) = re.findall(r"reproduce: topnsigma-conformance (.*)", output)
    return shlex.split(line)


@pytest.mark.parametrize(
    ("target", "check"),
    [
        (WRONG, "TNS-4.divisor"),
        ("gallery.wrong:NaNPayloadCanonicalised", "TNS-3.nan"),
        ("gallery.wrong:AcceptsString", "TNS-1.reject"),
        ("gallery.wrong:OnePassFloat32", "TNS-9.core"),
        ("gallery.wrong:StridesIgnored", "TNS-8.layout"),
        ("gallery.wrong:GreaterForGreaterEqual", "TNS-5.boundary"),
    ],
)
def test_the_line_that_a_failure_prints_shows_it_again(target: str, check: str) -> None:
    first = invoke("run", target, "--check", check)
    arguments = reproduce_line(first.output)
    again = invoke(*arguments)
    assert again.exit_code == 1
    assert reproduce_line(again.output) == arguments
    failure = re.compile(r"^TNS.*?reproduce", re.DOTALL | re.MULTILINE)
    assert failure.findall(again.output) == failure.findall(first.output)
    # The same case is no failure of a sampler that is right.
    arguments[1] = RIGHT
    assert invoke(*arguments).exit_code == 0


def test_the_line_keeps_the_dialect() -> None:
    first = invoke("run", RIGHT, "--dialect", "sigma=population", "--check", "TNS-4.divisor")
    assert first.exit_code == 1
    arguments = reproduce_line(first.output)
    assert arguments[arguments.index("--dialect") + 1] == "sigma=population"
    assert invoke(*arguments).exit_code == 1


def test_a_random_seed_says_how_to_repeat_it() -> None:
    first = invoke("run", WRONG, "--seed", "random", *FEW)
    (seed,) = re.findall(r"repeat with --seed (\d+)", first.output)
    again = invoke("run", WRONG, "--seed", seed, *FEW)
    assert reproduce_line(again.output) == reproduce_line(first.output)
    assert "repeat with" not in again.output


def test_report(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    invoke("run", RIGHT, WRONG, *FEW, "--report", path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kinds = ["header", "result", "result", "footer"]
    assert [line["kind"] for line in lines] == kinds * 2
    assert [line["implementation"] for line in lines[::4]] == [
        "TwoPassFloat32",
        "PopulationDivisor",
    ]


def test_the_dialect_that_fits_is_named() -> None:
    result = invoke("run", WRONG, *FEW)
    assert "all failures fit the dialect sigma=population" in result.output


def test_what_fails_under_rfc_is_listed() -> None:
    result = invoke("run", WRONG, "--dialect", "sigma=population", *FEW)
    assert result.exit_code == 0
    assert "under RFC these fail: TNS-4.divisor" in result.output


def test_as_a_process(tmp_path: Path) -> None:
    tests = str(Path(__file__).parents[2])
    script = Path(sys.executable).with_name("topnsigma-conformance")
    assert script.exists()
    environment = os.environ | {"PYTHONPATH": tests}
    for target, status in ((RIGHT, 0), (WRONG, 1), ("nobody", 2)):
        done = subprocess.run(
            [str(script), "run", target, "--isolate", *FEW],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_a_class_in_the_current_directory_can_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "from gallery.right import TwoPassFloat32\nclass Mine(TwoPassFloat32): pass\n"
    (tmp_path / "somebodys_sampler.py").write_text(module, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    result = invoke("run", "somebodys_sampler:Mine", *FEW)
    assert result.exit_code == 0
    assert "Mine" in result.output
