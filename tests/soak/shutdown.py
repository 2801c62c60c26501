"""Whether a server ends as it should when it is told to."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import psutil
from soak.finding import Finding, finding

PATIENCE = 60.0
"""Seconds that it has to end in."""


def shut_down(server: subprocess.Popen[bytes], log: Path) -> Finding:
    """Send SIGTERM to the process that was started, as a supervisor does, and look what is left.

    It has to end in time with status 0, without a traceback in what it logs from then on, and no
    process of its session may outlive it.
    """
    logged = log.stat().st_size
    server.send_signal(signal.SIGTERM)
    try:
        status: int | None = server.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        status = None
    left_behind = _session(server.pid)
    said = log.read_bytes()[logged:].decode(errors="replace")
    return finding("SIGTERM ends it cleanly", 1, faults(status, left_behind, said))


def faults(status: int | None, left_behind: list[str], said: str) -> list[str]:
    """At most one line, of all that was not clean.

    Args:
        status: it ended with; None if it did not end.
        left_behind: names of processes.
        said: its log since the signal.
    """
    wrong = []
    if status is None:
        wrong.append(f"it was still there after {PATIENCE:.0f} s")
    elif status != 0:
        wrong.append(f"it ended with status {status}")
    if left_behind:
        wrong.append(f"it left {', '.join(left_behind)} behind")
    if "Traceback" in said:
        wrong.append(f"it logged {said[said.index('Traceback') :][:500]}")
    return ["; ".join(wrong)] if wrong else []


def _session(leader: int) -> list[str]:
    """Names of the processes of a session that do not end soon after their leader."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != leader and os.getsid(process.pid) == leader:
                found.append(process)
        except ProcessLookupError:
            continue
    _, alive = psutil.wait_procs(found, timeout=PATIENCE)
    # One that ended is listed until its new parent looks after it.
    return [each.name() for each in alive if each.status() != psutil.STATUS_ZOMBIE]
