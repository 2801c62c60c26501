"""Where in a batch a violation shows, and what the oracle says there."""

from __future__ import annotations

from typing import Any

from topnsigma_conformance.check import Violation
from topnsigma_conformance.formats import as_array
from topnsigma_conformance.judge import kept_tokens
from topnsigma_conformance.shown_row import shown_row
from topnsigma_reference import Dialect, Verdict, classify

_MAX_TOKENS = 20_000
"""Of a batch that is searched for a row to show where no token has been named."""


def located(violation: Violation, dialect: Dialect) -> dict[str, Any]:
    """The fields of a ``Failure`` that say where it is; none where no row shows it.

    Where the violation names no token, it is the first row whose result is not the exact one.
    """
    finding = violation.finding
    if finding is not None:
        row, n, verdict = finding.row, finding.n, finding.verdict
        digits = 8 if finding.dtype == "float32" else 4
        token: dict[str, Any] = {
            "token": finding.token,
            "logit": finding.logit,
            "logit_bits": f"0x{finding.logit_bits:0{digits}x}",
            "distance_ulp": finding.distance_ulp,
        }
    else:
        found = _first_inexact_row(violation, dialect)
        if found is None:
            return {}
        (row, verdict), token = found, {}
        n = violation.batch.n[row]
    fields = {
        "row": row,
        "size": int(verdict.codes.size),
        "n": repr(n),
        "cut": verdict.cut,
        "accept": verdict.accept and (verdict.accept.lower, verdict.accept.upper),
        "tight": verdict.tight and (verdict.tight.lower, verdict.tight.upper),
    }
    if violation.bits is not None:
        fields["shown"] = shown_row(
            violation.batch.bits[row],
            violation.bits[row],
            verdict,
            violation.batch.dtype,
            dialect,
            token.get("token"),
        )
    return fields | token


def _first_inexact_row(violation: Violation, dialect: Dialect) -> tuple[int, Verdict] | None:
    batch, bits = violation.batch, violation.bits
    if bits is None or bits.shape != batch.shape or bits.size > _MAX_TOKENS:
        return None
    for row, n in enumerate(batch.n):
        before, after = batch.bits[row], bits[row]
        try:
            verdict = classify(as_array(before, batch.dtype), n, dialect)
        except ValueError:
            continue
        if verdict.unchanged:
            exact = (before == after).all()
        else:
            kept = kept_tokens(before, after, batch.dtype, dialect)
            exact = (kept == verdict.keep).all()
        if not exact:
            return row, verdict
    return None
