"""Samplers whose process fails on valid input, which is the fault of no rule: see ``ends_as``."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
from gallery.textbook import Row, Textbook


class Failing(Textbook):
    """``ends_as`` is the status of the check that meets the failure."""

    isolated = True
    ends_as = "crash"


class Crashes(Failing):
    """An assertion in C: a row has more than one token."""

    def truncate(self, row: Row, n: float) -> None:
        if row.size == 1:
            os.write(2, b"ASSERT(V > 1) failed\n")
            os.abort()
        super().truncate(row, n)


class Hangs(Failing):
    """Halves an interval until it is smaller than σ, which is 0."""

    def truncate(self, row: Row, n: float) -> None:
        if row.size > 1 and np.isfinite(row).all() and np.ptp(row) == 0:
            threading.Event().wait()
        super().truncate(row, n)


class RaisesKeyError(Failing):
    """Its table of kernels has none for rows of one token."""

    isolated = False
    ends_as = "error"

    def truncate(self, row: Row, n: float) -> None:
        kernels: dict[bool, Any] = {True: super().truncate}
        kernels[row.size > 1](row, n)


ALL: tuple[type[Failing], ...] = (Crashes, Hangs, RaisesKeyError)
