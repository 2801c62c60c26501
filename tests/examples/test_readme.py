"""examples/README.md as a new user follows it: its commands run, and print what it shows."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from examples import committed

EXAMPLES = committed.ROOT / "examples"
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")

NOT_RUN = {
    "examples/server.sh MODEL": "a server; tests/engine/test_server.py runs client.py on one",
    "python examples/client.py": "needs that server; tests/engine/test_server.py",
    "python examples/offline.py": "needs vLLM; tests/engine/test_language_model.py",
    "python examples/features/": "needs vLLM; tests/engine",
    "python examples/real_logits.py": "two minutes; tests/conformance/test_real_logits.py",
    "python examples/quality.py --small": "many minutes; test_quality.py runs a small setting",
    "python examples/smollm2.py": "1,024 rows; tests/conformance/test_real_logits.py makes them",
    "python examples/temperature_invariance.py": "the rows of SmolLM2; its own test has some",
    "python examples/choosing_n.py": "its own test compares all rows",
    "python examples/bans_and_penalties.py": "its own test compares all rows",
}
"""Beginning of a command that is not run here to the reason. Installation is never run."""

RUN_ALTHOUGH = (
    "python examples/temperature_invariance.py --synthetic-only",
    "python examples/choosing_n.py --tokens 1",
)
"""Commands that begin like one that is not."""


def commands() -> list[str]:
    """The lines of all shell blocks."""
    blocks = re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def sections() -> dict[str, str]:
    """Title to text."""
    parts = re.split(r"^#{2,3} +(.*)$", README, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _is_run(command: str) -> bool:
    return command in RUN_ALTHOUGH or not command.startswith(("pip ", *NOT_RUN))


RUN = [command for command in commands() if _is_run(command)]


def _output(command: str) -> str:
    program, *arguments = shlex.split(command)
    found = Path(sys.executable).with_name(program)
    finished = subprocess.run(
        [sys.executable if program == "python" else str(found), *arguments],
        cwd=committed.ROOT,
        env=os.environ | {"PYTHONPATH": "", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def outputs() -> dict[str, str]:
    """What each of ``RUN`` prints, in the order of the page: one may need what another wrote."""
    return {command: _output(command) for command in RUN}


def test_commands_run_and_print_what_is_shown(outputs: dict[str, str]) -> None:
    shown = 0
    for title, text in sections().items():
        here = [output for command, output in outputs.items() if command in text.splitlines()]
        for excerpt in re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            if not here:
                continue
            for line in excerpt.splitlines():
                assert any(line in output for output in here), f"{title}: {line}"
                shown += 1
    assert shown > 10


def test_tables_that_are_shown_and_not_printed_here_stand_in_docs() -> None:
    pages = [page.read_text(encoding="utf-8") for page in committed.DOCS.glob("*.md")]
    lines = [line for line in README.splitlines() if re.match(r"\| (`The|`2, 3|1,?0|`yes)", line)]
    assert len(lines) == 5
    for line in lines:
        assert any(line in page for page in pages), line


def test_each_reason_for_not_running_belongs_to_a_command() -> None:
    for beginning in NOT_RUN:
        skipped = [
            command
            for command in commands()
            if command.startswith(beginning) and command not in RUN_ALTHOUGH
        ]
        assert skipped, beginning
    assert set(RUN_ALTHOUGH) <= set(RUN)


def test_every_file_is_named() -> None:
    files = [
        path.relative_to(EXAMPLES)
        for path in EXAMPLES.rglob("*")
        if path.is_file() and path.name not in ("README.md", "ruff.toml")
    ]
    for path in files:
        # Of tools, such as caches.
        if any(part.startswith((".", "__")) for part in path.parts):
            continue
        whole = path.parts[0] in ("harness", "prompts")
        name = f"{path.parts[0]}/" if whole else str(path)
        assert name in README, name


def test_every_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"examples/([\w/]+\.(?:py|sh))", README))
    named |= set(re.findall(r"^### ([\w/.]+)", README, re.MULTILINE)) - {"harness/"}
    named |= set(re.findall(r"`(\w+\.py)`", README))
    assert len(named) > 20
    for name in named:
        assert (EXAMPLES / name).is_file(), name
