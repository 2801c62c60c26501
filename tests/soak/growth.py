"""Whether the memory of a server's processes grows with the requests."""

from __future__ import annotations

from collections.abc import Sequence

from soak.finding import Finding, finding
from soak.memory import CONFIDENCE, slope

WARM_UP = 0.25
"""Of the samples, which are left out: caches of grammars, tokenizers and allocators fill."""

_MOST_SAMPLES = 200
"""That a slope is taken of: pairs are compared, all of them, very often."""

LIMIT = 1_024.0
"""KiB per 1,000 requests, for the upper end of the interval: half of what it would be if one row of
512 float32 logits were kept of each request."""


def findings(samples: Sequence[tuple[int, dict[str, int]]]) -> list[Finding]:
    """One for each process that was there in every sample."""
    settled = samples[int(len(samples) * WARM_UP) :]
    settled = settled[:: -(-len(settled) // _MOST_SAMPLES) or 1]
    names = set.intersection(*(set(kib) for _, kib in settled)) if settled else set()
    return [_finding(name, settled) for name in sorted(names)]


def _finding(name: str, samples: Sequence[tuple[int, dict[str, int]]]) -> Finding:
    title = f"the memory of process {name} stays flat"
    kib = [found[name] for _, found in samples]
    estimated = slope([count for count, _ in samples], kib)
    if estimated is None:
        return Finding(title, 0, 0, f"not judged: too few requests; {kib[-1] / 1024:.0f} MiB")
    detail = (
        f"{estimated.value:+.0f} KiB per 1,000 requests ({CONFIDENCE:.0%} {estimated.lower:+.0f} "
        f"to {estimated.upper:+.0f}), limit {LIMIT:.0f}; {kib[-1] / 1024:.0f} MiB at the end"
    )
    return finding(title, len(kib), [detail] if estimated.upper > LIMIT else [], detail)
