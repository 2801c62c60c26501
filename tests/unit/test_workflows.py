"""What the workflows of CI may do, and that what they run is there."""

import configparser
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from bench.__main__ import _write
from bench.benchmark_ids import OURS, YARDSTICK
from bench.benchmark_run import Run
from bench.cases import Case

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
NAMES = ("gpu.yml", "nightly.yml", "tests.yml")

TOX = re.compile(r"(?<![\w.-])tox(?= |$)(?! &&)(?: -e (?P<environments>[\w,-]+))?")
"""A call of tox, not the argument of pip."""

each_workflow = pytest.mark.parametrize("name", NAMES)


def workflow(name: str) -> dict[Any, Any]:
    loaded = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def triggers(name: str) -> set[str]:
    # YAML 1.1, which PyYAML reads, takes the key "on" for a boolean.
    found = workflow(name)[True]
    assert isinstance(found, dict)
    return set(found)


def jobs(name: str) -> list[dict[str, Any]]:
    found = list(workflow(name)["jobs"].values())
    assert found
    return found


def steps(name: str) -> Iterator[dict[str, Any]]:
    for job in jobs(name):
        yield from job["steps"]


def calls(step: dict[str, Any]) -> list[re.Match[str]]:
    """The calls of tox in a step."""
    return list(TOX.finditer(step.get("run", "")))


def test_no_workflow_is_left_out() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == list(NAMES)


@each_workflow
def test_environments_that_are_run_are_in_tox_ini(name: str) -> None:
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    for job in jobs(name):
        found = [call for step in job["steps"] for call in calls(step)]
        assert len(found) == 1, "one call of tox a job"
        if found[0]["environments"] is not None:
            for environment in found[0]["environments"].split(","):
                assert tox.has_section(f"testenv:{environment}"), environment


def test_what_is_run_for_every_push_is_the_test_command_of_the_readme() -> None:
    (command,) = (step["run"] for step in steps("tests.yml") if "run" in step)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert command in readme.splitlines()
    assert command.endswith(" tox")
    assert {"push", "pull_request"} == triggers("tests.yml")


@each_workflow
def test_permissions_are_to_read_and_nothing_else(name: str) -> None:
    assert workflow(name)["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in jobs(name))


@each_workflow
def test_the_token_is_not_left_to_what_runs_later(name: str) -> None:
    found = [step for step in steps(name) if step.get("uses", "").startswith("actions/checkout@")]
    assert len(found) == len(jobs(name))
    assert all(step["with"]["persist-credentials"] is False for step in found)
    assert "secrets." not in (FOLDER / name).read_text(encoding="utf-8")


@each_workflow
def test_actions_are_github_s_own_at_a_major_version(name: str) -> None:
    found = [step["uses"] for step in steps(name) if "uses" in step]
    assert found
    assert all(re.fullmatch(r"actions/[a-z-]+@v[1-9]\d*", action) for action in found), found


@each_workflow
def test_no_code_of_strangers_runs_on_a_machine_of_ours(name: str) -> None:
    assert "pull_request_target" not in triggers(name)
    if any("self-hosted" in job["runs-on"] for job in jobs(name)):
        assert triggers(name) == {"workflow_dispatch", "schedule", "push"}
        assert workflow(name)[True]["push"]["branches"] == ["main"]


def test_paths_that_a_push_has_to_touch_are_there() -> None:
    paths = workflow("gpu.yml")[True]["push"]["paths"]
    assert {"processor/**", "tests/bench/**"} <= set(paths)
    assert all((ROOT / path.removesuffix("/**")).exists() for path in paths)


@each_workflow
def test_a_job_ends_and_so_does_what_it_runs_before_it(name: str) -> None:
    for job in jobs(name):
        # Six hours are what a hosted machine is lent for.
        assert 0 < job["timeout-minutes"] < 360
        for step in job["steps"]:
            if calls(step):
                assert 0 < step["timeout-minutes"] < job["timeout-minutes"]


@each_workflow
def test_what_was_measured_is_kept_when_a_test_fails(name: str) -> None:
    for job in jobs(name):
        last = job["steps"][-1]
        assert last["uses"].startswith("actions/upload-artifact@")
        assert last["if"] == "${{ !cancelled() }}"
        assert last["with"]["if-no-files-found"] == "error"


def uploaded(job: dict[str, Any]) -> list[str]:
    paths: str = job["steps"][-1]["with"]["path"]
    return paths.split()


def test_all_that_the_benchmarks_write_is_uploaded_and_nothing_else(tmp_path: Path) -> None:
    seconds = {Case(8, 151_936): {OURS: [0.01] * 4, YARDSTICK: [0.002] * 4}}
    machine = {"device_name": "a machine", "torch": "0"}
    _write(tmp_path, "cpu", Run(seconds, {"machine_info": machine}), [])
    (job,) = jobs("tests.yml")
    written = [f"bench-results/{path.name}" for path in tmp_path.iterdir()]
    assert sorted(uploaded(job)) == sorted(written)


@pytest.mark.parametrize("name", ["gpu.yml", "nightly.yml"])
def test_what_is_uploaded_is_named_by_the_commands_that_write_it(name: str) -> None:
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    for job in jobs(name):
        (call,) = (call for step in job["steps"] for call in calls(step))
        sections = [tox[f"testenv:{name}"] for name in call["environments"].split(",")]
        text = "\n".join(
            [step.get("run", "") for step in job["steps"]]
            + [section["commands"] for section in sections]
            + [section.get("set_env", "") for section in sections]
        )
        named = {word.removeprefix("{tox_root}/") for word in text.split()}
        for path in uploaded(job):
            assert path.rstrip("/") in named, path


@each_workflow
def test_output_that_is_kept_hides_no_failure(name: str) -> None:
    kept = any("| tee " in step.get("run", "") for step in steps(name))
    # Only a shell that is named gets pipefail.
    shell = workflow(name).get("defaults", {}).get("run", {}).get("shell")
    assert shell == "bash" or not kept
