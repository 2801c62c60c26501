"""Processors with faults that a soak has to find: ``--processor soak.faulty_processors:CLASS``."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import torch
from engine.state_breaks import RemovalIgnored, SlotKept
from soak.watched_processor import Watched

from topnsigma_processor.row_masker import RowMasker
from topnsigma_processor.slot_state import Setting


class TwiceN(Watched):
    def _setting(self, params: Any) -> Setting | None:
        setting = super()._setting(params)
        return None if setting is None else Setting(2.0 * setting.n, setting.exclude)


class PopulationSigma(Watched):
    """σ has the divisor V, so that it is a thousandth too small in a vocabulary of 512."""

    def _masker_of(self, logits: torch.Tensor) -> RowMasker:
        return _Population(super()._masker_of(logits))


class _Population(RowMasker):
    def __init__(self, masker: RowMasker) -> None:
        self._masker = masker

    def mask_(self, logits: torch.Tensor, n: torch.Tensor, exclude: torch.Tensor) -> None:
        counts = torch.where(exclude, logits.isfinite().sum(1), logits.shape[1])
        self._masker.mask_(logits, n * (1 - 1 / counts).sqrt(), exclude)


class SettingsStay(RemovalIgnored, SlotKept, Watched):
    """Requests that end, and on V2 those that follow without n, leave settings where they are."""


class NoAnswer(Watched):
    """Raises what vLLM does not take for a bad request."""

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        super().validate_params(sampling_params)
        if sampling_params.n > 1:
            raise RuntimeError("planted")


class LaxParameters(Watched):
    """Admits everything."""

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        pass


class MemoryGrows(Watched):
    """Keeps the row of 512 float32 logits, 2 KiB, of every request that the engine is told of."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._kept: list[torch.Tensor] = []

    def _setting(self, params: Any) -> Setting | None:
        self._kept.append(torch.ones(512))
        return super()._setting(params)


class LeavesAProcess(Watched):
    """Starts a process that is nobody's child, and so outlives the server, which ends its own."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        wait = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()"
        start = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {wait!r}])"
        subprocess.run([sys.executable, "-c", start], check=True)


class ManyFaults(TwiceN, SettingsStay, NoAnswer, LaxParameters, LeavesAProcess):
    """What can be found in one run."""
