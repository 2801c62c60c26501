"""Which dialect an implementation seems to follow, when not the one it was checked under."""

from __future__ import annotations

import numpy as np

from topnsigma_conformance.check import Violation
from topnsigma_conformance.formats import as_array
from topnsigma_conformance.judge import judge
from topnsigma_reference import Dialect, all_dialects, parse_n, top_n_sigma

_MAX_TOKENS = 20_000

_MAX_ALTERNATIVES = 3


def fitting_dialects(evidence: list[Violation], checked: Dialect) -> tuple[Dialect, ...]:
    """Dialects other than ``checked`` under which every result in ``evidence`` is right.

    Only results whose rows are short enough are looked at; without any there is no answer. Of the
    dialects that fit, those with the fewest fields changed are returned.
    """
    seen = [
        violation
        for violation in evidence
        if violation.bits is not None and violation.batch.bits.size <= _MAX_TOKENS
    ]
    if not seen or len(seen) < len(evidence):
        return ()
    fitting = [
        dialect
        for dialect in all_dialects()
        if dialect != checked and all(_fits(violation, dialect) for violation in seen)
    ]
    fewest = min((len(dialect.differences(checked)) for dialect in fitting), default=0)
    return tuple(dialect for dialect in fitting if len(dialect.differences(checked)) == fewest)


def matching_fields(violation: Violation, checked: Dialect) -> tuple[str, ...]:
    """What to change in ``checked`` for this one result to be right, as ``FIELD=VALUE,…``.

    At most three alternatives, those with the fewest fields changed; none when no dialect fits or
    the result is too long to try. One result seldom tells: a hint, not an explanation.
    """
    fitting = fitting_dialects([violation], checked)[:_MAX_ALTERNATIVES]
    return tuple(
        ",".join(f"{field}={value}" for field, value in dialect.differences(checked).items())
        for dialect in fitting
    )


def _fits(violation: Violation, dialect: Dialect) -> bool:
    try:
        for entry in violation.batch.n:
            parse_n(entry, dialect)
    except ValueError:
        return False
    assert violation.bits is not None
    if violation.finding is None:
        # All that the judge lets pass; what tells dialects apart here is the exact result alone.
        batch = violation.batch
        exact = top_n_sigma(as_array(batch.bits, batch.dtype), list(batch.n), dialect)
        return np.array_equal(exact.view(batch.bits.dtype), violation.bits)
    return not judge(violation.batch, violation.bits, dialect).findings
