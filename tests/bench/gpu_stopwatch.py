"""Seconds of a step on a GPU: CUDA events around the replay of a captured graph."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

import torch
from bench.contenders import Step

_MOST_BUFFERS = 200


class GpuStopwatch:
    """Times one step on the device, and what it takes the host to call it.

    A graph handles several buffers, which are restored before each replay and together exceed the
    level-2 cache: restoring one flushes the others. What the host does in a launch is not part of
    the replay.

    Args:
        step: what is timed; it may not wait for the device.
        source: the case's logits.
        buffers: of its shape, shared with the other contenders.
    """

    def __init__(self, step: Step, source: torch.Tensor, buffers: list[torch.Tensor]) -> None:
        self._step, self._source, self._buffers = step, source, buffers
        self.host_seconds: list[float] = []
        self.restore()
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for buffer in buffers[:2]:
                step(buffer)
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        step(buffers[0])
        torch.cuda.synchronize()
        self.peak_bytes = torch.cuda.max_memory_allocated() - before
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            for buffer in buffers:
                step(buffer)

    def restore(self) -> None:
        for buffer in self._buffers:
            buffer.copy_(self._source)

    def restored(self) -> bool:
        return all(torch.equal(buffer, self._source) for buffer in self._buffers)

    def seconds(self) -> float:
        start = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        end = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        start.record()
        self._graph.replay()
        end.record()
        end.synchronize()
        elapsed = float(start.elapsed_time(end)) / 1e3 / len(self._buffers)
        begun = time.perf_counter_ns()
        self._step(self._buffers[0])
        self.host_seconds.append((time.perf_counter_ns() - begun) / 1e9)
        torch.cuda.synchronize()
        return elapsed


def stopwatches(steps: Mapping[str, Step], source: torch.Tensor) -> dict[str, GpuStopwatch]:
    """A stopwatch for each step, on buffers that they share."""
    cache = torch.cuda.get_device_properties(source.device).L2_cache_size
    # Two buffers more than fill the cache; some more spread the cost of a launch's end.
    count = min(max(math.ceil(2 * cache / source.nbytes) + 1, 4), _MOST_BUFFERS)
    buffers = [torch.empty_like(source) for _ in range(count)]
    return {name: GpuStopwatch(step, source, buffers) for name, step in steps.items()}
