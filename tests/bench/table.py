"""The table that the command prints."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence

from bench.benchmark_ids import OURS
from bench.gate import Counted, Held, Seconds, Together
from bench.limits import SECONDS
from bench.ratios import Ratio
from rich.table import Table


def times_table(held: Sequence[Held], seconds: Seconds, title: str) -> Table:
    """A line a case: what our operation took, and how many times as long as others it may take."""
    table = Table(title=title, title_justify="left")
    table.add_column("case", no_wrap=True)
    againsts = list(dict.fromkeys(each.limit.against for each in held))
    for heading in ("median", "GB/s", *(f"{against} (limit)" for against in againsts)):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for case, figures in seconds.items():
        of_case = {each.limit.against: each for each in held if each.limit.case == case}
        median = statistics.median(figures[OURS])
        moved = f"{case.bytes_moved / median / 1e9:.1f}" if case.rows != "disabled" else ""
        limits = (_found(of_case[against]) if against in of_case else "" for against in againsts)
        table.add_row(str(case), duration(median), moved, *limits, _verdict(of_case.values()))
    return table


def _found(held: Held) -> str:
    value = (held.again or held.found).value
    return f"{shown(held, value)} ({shown(held, held.at_most)})"


def _verdict(of_case: Iterable[Held]) -> str:
    verdicts = {verdict(each) for each in of_case}
    return next(iter(verdicts & {"too slow"} or verdicts & {"ok, measured again"} or verdicts))


def together_line(together: Together) -> str:
    """How all cases compare with what was recorded."""
    slow = "" if together.passed else "too slow: "
    return (
        f"{slow}all cases together take {together.again:.3g} times as long as recorded here, "
        f"at least; limit {together.at_most:.3g}"
    )


def counters_line(counted: Sequence[Counted]) -> str:
    """How many counters are as they have to be; `summary` names the others."""
    right = sum(each.passed for each in counted)
    return f"counters: {right} of {len(counted)} as recorded"


def verdict(held: Held) -> str:
    """What the gate says of it."""
    if not held.passed:
        return "too slow"
    return "ok" if held.again is None else "ok, measured again"


def duration(seconds: float) -> str:
    """In µs or ms, with three digits."""
    return f"{seconds * 1e6:.3g} µs" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def summary(held: Sequence[Held], counted: Sequence[Counted]) -> Iterator[str]:
    """What failed, a line each, or that nothing did."""
    for each in held:
        if not each.passed:
            found = each.again or each.found
            yield (
                f"too slow: {each.limit.case} takes {shown(each, found.value)} beside "
                f"{each.limit.against}, limit {shown(each, each.at_most)} ({each.limit.reason})"
            )
    for counter in counted:
        if not counter.passed:
            yield f"{counter.name}: {counter.found}, has to be {counter.exactly}"


def shown(held: Held, value: float) -> str:
    """A ratio, or seconds, as the limit has it."""
    return duration(value) if held.limit.against == SECONDS else f"{value:.3g}"


def interval(found: Ratio) -> str:
    """A ratio with its confidence interval."""
    return f"{found.value:.3f} ({found.lower:.3f}–{found.upper:.3f})"
