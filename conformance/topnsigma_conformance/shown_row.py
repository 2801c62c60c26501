"""One row of a counterexample, as much of it as a drawing needs."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from topnsigma_conformance.case import exact_row
from topnsigma_conformance.formats import (
    Bits,
    Float32Array,
    decode,
    encode,
    largest,
    special_bits,
)
from topnsigma_conformance.judge import kept_tokens
from topnsigma_reference import Dialect, Keep, Verdict

MAX_TOKENS = 64
"""Of a row that is shown whole."""

_NEAREST = 40
"""Tokens that are shown of a longer row."""

_ALLOWED = {Keep.MUST_DROP: "D", Keep.MAY: "E", Keep.MUST_KEEP: "K"}


@dataclasses.dataclass(frozen=True)
class ShownRow:
    """Tokens of one row: all of a short one, of a long one those whose logits are nearest the cut.

    All strings are in the order of ``tokens``, one entry a token.

    Attributes:
        tokens: their indices, ascending. The token concerned and one that holds the largest finite
            logit are always among them.
        before, after: bit patterns as hexadecimal digits, 8 each in float32, 4 in a narrow dtype.
        allowed: letters. ``K`` must be kept, ``D`` must be masked, ``E`` may be either.
        did: letters. ``K`` came back bit for bit, ``D`` is exactly the fill value; ``k`` and ``d``
            count as kept and as masked, but hold something else.
    """

    tokens: tuple[int, ...]
    before: str
    after: str
    allowed: str
    did: str


def shown_row(
    before: Bits,
    after: Bits,
    verdict: Verdict,
    dtype: str,
    dialect: Dialect,
    token: int | None = None,
) -> ShownRow:
    """What to show of a row.

    Args:
        before, after: bits [V] of the row and of what was made of it.
        verdict: the oracle's, on the row.
        dtype: of the logits.
        dialect: under which it was judged.
        token: the one concerned, if it is one.
    """
    tokens = _tokens(decode(before, dtype), verdict.cut, token)
    did = _did(before, after, verdict.codes, dtype, dialect)
    return ShownRow(
        tokens=tuple(tokens.tolist()),
        before=exact_row(before[tokens], dtype).hex,
        after=exact_row(after[tokens], dtype).hex,
        allowed="".join(_ALLOWED[Keep(code)] for code in verdict.codes[tokens].tolist()),
        did="".join(did[tokens].tolist()),
    )


def _tokens(values: Float32Array, cut: float | None, token: int | None) -> npt.NDArray[np.intp]:
    if values.size <= MAX_TOKENS:
        return np.arange(values.size)
    wide = np.where(np.isfinite(values), values, np.nan).astype(np.float64)
    if cut is None:
        # What has to come back as it was: the neighbours of what did not.
        distance = np.abs(np.arange(values.size, dtype=np.float64) - (token or 0))
    else:
        distance = np.nan_to_num(np.abs(wide - cut), nan=np.inf)
    if token is not None:
        distance[token] = -1.0
    if not np.isnan(wide).all():
        distance[np.nanargmax(wide)] = -1.0
    return np.sort(np.argsort(distance, kind="stable")[:_NEAREST])


def _did(
    before: Bits, after: Bits, codes: npt.NDArray[np.int8], dtype: str, dialect: Dialect
) -> npt.NDArray[np.str_]:
    kept, same = kept_tokens(before, after, dtype, dialect), before == after
    fill = special_bits(dtype, "-inf")
    if dialect.fill == "lowest":
        fill = int(encode(np.array([-largest(dtype)], np.float32), dtype)[0])
    # One that holds the fill value, or -inf, from the start tells nothing by staying as it was.
    stays_masked = ~kept & same
    return np.select(
        [
            stays_masked & (codes == Keep.MUST_DROP),
            stays_masked | (kept & same),
            kept,
            after == fill,
        ],
        ["D", "K", "k", "D"],
        "d",
    ).astype(np.str_)
