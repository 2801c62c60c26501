"""Whether requests were answered as they have to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from soak.finding import Finding, finding
from soak.load import Outcome


def answers(outcomes: Sequence[Outcome]) -> list[Finding]:
    """Bad ones with 400, the others to their end or until the client left, nobody with a 5xx."""
    bad = [each for each in outcomes if each.planned.bad]
    good = [each for each in outcomes if not each.planned.bad]
    failed = [each for each in outcomes if each.status >= 500]
    left = Counter(each.planned.leaves for each in good if each.left)
    kinds = Counter(each.planned.kind for each in good)
    return [
        finding("no answer is a 5xx", len(outcomes), _shown(failed)),
        finding(
            "bad requests are answered with 400",
            len(bad),
            _shown(each for each in bad if each.status != 400),
        ),
        finding(
            "the others are answered, or left by the client",
            len(good),
            _shown(each for each in good if not (each.left or each.status == 200)),
            _listed(kinds),
        ),
        finding(
            "clients that leave",
            left.total(),
            [],
            f"{left['disconnects']:,} in a stream, {left['cancels']:,} before an answer",
        ),
    ]


def _shown(outcomes: Iterable[Outcome]) -> list[str]:
    return [_line(each) for each in outcomes]


def _line(outcome: Outcome) -> str:
    planned = outcome.planned
    return (
        f"request {planned.index} ({planned.kind}): {outcome.status or 'no answer'} "
        f"{outcome.detail[:200]}; {planned.path} {planned.body[:300]}"
    )


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
