"""What counts as new memory."""

from __future__ import annotations

import torch
from dispatch_recorder import DispatchRecorder


def test_only_new_storage_counts() -> None:
    x, buffer = torch.zeros(10), torch.zeros(10)
    with DispatchRecorder() as recorder:
        torch.sub(x, 1, out=buffer)
        x.mul_(2)
        x.view(2, 5)
    assert len(recorder.operations) == 3
    assert recorder.allocated == []
    with DispatchRecorder() as recorder:
        torch.sub(x, 1)
        x.sort()
    assert recorder.allocated == [40, 40, 80]
