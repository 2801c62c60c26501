"""Which rule it speaks against that a token is on the wrong side of the cut.

A wrong σ, a wrong threshold and a survivor that was rewritten all show as a token that is kept or
masked wrongly. What tells them apart is how the implementation does where σ does not matter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from topnsigma_conformance.batch import Batch
from topnsigma_conformance.check import Context, Violation
from topnsigma_conformance.formats import decode, encode, step
from topnsigma_conformance.judge import ALL_KINDS, Kind, kept_tokens

_Float64Row = npt.NDArray[np.float64]

_TINY, _HUGE = 2.0**-24, 2.0**17
_SLACK = 64.0
"""By what factor σ may be off, either way, without a difference to what is looked at here."""


def check_and_blame(
    context: Context, batch: Batch, rule: str, kinds: Iterable[Kind] = ALL_KINDS
) -> None:
    """As ``context.check``, but find out which rule a token on the wrong side speaks against.

    Raises:
        Violation: of ``rule`` where σ or the accuracy is at fault, of TNS-5 where the threshold is
            wrong whatever σ is, of TNS-6 where a survivor was rewritten, of TNS-11 where the same
            call does not end so again.
    """
    try:
        context.check(batch, rule, kinds)
    except Violation as violation:
        finding = violation.finding
        if finding is None or finding.kind not in ("membership", "fill"):
            raise
        if _rewritten(violation):
            broken = "TNS-6"
        elif finding.kind == "fill":
            raise
        else:
            require_repeatable(context, violation)
            row = batch.single_rows()[finding.row]
            broken = "TNS-5" if errs_without_sigma(context, row, finding.token) else rule
        raise Violation(
            broken, str(violation), batch, bits=violation.bits, finding=finding
        ) from violation


def require_repeatable(context: Context, violation: Violation) -> None:
    """Raise a violation of TNS-11 instead, if the same call does not end as it did."""
    again = context.result(violation.batch)
    if violation.bits is not None and not np.array_equal(again, violation.bits):
        raise Violation(
            "TNS-11", f"not repeatable: {violation}", violation.batch, bits=violation.bits
        ) from violation


def _rewritten(violation: Violation) -> bool:
    """Whether a logit counts as masked because its new value has come to lie below the row."""
    finding, bits = violation.finding, violation.bits
    assert finding is not None
    assert bits is not None
    after = float(decode(bits[finding.row, finding.token : finding.token + 1], finding.dtype)[0])
    return 0 < abs(after - finding.logit) <= abs(finding.logit) / 2


def errs_without_sigma(context: Context, batch: Batch, token: int) -> bool:
    """Whether the one row of ``batch`` is cut wrongly also at n where σ does not matter.

    At a tiny n the maximum alone stays, at a huge one everything, even if σ is off by a factor of
    64. An implementation that has no σ at all (NaN, infinity, 0) keeps everything at a tiny n or
    the maximum alone at a huge one: it is not said to err.

    Args:
        context: to apply with.
        batch: one row of finite logits that are not all equal.
        token: one that was kept or masked wrongly; it is also tried just below the maximum.
    """
    values = decode(batch.bits[0], batch.dtype).astype(np.float64)
    deviation = float(values.std())
    if values.size < 2 or not np.isfinite(deviation) or deviation == 0:
        return False
    # Twice, so that to lose one token and to lose all but the maximum are not the same.
    kept, row = _kept(context, batch, np.tile(values, 2), _HUGE)
    if not kept[row < row.max()].any():
        return False
    if not kept.all():
        return True
    for candidate in _with_one_maximum(values, token, deviation, batch.dtype):
        kept, row = _kept(context, batch, candidate, _TINY)
        ulp = float(np.spacing(np.abs(row).max().astype(np.float32)))
        far = row < row.max() - _SLACK * _TINY * row.std() - 8 * ulp
        wrong = (kept & far) | (~kept & (row == row.max()))
        if wrong.any() and not kept.all():
            return True
    return False


def _with_one_maximum(
    values: _Float64Row, token: int, deviation: float, dtype: str
) -> Iterator[_Float64Row]:
    """The row, and rows with a token just below the maximum, around and far from 0."""
    yield values
    for top in (float(values.max()), deviation / 8, -deviation, 137.0 * deviation):
        moved = decode(encode((values - values.max() + top).astype(np.float32), dtype), dtype)
        largest = float(moved.max())
        ulp = float(np.spacing(np.float32(abs(largest))))
        below = np.float32(largest - 2.0**-16 * deviation - 16 * ulp)
        row = moved.astype(np.float64)
        row[token] = min(float(below), step(largest, dtype, -1))
        yield row


def _kept(
    context: Context, batch: Batch, values: _Float64Row, n: float
) -> tuple[npt.NDArray[np.bool_], _Float64Row]:
    bits = encode(values.astype(np.float32), batch.dtype)[np.newaxis]
    after = context.result(dataclasses.replace(batch, bits=bits, n=(n,)))
    kept = kept_tokens(bits[0], after[0], batch.dtype, context.dialect)
    return kept, decode(bits[0], batch.dtype).astype(np.float64)
