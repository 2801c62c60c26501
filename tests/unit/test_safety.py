"""No text that comes from outside is run: neither by our code, nor by a shell on its behalf."""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from topnsigma_conformance.cli import main
from topnsigma_conformance.harness import Harness

ROOT = Path(__file__).parents[2]
PACKAGES = ("reference", "conformance", "processor")

MODULES = {
    *("pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml", "code", "codeop"),
    *("multiprocessing", "concurrent", "subprocess", "pty", "runpy", "builtins", "ctypes"),
}
"""Modules that run what they are given, or read objects that can; in ctypes, at any address."""

FUNCTIONS = {"eval", "exec", "compile", "__import__"}

METHODS = {
    *("os.system", "os.popen", "os.fork", "importlib.import_module", "loader.exec_module"),
    *("torch.load", "np.load", "numpy.load", "asyncio.create_subprocess_shell"),
}

ARGUMENTS = {"shell", "allow_pickle", "weights_only"}

_PEER = "a peer, by a name that stands in the source, when the user asks for it"
_ADAPTERS = "conformance/topnsigma_conformance/adapters"

ALLOWED = {
    ("conformance/topnsigma_conformance/line_process.py", "import subprocess"): (
        "starts the command that the user names, without a shell"
    ),
    (
        "conformance/topnsigma_conformance/resident_memory.py",
        "import ctypes",
    ): "malloc_trim of libc",
    (f"{_ADAPTERS}/llama_cpp.py", "import ctypes"): "llama.cpp's interface is one of C",
    (f"{_ADAPTERS}/object_path.py", "importlib.import_module"): "the module that the user names",
    (f"{_ADAPTERS}/one_module.py", "loader.exec_module"): _PEER,
    **{
        (f"{_ADAPTERS}/{name}.py", "importlib.import_module"): _PEER
        for name in (
            *("callables", "llama_cpp", "mlx_vlm", "sglang_processor", "transformers_processor"),
            *("vllm_config", "vllm_processor", "vllm_runners"),
        )
    },
    ("processor/topnsigma_processor/path_choice.py", "importlib.import_module"): (
        "the module of a path, by a name that stands in the source"
    ),
    ("processor/topnsigma_processor/vllm_plugin.py", "importlib.import_module"): (
        "vLLM, the host, by names that stand in the source"
    ),
}
"""Module and what it uses, to the reason."""


def suspects(source: str) -> Iterator[str]:
    """What a module uses that could run a text, or make objects of it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (f"import {alias.name.split('.')[0]}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".")[0]
            yield f"import {module}"
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            owner = node.value
            name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
            yield f"{name}.{node.attr}"
        elif isinstance(node, ast.keyword) and node.arg in ARGUMENTS:
            yield f"{node.arg}="


def found_in(source: str) -> set[str]:
    return {
        name
        for name in suspects(source)
        if name in FUNCTIONS | METHODS
        or (name.startswith("import ") and name.removeprefix("import ") in MODULES)
        or name.removesuffix("=") in ARGUMENTS
        or name.startswith(("os.exec", "os.spawn", "os.posix_spawn"))
    }


def test_what_could_run_a_text_is_used_where_it_is_allowed_and_nowhere_else() -> None:
    found = set()
    for package in PACKAGES:
        paths = sorted((ROOT / package / f"topnsigma_{package}").rglob("*.py"))
        assert paths
        for path in paths:
            name = path.relative_to(ROOT).as_posix()
            found |= {(name, each) for each in found_in(path.read_text(encoding="utf-8"))}
    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    "source",
    [
        "eval(text)",
        "run = exec",
        "compile(text, '', 'exec')",
        "import pickle",
        "from pickle import loads",
        "import yaml; yaml.load(text)",
        "from multiprocessing import Queue",
        "import os; os.system(text)",
        "import os; os.execv(text, [])",
        "from os import system",
        "Popen(text, shell=True)",
        "np.load(text, allow_pickle=True)",
        "torch.load(text)",
    ],
)
def test_what_could_run_a_text_is_found(source: str) -> None:
    assert found_in(source)


def test_what_security_names_is_there() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if "`tests/" in line]
    assert rows
    for row in rows:
        folder = ROOT
        for name in re.findall(r"`([\w/.]+)`", row.split("|")[2]):
            # A name without its folder is in the one before.
            path = ROOT / name if "/" in name else folder / name
            assert path.exists(), row
            folder = path.parent


SHELL = (
    "; touch made",
    "&& touch made",
    "| touch made",
    "> made",
    "$(touch made)",
    "`touch made`",
    "$HOME",
    "*",
    "~",
    "# rest",
)

# Says what it was started with, and is right about nothing.
TELLS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    claims = {"protocol": 1, "name": "tells", "version": json.dumps(sys.argv[1:])}
    refusal = {"id": message.get("id"), "message": "no"}
    hello = message["type"] == "hello"
    print(json.dumps({"type": "hello", **claims} if hello else {"type": "error", **refusal}))
    sys.stdout.flush()
"""


@pytest.fixture
def tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The command of a harness, in an empty folder."""
    script = tmp_path / "tells.py"
    script.write_text(TELLS, "utf-8")
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return shlex.join([sys.executable, str(script)])


@pytest.mark.parametrize("text", SHELL)
def test_no_shell_runs_the_command_of_a_harness(tells: str, text: str) -> None:
    words = shlex.split(text)
    assert json.loads(Harness(f"{tells} {text}").version) == words
    assert json.loads(Harness([*shlex.split(tells), text]).version) == [text]
    assert list(Path.cwd().iterdir()) == []


def test_no_shell_runs_it_for_the_command_line_either(tells: str) -> None:
    command = f"{tells} {' '.join(SHELL)}"
    arguments = ["run", "--exec", command, "--check", "TNS-4.divisor", "--report", "../report"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1, result.output
    header = json.loads(Path("../report").read_text("utf-8").splitlines()[0])
    assert json.loads(header["version"]) == shlex.split(" ".join(SHELL))
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("text", ["; touch made", "$(touch made)", "'; touch made'"])
def test_the_line_that_repeats_a_failure_is_quoted(tells: str, text: str) -> None:
    # It is meant for a shell, and has to mean to it what the target means to us.
    command = f"{tells} {text}"
    result = CliRunner().invoke(main, ["run", "--exec", command, "--check", "TNS-4.divisor"])
    (line,) = [each for each in result.output.splitlines() if "reproduce: " in each]
    words = shlex.split(line.partition("reproduce: ")[2])
    assert words[:2] == ["topnsigma-conformance", "run"]
    assert shlex.split(words[2].removeprefix("exec:")) == shlex.split(command)
