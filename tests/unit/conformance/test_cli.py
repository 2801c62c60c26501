"""The command line: exit statuses, what it prints, and lines that can be pasted."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import sample_reports
from click.testing import CliRunner, Result
from gallery.right import TwoPassFloat32

from topnsigma_conformance import KnownFailure, check_implementation
from topnsigma_conformance.adapters import ADAPTERS
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.cli import main
from topnsigma_conformance.publish.collection import read_reports
from topnsigma_conformance.run_command import _conforms
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


@pytest.mark.parametrize("rule", [*RULES, "TNS-5.boundary", "thm-1"])
def test_explain(rule: str) -> None:
    result = invoke("explain", rule)
    assert result.exit_code == 0
    known = RULES[rule.split(".")[0].upper()]
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


@pytest.mark.parametrize("in_place", [False, True])
def test_functions(in_place: bool) -> None:
    function = "peers.functions:in_numpy" + ("_in_place" if in_place else "")
    checks = ("--check", "TNS-4.divisor", "--check", "TNS-10.in-place")
    arguments = ("run", "--callable", function, *checks)
    assert invoke(*arguments, *(("--in-place",) if in_place else ())).exit_code == 0
    # The other way round it is not as declared.
    assert invoke(*arguments, *(() if in_place else ("--in-place",))).exit_code == 1


def test_a_run_that_was_meant_to_be_whole_has_to_be() -> None:
    report = check_implementation(TwoPassFloat32(), checks=["TNS-4.one-token"])
    assert _conforms(report, partial=True)
    assert not _conforms(report, partial=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run",), "name a TARGET, or give --exec or --callable"),
        (("run", "--exec", "no-such-program"), "cannot start 'no-such-program'"),
        (("run", "--exec", "false"), "died with exit status 1"),
        (("run", "--exec", ""), "command"),
        (("run", "--exec", "false", "--device", "cuda"), "device must not be given for a harness"),
        (("run", "--callable", "peers.functions"), "cannot construct numpy:peers.functions"),
        (("run", "nobody"), "target must be MODULE:CLASS or one of processor, llama.cpp"),
        (("run", "gallery.nowhere:Odd"), "cannot load gallery.nowhere:Odd: No module named"),
        (("run", "gallery.right:Odd"), "cannot load gallery.right:Odd"),
        (("run", "json:loads"), "json:loads is not a subclass of"),
        (("run", "gallery.unruly:RaisesAtConstruction"), "no such library"),
        (("run", RIGHT, "--device", "tpu"), "device must be one of cpu for TwoPassFloat32"),
        (("run", RIGHT, "--check", "TNS-5.odd"), "unknown check TNS-5.odd"),
        (("run", RIGHT, "--profile", "odd"), "'odd' is not one of"),
        (("run", RIGHT, "--timeout", "0"), "0 is not a finite number of seconds > 0."),
        (("run", RIGHT, "--timeout", "nan"), "nan is not a finite number of seconds > 0."),
        (("run", RIGHT, "--timeout", "inf"), "inf is not a finite number of seconds > 0."),
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
        (
            ("run", RIGHT, *FEW[:2], "--case", '{"rows":[{"hex":"3c004000","size":2}],"n":[1]}'),
            "hex must hold 8 digits a token in float32; got 4",
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
        ("gallery.wrong:BillionFill", "TNS-5.fill"),
        ("gallery.wrong:NaNPayloadCanonicalised", "TNS-3.nan"),
        ("gallery.wrong:AcceptsString", "TNS-1.reject"),
        ("gallery.wrong:OnePassVariance", "TNS-9.core"),
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
    assert failure.findall(again.output) == failure.findall(first.output) != []
    # The same case is no failure of a sampler that is right.
    arguments[1] = RIGHT
    assert invoke(*arguments).exit_code == 0


def test_the_line_holds_the_bits_of_short_rows() -> None:
    output = invoke("run", WRONG, "--check", "TNS-4.divisor").output
    arguments = reproduce_line(output)
    case = json.loads(arguments[arguments.index("--case") + 1])
    (row,) = case["rows"]
    (bits,) = re.findall(r"logit .* \(0x([0-9a-f]{8})\)", output)
    (token,) = re.findall(r"token (\d+) of", output)
    assert set(row) == {"hex"}
    assert row["hex"][8 * int(token) :].startswith(bits)
    assert "\n  matches sigma=population\n" in output
    # Without the token at fault the case is another one.
    case["rows"] = [{"hex": "3f800000" * 2}]
    arguments[arguments.index("--case") + 1] = json.dumps(case)
    assert invoke(*arguments).exit_code == 0


def test_the_failure_in_the_readme_is_a_real_one() -> None:
    readme = Path(__file__).parents[3] / "conformance" / "README.md"
    (message,) = re.findall(r"```text\n(TNS-.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL)
    arguments = reproduce_line(message)
    arguments[1] = WRONG
    output = invoke(*arguments).output
    assert message.replace("mine:Mine", WRONG) in output


def test_the_line_keeps_isolation() -> None:
    assert "--isolate" not in reproduce_line(invoke("run", WRONG, *FEW).output)
    tests = str(Path(__file__).parents[2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", tests, prepend=os.pathsep)
        assert "--isolate" in reproduce_line(invoke("run", WRONG, *FEW, "--isolate").output)


def test_the_line_keeps_the_dialect() -> None:
    first = invoke("run", RIGHT, "--dialect", "sigma=population", "--check", "TNS-4.divisor")
    assert first.exit_code == 1
    arguments = reproduce_line(first.output)
    assert arguments[arguments.index("--dialect") + 1] == "sigma=population"
    assert invoke(*arguments).exit_code == 1


def test_the_timeout_is_that_of_a_call() -> None:
    # No process starts in a millisecond.
    result = invoke("run", RIGHT, "--isolate", "--timeout", "0.001", *FEW)
    assert result.exit_code == 1
    assert "no answer within 0.001 s" in result.output


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


STOPPED = "sample_reports:Stopped"
SOME = ("--check", "TNS-4.one-token", "--check", "TNS-4.divisor")


def test_ctrl_c_leaves_a_partial_report(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    result = invoke("run", RIGHT, STOPPED, WRONG, *SOME, "--report", path)
    assert result.exit_code == 130
    assert "interrupted: these results are partial" in result.output
    # Neither the one that was stopped nor the one before it has all checks; the last never started.
    assert result.output.count(" partial ") == 2
    whole, cut = read_reports([path])
    assert (whole.header.implementation, whole.interrupted, len(whole.results)) == (
        "TwoPassFloat32",
        False,
        2,
    )
    assert (cut.header.implementation, cut.interrupted, cut.complete) == ("Stopped", True, False)
    assert [each.check for each in cut.results] == ["TNS-4.one-token"]
    footer = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
    assert (footer["interrupted"], footer["complete"]) == (True, False)
    assert invoke("summary", path).exit_code == 1


def test_ctrl_c_before_anything_was_found() -> None:
    result = invoke("run", STOPPED, "--check", "TNS-4.divisor")
    assert result.exit_code == 130
    assert f"0/{len(CHECKS)}" in result.output


def test_a_soak_run_ends_with_ctrl_c(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    result = invoke("run", STOPPED, *SOME, "--profile", "soak", "--seed", "3", "--report", path)
    assert result.exit_code == 0
    assert "stopped; every round before this one conformed" in result.output
    assert [report.interrupted for report in read_reports([path])] == [True]
    result = invoke("run", "sample_reports:StoppedAfterAFailure", *SOME, "--profile", "soak")
    assert result.exit_code == 1


def test_a_signal_from_the_terminal_stops_both_processes(tmp_path: Path) -> None:
    """As a terminal sends it: to the command and to the process of the implementation."""
    script = Path(sys.executable).with_name("topnsigma-conformance")
    report = tmp_path / "report.jsonl"
    process = subprocess.Popen(
        [str(script), "run", RIGHT, "--isolate", "--report", str(report)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        start_new_session=True,
        # What starts tests in the background may have told them to ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    assert "TNS-1" in process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    output = process.stdout.read()
    assert process.wait(60) == 130
    assert "interrupted: these results are partial" in output
    (partial,) = read_reports([report])
    assert partial.interrupted
    assert not partial.failures
    assert 0 < len(partial.results) < len(CHECKS)


def test_a_waiver_that_expired_is_named_beside_the_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    waiver = KnownFailure("masks with -1e9", "#12", "1999-12-31")
    monkeypatch.setattr(sample_reports.Expired, "known_failures", {"TNS-5.fill": waiver})
    output = invoke("run", "sample_reports:Expired", "--check", "TNS-5.fill").output
    assert "waiver expired on 1999-12-31: masks with -1e9 (#12)" in output
    assert "reproduce: topnsigma-conformance run" in output


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
