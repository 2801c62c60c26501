"""The README's ways in, files and commands as they stand there, from wheels, on a fresh machine."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fresh_environment import FreshEnvironment

from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.publish.collection import read_reports

README = (Path(__file__).parents[3] / "conformance" / "README.md").read_text("utf-8")

FILES: dict[str, str] = dict(
    re.findall(r"`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
)
"""Name to text of each file that the README has somebody write."""

_WAYS_IN = README[README.index("## Three ways in") : README.index("### In another language")]

COMMANDS = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```$", _WAYS_IN, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]

Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def environment(
    tmp_path_factory: pytest.TempPathFactory, wheels: dict[str, Path]
) -> FreshEnvironment:
    made = FreshEnvironment(tmp_path_factory.mktemp("ways") / "env")
    suite = f"{wheels['conformance']}[pytest]"
    made.install(wheels["reference"], suite, "pytest-randomly", "pytest-xdist", "pyyaml", "tox")
    return made


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """An empty directory, but for the README's files."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def shell(environment: FreshEnvironment, here: Path) -> Shell:
    def run(line: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        finished = environment.shell(line, here)
        assert finished.returncode == status, finished.stdout
        return finished

    return run


def break_it(here: Path) -> None:
    """Give the sampler the population's divisor."""
    sampler = here / "sampler.py"
    text = sampler.read_text("utf-8")
    assert "ddof=min(1, " in text
    sampler.write_text(text.replace("ddof=min(1, ", "ddof=min(0, "), encoding="utf-8")


def test_the_files_are_complete_and_short() -> None:
    assert list(FILES) == [
        "sampler.py",
        "mine.py",
        "test_mine.py",
        "check_mine.py",
        ".github/workflows/top-n-sigma.yml",
        "tox.ini",
    ]
    for name, text in FILES.items():
        if name.endswith(".py"):
            assert len(text.splitlines()) <= 12, name
            compile(text, name, "exec")


def test_every_command_of_the_readme_is_tried_here() -> None:
    assert COMMANDS == [
        "topnsigma-conformance run mine:Mine",
        "topnsigma-conformance run mine:Mine --check TNS-4.divisor --check TNS-9.core",
        "pytest test_mine.py",
        "pytest test_mine.py -n 2",
        "pytest --pyargs topnsigma_conformance.suite --tns-implementation mine:Mine -k TNS-4",
        "python check_mine.py",
    ]


def test_on_the_command_line(shell: Shell, here: Path) -> None:
    whole, some = COMMANDS[:2]
    output = shell(whole).stdout
    assert re.search(rf"mine +{len(CHECKS)}/{len(CHECKS)} .* 0 +yes +yes", output), output
    assert shell(some).stdout.count("   pass TNS-") == 2
    break_it(here)
    output = shell(some, status=1).stdout
    assert "all failures fit the dialect sigma=population" in output
    again, *_ = re.findall(r"reproduce: (.*)", output)
    assert again in shell(again, status=1).stdout


def test_in_a_pytest_run_of_ones_own(shell: Shell, here: Path) -> None:
    plain, parallel, without_a_file = COMMANDS[2:5]
    # In two processes, and in the order that pytest-randomly makes up.
    output = shell(parallel).stdout
    assert "Using --randomly-seed=" in output
    assert re.search(rf"\b{len(CHECKS) - 1} passed, 1 skipped", output), output
    assert re.search(r"\b5 passed, 33 deselected", shell(f"{plain} -k TNS-4").stdout)
    assert re.search(r"\b5 passed, 33 deselected", shell(without_a_file).stdout)
    break_it(here)
    for command in (f"{plain} -k TNS-4", f"{parallel} -k TNS-4", without_a_file):
        output = shell(command, status=1).stdout
        assert re.search(r"\b2 failed, 3 passed", output), output
        assert "reproduce: topnsigma-conformance run mine:Mine --check TNS-4.divisor" in output


def test_as_a_function_call(shell: Shell) -> None:
    assert shell(COMMANDS[5]).stdout == "conforms: True\n"


@pytest.fixture
def workflow(environment: FreshEnvironment) -> Any:
    """The job, as a parser of YAML sees it."""
    # Strings for everything: YAML 1.1 takes the key "on" for a truth value.
    code = "import json, sys, yaml; print(json.dumps(yaml.load(sys.argv[1], yaml.BaseLoader)))"
    text = FILES[".github/workflows/top-n-sigma.yml"]
    parsed = subprocess.run(
        [environment.python, "-c", code, text], capture_output=True, text=True, check=True
    )
    return json.loads(parsed.stdout)


def requirements(text: str) -> list[str]:
    return re.findall(r"topnsigma-\w+ @ git\+https://[^\s\"]+", text.replace("\\#", "#"))


def test_the_job_reports_also_when_the_check_fails(workflow: Any, shell: Shell, here: Path) -> None:
    assert set(workflow) == {"name", "on", "permissions", "jobs"}
    (job,) = workflow["jobs"].values()
    install, check, publish = (step for step in job["steps"] if "run" in step)
    uses = [step["uses"].split("@")[0] for step in job["steps"] if "uses" in step]
    assert uses == ["actions/checkout", "actions/setup-python", "actions/upload-artifact"]
    # The same as for tox, where they are installed.
    assert requirements(install["run"]) == requirements(FILES["tox.ini"]) != []
    upload = job["steps"][-1]
    for step in (publish, upload):
        assert step["if"] == "always()"
    (here / "sampler.py").write_text(
        "def top_n_sigma(logits, n): raise RuntimeError('not built')\n"
    )
    shell(check["run"], status=1)
    shell(publish["run"], status=1)
    uploaded = {path.name for path in here.glob(upload["with"]["path"])}
    assert uploaded == {"report.jsonl", "report.html"}
    (report,) = read_reports([here / "report.jsonl"])
    assert report.complete
    assert "RuntimeError: not built" in str(report.failures[0].failure)


def test_the_environment_of_tox(shell: Shell, here: Path, wheels: dict[str, Path]) -> None:
    path = here / "tox.ini"
    text = path.read_text("utf-8")
    address = "git+https://HOST/OWNER/REPOSITORY@COMMIT"
    for package in ("reference", "conformance"):
        requirement = f"topnsigma-{package} @ "
        assert requirement + address in text
        text = text.replace(requirement + address, requirement + wheels[package].as_uri())
    path.write_text(text, encoding="utf-8")
    (command,) = re.findall(r"`(tox -e top-n-sigma -- .*?)`", README)
    output = shell(command).stdout
    for package in ("reference", "conformance"):
        # What follows a # that is not escaped is a comment to tox.
        assert f"{wheels[package].as_uri()}#subdirectory={package}'" in output
    break_it(here)
    shell(command, status=1)
    made = here / ".tox" / "top-n-sigma" / "tmp"
    (report,) = read_reports([made / "report.jsonl"])
    assert [result.status for result in report.results] == ["fail"]
    assert "TNS-4.divisor" in (made / "report.html").read_text("utf-8")
