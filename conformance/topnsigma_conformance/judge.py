"""Comparing what an implementation did to a row with what the oracle allows."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from topnsigma_conformance.batch import Batch
from topnsigma_conformance.formats import Bits, as_array, decode, ordinals, special_bits, width
from topnsigma_reference import Dialect, Keep, Verdict, classify

Kind = Literal[
    "membership",  # kept below the interval, or masked above it
    "maximum",  # a logit equal to the maximum is masked
    "unchanged",  # a row that must come back bit for bit did not
    "fill",  # a masked logit is not exactly the fill value
    "bits",  # a surviving logit changed its bits
    "single-cut",  # the kept set is not upward closed, or equal logits fare differently
]
ALL_KINDS: frozenset[Kind] = frozenset(
    ("membership", "maximum", "unchanged", "fill", "bits", "single-cut")
)


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing wrong with one row of a result.

    Attributes:
        kind: what is wrong.
        row, token: where.
        expected, got: in words.
        verdict: the oracle's answer for the row.
        dtype: of the logits.
        logit_bits, n: what the token and the row held.
    """

    kind: Kind
    row: int
    token: int
    expected: str
    got: str
    verdict: Verdict
    dtype: str
    logit_bits: int
    n: Any

    @property
    def logit(self) -> float:
        """The logit as a float."""
        return _value(self.logit_bits, self.dtype)

    @property
    def distance_ulp(self) -> int | None:
        """float32 steps from the logit to the acceptance interval; 0 inside, None without one."""
        accept = self.verdict.accept
        if accept is None or not np.isfinite(self.logit):
            return None
        ends = np.array([accept.lower, accept.upper, self.logit], dtype=np.float32)
        lower, upper, here = ordinals(ends.view(np.uint32), "float32").tolist()
        return int(max(lower - here, here - upper, 0))


@dataclasses.dataclass(frozen=True, eq=False)
class Judgement:
    """Findings on a batch.

    Attributes:
        findings: what is wrong, row by row.
        loose_rows: rows whose cut conforms outside of the tight band.
        verdicts: the oracle's, one for each row.
    """

    findings: list[Finding]
    loose_rows: list[int]
    verdicts: list[Verdict]


def judge(batch: Batch, bits: Bits, dialect: Dialect) -> Judgement:
    """Hold the result ``bits`` [B, V] of ``batch`` to the oracle, row by row.

    All entries of ``batch.n`` must be valid in ``dialect``.
    """
    findings: list[Finding] = []
    loose: list[int] = []
    verdicts: list[Verdict] = []
    for row, n in enumerate(batch.n):
        verdict = classify(as_array(batch.bits[row], batch.dtype), n, dialect)
        verdicts.append(verdict)
        looked = _RowResult(batch.bits[row], bits[row], verdict, batch.dtype, dialect)
        for kind, token, expected, got in looked.problems():
            findings.append(
                Finding(
                    kind=kind,
                    row=row,
                    token=token,
                    expected=expected,
                    got=got,
                    verdict=verdict,
                    dtype=batch.dtype,
                    logit_bits=int(batch.bits[row, token]),
                    n=n,
                )
            )
        if looked.loose():
            loose.append(row)
    return Judgement(findings, loose, verdicts)


def kept_tokens(before: Bits, after: Bits, dtype: str, dialect: Dialect) -> npt.NDArray[np.bool_]:
    """bool [V]: which tokens of a row count as kept, whatever was done to their values.

    A survivor with altered bits still counts as kept, and a token that was pushed below the whole
    row counts as masked, so that a wrong fill value is not mistaken for a wrong threshold.
    """
    fill = fill_bits(dtype, dialect)
    masked = (after == fill) | (after == special_bits(dtype, "-inf"))
    altered = (before != after) & ~masked
    if altered.any():
        values = decode(before, dtype)
        finite = values[np.isfinite(values)]
        lowest, highest = (finite.min(), finite.max()) if finite.size else (-np.inf, -np.inf)
        # Where the maximum itself was altered, so is everything that survives.
        if not altered[values == highest].any():
            masked |= altered & (decode(after, dtype) < lowest)
    kept: npt.NDArray[np.bool_] = ~masked
    return kept


class _RowResult:
    """One row of input and result beside the oracle's verdict."""

    def __init__(
        self, before: Bits, after: Bits, verdict: Verdict, dtype: str, dialect: Dialect
    ) -> None:
        self._before, self._after, self._verdict, self._dtype = before, after, verdict, dtype
        self._same = before == after
        neg_inf = before == special_bits(dtype, "-inf")
        fill = np.where(neg_inf, special_bits(dtype, "-inf"), fill_bits(dtype, dialect))
        self._filled = after == fill
        self._fill = int(fill_bits(dtype, dialect))
        if not verdict.unchanged:
            self._kept = kept_tokens(before, after, dtype, dialect)
            self._values = decode(before, dtype)
            # A logit that already holds the fill value tells nothing by keeping it.
            self._telling = ~(self._same & self._filled)

    def problems(self) -> list[tuple[Kind, int, str, str]]:
        if self._verdict.unchanged:
            changed = np.flatnonzero(~self._same)
            if not changed.size:
                return []
            token = int(changed[0])
            return [("unchanged", token, f"left alone ({self._verdict.rule})", self._got(token))]
        codes, kept, values = self._verdict.codes, self._kept, self._values
        maximum = values == np.float32(self._verdict.maximum)
        masks: list[tuple[Kind, npt.NDArray[np.bool_], str]] = [
            ("maximum", maximum & ~kept, "kept: it equals the maximum"),
            (
                "membership",
                (codes == Keep.MUST_KEEP) & ~maximum & ~kept & self._telling,
                "kept: above the acceptance interval",
            ),
            (
                "membership",
                (codes == Keep.MUST_DROP) & kept & self._telling,
                "masked: below the acceptance interval",
            ),
            ("fill", ~kept & ~self._filled, f"exactly {_value(self._fill, self._dtype)!r}"),
            ("bits", kept & ~self._same, "the bits of the input"),
        ]
        problems = [
            (kind, int(mask.argmax()), expected, self._got(int(mask.argmax())))
            for kind, mask, expected in masks
            if mask.any()
        ]
        return problems + self._second_cut()

    def loose(self) -> bool:
        """Whether a token outside of the tight band fares against the exact threshold."""
        if self._verdict.unchanged:
            return False
        tight = self._verdict.tight
        assert tight is not None
        may = (self._verdict.codes == Keep.MAY) & self._telling
        outside = (self._values < np.float32(tight.lower)) | (
            self._values > np.float32(tight.upper)
        )
        return bool((may & outside & (self._kept != self._verdict.keep)).any())

    def _second_cut(self) -> list[tuple[Kind, int, str, str]]:
        may = (self._verdict.codes == Keep.MAY) & self._telling
        kept, masked = may & self._kept, may & ~self._kept
        if not kept.any() or not masked.any():
            return []
        lowest_kept = self._values[kept].min()
        token = int(np.where(masked, self._values, -np.inf).argmax())
        if self._values[token] < lowest_kept:
            return []
        expected = f"kept, since {float(lowest_kept)!r}, which is not above it, is kept"
        return [("single-cut", token, expected, self._got(token))]

    def _got(self, token: int) -> str:
        if self._same[token]:
            return "kept"
        pattern = int(self._after[token])
        digits = self._after.dtype.itemsize * 2
        return f"{_value(pattern, self._dtype)!r} (0x{pattern:0{digits}x})"


def fill_bits(dtype: str, dialect: Dialect) -> int:
    """Bit pattern that a masked logit becomes in ``dialect``."""
    neg_inf = special_bits(dtype, "-inf")
    # The lowest finite pattern of every IEEE format stands just before -inf.
    return neg_inf if dialect.fill == "-inf" else neg_inf - 1


def _value(pattern: int, dtype: str) -> float:
    return float(decode(np.array([pattern], width(dtype)), dtype)[0])
