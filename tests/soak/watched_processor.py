"""The processor as the soaked server loads it, and what its worker answers about it."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path
from typing import Any

from engine.recording import Recording
from soak.row_file import RowFile

ROWS = "SOAK_ROWS"
"""Environment variable with the path of the file that rows go to."""


class Watched(Recording):
    """Records the rows of watched requests in a file, and nothing in memory."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.rows = RowFile(Path(os.environ[ROWS]))


class AskedWorker:
    """vLLM mixes it into its worker; the server hands on the questions (``/collective_rpc``)."""

    model_runner: Any

    def soak_watch(self) -> dict[str, int]:
        """Let the processor record from now on, if it is one that does."""
        recording = _recording()
        if recording is not None:
            recording.model_runner = self.model_runner
        return self.soak_state()

    def soak_release(self) -> dict[str, int]:
        """Give back to the system what is free, in which what is kept would not show for long."""
        gc.collect()
        return {"released": int(ctypes.CDLL(None).malloc_trim(0))}

    def soak_state(self) -> dict[str, int]:
        """How many requests the model runner knows, and how many slots are opted in."""
        runner = self.model_runner
        states = getattr(runner, "req_states", None)
        requests = runner.requests if states is None else states.req_id_to_index
        recording = _recording()
        opted_in = 0 if recording is None else len(recording._state._settings)
        return {"requests": len(requests), "opted_in": opted_in}


def _recording() -> Recording | None:
    return getattr(Recording, "latest", None)
