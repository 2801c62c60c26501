"""Whether the memory of a server's processes grows with the requests, and whose memory that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from soak.finding import Finding, finding
from soak.memory import CONFIDENCE, FEWEST_REQUESTS, Slope, slope

Samples = Sequence[tuple[int, Mapping[str, int]]]
"""How many requests had ended, and the KiB that each process held then."""

WARM_UP = 0.25
"""Of the samples, which are left out: caches of grammars, tokenizers and allocators fill."""

_MOST_SAMPLES = 200
"""That a slope is taken of: pairs are compared, all of them, very often."""

LIMIT = 512.0
"""KiB per 1,000 requests that may come on top of what the server grows by without top-nσ, for the
upper end of the interval: a quarter of what one row of 512 float32 logits, kept of each request,
would be."""


def judged(requests: int) -> bool:
    """Whether so many requests are enough to say something."""
    return requests * (1 - WARM_UP) >= FEWEST_REQUESTS


def findings(samples: Samples, control: Samples) -> list[Finding]:
    """One for each process that was there in every sample; no sample at all is a failure.

    Args:
        samples: of the server that is looked at.
        control: of one without top-nσ under the same traffic; empty if there was none, which is a
            failure where there are requests enough to judge.
    """
    if not samples:
        return [finding("memory is sampled", 1, ["no sample was taken"])]
    grown, base = _slopes(samples), _slopes(control) if control else {}
    tried = len(_settled(samples))
    return [
        _finding(name, tried, grown[name], base.get(name), samples[-1][1][name])
        for name in sorted(grown)
    ]


def _settled(samples: Samples) -> Samples:
    settled = samples[int(len(samples) * WARM_UP) :]
    return settled[:: -(-len(settled) // _MOST_SAMPLES)]


def _slopes(samples: Samples) -> dict[str, Slope | None]:
    settled = _settled(samples)
    counts = [count for count, _ in settled]
    names = set.intersection(*(set(kib) for _, kib in settled))
    return {name: slope(counts, [kib[name] for _, kib in settled]) for name in names}


def _finding(name: str, tried: int, grown: Slope | None, base: Slope | None, kib: int) -> Finding:
    title = f"the memory of process {name} grows no more than without top-nσ"
    if grown is None:
        return Finding(title, 0, 0, f"not judged: too few requests; {kib / 1024:.0f} MiB")
    if base is None:
        return finding(title, tried, ["there is no server without top-nσ to compare it with"])
    more = Slope(grown.value - base.value, grown.lower - base.upper, grown.upper - base.lower)
    detail = (
        f"{more.value:+.0f} KiB per 1,000 requests ({more.lower:+.0f} to {more.upper:+.0f}), limit "
        f"{LIMIT:.0f}: {_shown(grown)}, without {_shown(base)}, each at {CONFIDENCE:.0%}; "
        f"{kib / 1024:.0f} MiB at the end"
    )
    return finding(title, tried, [detail] if more.upper > LIMIT else [], detail)


def _shown(slope_: Slope) -> str:
    return f"{slope_.value:+.0f} ({slope_.lower:+.0f} to {slope_.upper:+.0f})"
