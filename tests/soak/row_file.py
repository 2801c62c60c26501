"""Rows that the server's process saw, in a file: what it kept in memory would look like a leak."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from engine.recording import Row
from soak.traffic import WATCHED


class RowFile(dict[tuple[str, int], Row]):
    """Takes rows by (request, index of the token), and writes those of watched requests."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = path.open("ab", buffering=0)

    def __setitem__(self, owner: tuple[str, int], row: Row) -> None:
        if WATCHED in owner[0]:
            line = json.dumps([*owner, len(row.before)]).encode() + b"\n"
            self._file.write(line + row.before.tobytes() + row.after.tobytes())


def read(path: Path) -> Iterator[tuple[str, int, Row]]:
    """The rows of a file, in the order in which they were computed."""
    with path.open("rb") as file:
        while line := file.readline():
            name, token, size = json.loads(line)
            before, after = (np.frombuffer(file.read(4 * size), np.float32) for _ in range(2))
            yield name, token, Row(before, after)
