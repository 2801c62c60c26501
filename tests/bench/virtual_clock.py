"""A clock that shows what was measured elsewhere, so that pytest-benchmark can count with it.

pytest-benchmark runs one function after the other. What has to be compared is measured in turn
(`interleaved`), on a GPU by the device itself; each benchmark then plays its own figures back.
"""

from __future__ import annotations


class VirtualClock:
    """Stands still but for `advance`. Called, it tells the time in seconds."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        return self._now

    def reset(self) -> None:
        """Back to 0: in a sum that grows, differences would be rounded."""
        self._now = 0.0

    def advance(self, seconds: float) -> None:
        """Let this much time pass."""
        self._now += seconds
