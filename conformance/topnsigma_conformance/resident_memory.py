"""Resident memory of a process."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
from pathlib import Path

_PROCESSES = Path("/proc")


def resident_bytes(pid: int) -> int | None:
    """Bytes of memory that process ``pid`` holds; None where that cannot be read (not on Linux)."""
    try:
        fields = (_PROCESSES / str(pid) / "statm").read_text(encoding="ascii").split()
    except OSError:
        return None
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def release_free_memory() -> None:
    """Give back what this process has freed and the C library keeps (glibc; elsewhere nothing).

    What is leaked would be served from it first, without a trace in :func:`resident_bytes`.
    """
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
