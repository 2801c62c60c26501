"""The command: which devices it measures, and that a missing one is a failure."""

from __future__ import annotations

import pytest
import torch
from bench.__main__ import main


@pytest.mark.parametrize(
    "arguments", [["--require-gpu"], ["--device", "cuda"], ["--device", "cpu", "--require-gpu"]]
)
def test_a_missing_gpu_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(arguments) == 1
    assert "there is no GPU, and one is asked for" in capsys.readouterr().out
