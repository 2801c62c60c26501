"""TNS-5, TNS-6 and TNS-7: the threshold, what masked means, and what stays."""

from __future__ import annotations

import dataclasses
import random

import hypothesis.strategies as st
import numpy as np

from topnsigma_conformance import strategies
from topnsigma_conformance.batch import Batch
from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.check import Check, Context, Scale, Violation
from topnsigma_conformance.checks.blame import check_and_blame
from topnsigma_conformance.formats import Bits, decode
from topnsigma_conformance.judge import kept_tokens


def _cut_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        if scale == "small":
            row = draw(strategies.small_rows(3, 12))
        else:
            row = draw(strategies.plain_rows())
        row = draw(strategies.placed(row, ("lower", "upper", "cut")))
        return Case(rows=(row,), n=(draw(strategies.telling_n(row, context.claims.n_format)),))

    return cases()


def _every_place_of_the_maximum(_: Context) -> list[Case]:
    """The maximum is negative, alone, first and last: each finds out somebody's loop."""
    rows = ((-1.0, -2.0, -4.0, -9.0, -3.0), (20.0, 1.0, 0.5, 0.0), (0.0, 0.5, 1.0, 20.0))
    return [
        Case(rows=(Row(values=row),), n=(n,)) for row, n in zip(rows, (1.0, 0.5, 0.5), strict=True)
    ]


def _cut(context: Context, case: Case) -> None:
    # What is right wherever σ does not matter is a matter of accuracy.
    check_and_blame(context, context.batch(case), "TNS-9", {"membership"})


def _fill(context: Context, case: Case) -> None:
    check_and_blame(context, context.batch(case), "TNS-5", {"fill"})


def exact_row(sigma: str, power: int, spread: int, scale: float, order: int) -> tuple[Row, float]:
    """A row on which float32 arithmetic is exact, and the n whose threshold is exactly 0.

    The row is symmetric about 0 (mean 0), its squares sum to an integer, the divisor of its
    variance is 2**power and the variance a perfect square: two-pass sums do not round in any order.

    Args:
        sigma: ``sample`` gives V = 2**power + 1, ``population`` V = 2**power.
        power: binary logarithm of the divisor, at least 1.
        spread: 4**spread divides the divisor's share of ±scale tokens; 0 <= 2·spread < power.
        scale: the magnitude of the tokens that are not 0; a float32 of few bits.
        order: seed of the order of the tokens.
    """
    divisor = 2**power
    size = divisor + 1 if sigma == "sample" else divisor
    ends = divisor // 4**spread
    values = [scale, -scale] * (ends // 2) + [0.0] * (size - ends)
    random.Random(order).shuffle(values)
    return Row(values=tuple(values)), 2.0**spread


def drawn_shape(draw: st.DrawFn) -> tuple[int, int]:
    """``power`` and ``spread`` for :func:`exact_row`."""
    power = draw(st.integers(1, 4))
    return power, draw(st.integers(0, (power - 1) // 2))


def drawn_reach(draw: st.DrawFn, sigma: str, spread: int) -> float:
    """By what to multiply the n of :func:`exact_row`: 1, or 2 for the next token below.

    Without a token at 0 (population, no spread) the next one is the only one.
    """
    return 2.0 if draw(st.booleans()) or (sigma == "population" and spread == 0) else 1.0


def _boundary_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case] | None:
    if scale == "large":
        return None
    sigma = context.dialect.sigma

    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        power, spread = drawn_shape(draw)
        drawn = [
            exact_row(sigma, power, spread, factor * 2.0**exponent, order)
            for factor in (1, 3, 5, 7)
            for exponent in (-1, 0)
            for order in (0, 1)
        ]
        reach = drawn_reach(draw, sigma, spread)
        return Case(rows=tuple(row for row, _ in drawn), n=tuple(n * reach for _, n in drawn))

    return cases()


def _boundary(context: Context, case: Case) -> None:
    """A rounded threshold may fall on either side of a logit equal to it; an exact one may not.

    No order of summation is exact on every row, but each is on some. So the verdict is on all rows
    together: to fare wrongly on every one of them is not rounding.
    """
    batch = context.batch(case)
    try:
        _ties_fare_well(context, batch, context.result(batch))
    except Violation:
        # A row that is right on its own is spoilt by its neighbours, or by the call before: that is
        # for other checks to say.
        alone = [context.result(row) for row in batch.single_rows()]
        _ties_fare_well(context, batch, np.concatenate(alone))


def _ties_fare_well(context: Context, batch: Batch, bits: Bits) -> None:
    kept = []
    for row, n in enumerate(batch.n):
        values = decode(batch.bits[row], batch.dtype)
        sigma = np.abs(values).max() / 2.0 ** _spread(values)
        at_threshold = values == values.max() - n * sigma
        fates = kept_tokens(batch.bits[row], bits[row], batch.dtype, context.dialect)[at_threshold]
        if fates.any() and not fates.all():
            raise Violation("TNS-9", f"row {row}: equal logits fare differently", batch, bits=bits)
        kept.append(bool(fates.all()))
    expected = context.dialect.boundary == "keep"
    if expected not in kept:
        verb = "masked" if expected else "kept"
        raise Violation(
            "TNS-5",
            f"a logit exactly equal to the threshold was {verb} in all of {len(kept)} rows whose"
            f" arithmetic is exact (first: n = {batch.n[0]!r})",
            batch,
            bits=bits,
        )


def _spread(values: np.ndarray) -> int:
    ends = int(np.count_nonzero(values))
    divisor = values.size - values.size % 2
    return ((divisor // ends).bit_length() - 1) // 2


def _fill_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    rows = strategies.small_rows(2, 12) if scale == "small" else strategies.large_rows()
    return rows.flatmap(
        lambda row: st.builds(
            lambda n: Case(rows=(row,), n=(n,)),
            strategies.telling_n(row, context.claims.n_format),
        )
    )


_UNIT_INTERVAL = st.floats(-1.0, 1.0, width=32)
_WITH_TIES = st.one_of(st.integers(-3, 3).map(float), strategies.small_values())
_SURVIVORS = ("-0.0", "subnormal", "-subnormal")


def _survivor_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        if scale == "small":
            row = draw(strategies.small_rows(3, 10, _UNIT_INTERVAL))
        else:
            row = draw(strategies.large_rows(("flat", "model-like", "all-negative", "bimodal")))
        row = draw(strategies.with_specials(row, _SURVIVORS, min_count=0, max_count=3))
        # Large n let nearly everything survive.
        n = draw(st.sampled_from((1.0, 2.0, 3.0, 5.0, 50.0)))
        return Case(rows=(row,), n=(n,))

    return cases()


def _survivors(context: Context, case: Case) -> None:
    context.check(context.batch(case), "TNS-6", {"bits"})


def _maximum_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        if scale == "small":
            row = draw(strategies.small_rows(2, 8, _WITH_TIES))
        else:
            row = draw(strategies.large_rows(max_edits=0))
        top = float(row.floats().max())
        tied = draw(st.lists(strategies.token_indices(len(row)), max_size=4, unique=True))
        row = dataclasses.replace(row, edits=tuple((index, top) for index in tied))
        small = st.sampled_from((1e-30, 1e-6, 1e-3, 0.01))
        n = draw(st.one_of(small, strategies.valid_n(context.claims.n_format)))
        return Case(rows=(row,), n=(n,))

    return cases()


def _maximum(context: Context, case: Case) -> None:
    context.check(context.batch(case), "TNS-7", {"maximum"})


CHECKS = (
    Check(
        id="TNS-5.cut",
        title="tokens on both sides of the exact threshold fare as it says",
        cases=_cut_cases,
        verify=_cut,
        always=_every_place_of_the_maximum,
    ),
    Check(
        id="TNS-5.boundary",
        title="a logit equal to an exactly computable threshold fares as the dialect says",
        cases=_boundary_cases,
        verify=_boundary,
    ),
    Check(
        id="TNS-5.fill",
        title="a masked logit is exactly the dialect's fill value",
        cases=_fill_cases,
        verify=_fill,
    ),
    Check(
        id="TNS-6.survivors",
        title="a logit that is not masked keeps its bits",
        cases=_survivor_cases,
        verify=_survivors,
    ),
    Check(
        id="TNS-7.maximum",
        title="every logit equal to the maximum stays, however small n",
        cases=_maximum_cases,
        verify=_maximum,
    ),
)
