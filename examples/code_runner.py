"""Python source that a language model wrote, run where it can do little harm.

The source runs in a process of its own: isolated mode, an empty folder, no environment, limits on
processor time, memory, file size and open files, a time-out, and an audit hook that refuses files,
processes, the network and imports. This is a fence against accidents. It is no prison: whoever
means to break out of a Python process will, and needs a virtual machine around it.

The process is told the source and the expressions, never the values that are expected, and it
answers on a pipe of its own. So nothing that it prints, and no exit status, can pass for an answer.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

SECONDS = 2
"""Of processor time."""

TIMEOUT = 10
"""Seconds of the clock: a machine may be busy, and what waits takes no processor time."""

MEMORY = 256 * 2**20
"""Bytes of address space."""

_ANSWER_SIZE = 2**15  # Less than what a pipe holds: nobody reads before the process has ended.

_CHILD = """
import collections, functools, itertools, json, math, os, re, resource, string, sys

task = json.load(sys.stdin)
for limit, most in task["limits"]:
    resource.setrlimit(limit, (most, most))
answers = int(sys.argv[1])

def refuse(event, arguments):
    # What is imported above can be imported again without an event.
    if event.split(".")[0] not in ("compile", "exec", "object", "builtins", "sys"):
        raise PermissionError(f"{event} is not allowed here")

space = {"__name__": "answer"}
try:
    source = compile(task["source"], "<answer>", "exec")
    sys.addaudithook(refuse)
    exec(source, space)
    values = [eval(expression, space) for expression in task["expressions"]]
    text = json.dumps(values)
except BaseException:
    text = "null"
os.write(answers, text.encode() if len(text) < task["size"] else b"null")
"""


def evaluate(source: str, expressions: Sequence[str]) -> list[Any] | None:
    """The values of ``expressions`` after ``source``, as JSON has them.

    None where the source does not compile, something raises, a limit is exceeded, something is
    tried that is refused, a value is none of JSON's, or all of them take more than 32 KiB.
    """
    limits = [
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 32),
        (resource.RLIMIT_NPROC, 0),
    ]
    task = {
        "source": source,
        "expressions": list(expressions),
        "limits": limits,
        "size": _ANSWER_SIZE,
    }
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as answers, tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run(
                [sys.executable, "-I", "-S", "-c", _CHILD, str(writing)],
                input=json.dumps(task).encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env={},
                pass_fds=[writing],
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        finally:
            os.close(writing)
        try:
            found = json.loads(answers.read(_ANSWER_SIZE))
        except ValueError:
            return None
    return found if isinstance(found, list) else None
