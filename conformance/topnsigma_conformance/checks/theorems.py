"""THM-1 … THM-5: relations between results that follow from the rules.

They compare results of the implementation with one another, so they would notice an oracle that
errs together with it. Tokens inside an acceptance interval are free (TNS-9) and are left out.
"""

from __future__ import annotations

import dataclasses

import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt

from topnsigma_conformance import strategies
from topnsigma_conformance.batch import Batch
from topnsigma_conformance.case import Case
from topnsigma_conformance.check import Check, Context, Scale, Violation, assume
from topnsigma_conformance.formats import Bits, as_array, decode, encode, largest
from topnsigma_conformance.implementation import Claims
from topnsigma_conformance.judge import kept_tokens
from topnsigma_reference import Dialect, Keep, Verdict, classify

_SIZES = (97, 1024, 4099, 32_000, 50_257, 128_257)


def _cases(
    context: Context, scale: Scale, params: st.SearchStrategy[dict[str, float]]
) -> st.SearchStrategy[Case]:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        if scale == "small":
            row = draw(strategies.small_rows(2, 12))
        else:
            row = draw(strategies.large_rows(sizes=_SIZES))
        row = draw(strategies.placed(row, ("lower", "upper"), max_places=2))
        n = draw(strategies.telling_n(row, context.claims.n_format))
        return Case(rows=(row,), n=(n,), params=draw(params))

    return cases()


def _temperature_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    powers = st.integers(-5, 5).filter(bool)
    return _cases(context, scale, powers.map(lambda power: {"power": power}))


def _temperature(context: Context, case: Case) -> None:
    batch = context.batch(case)
    values = decode(batch.bits, context.dtype)
    scaled = np.ldexp(values, case.params["power"]).astype(np.float32)
    assume(float(np.abs(scaled).max()) <= largest(context.dtype))
    bits = encode(scaled, context.dtype)
    # Only an exact scaling is a theorem: nothing may have been rounded to a subnormal.
    assume(np.array_equal(np.ldexp(decode(bits, context.dtype), -case.params["power"]), values))
    other = dataclasses.replace(batch, bits=bits)
    one_kept, one = _kept(context, batch)
    other_kept, two = _kept(context, other)
    _agree(
        "THM-1",
        batch,
        (one_kept != other_kept) & _decided(one) & _decided(two),
        f"multiplying the row by 2**{case.params['power']} changed the fate of",
    )


def _monotone_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    factors = st.sampled_from((1.25, 1.5, 2.0, 4.0))
    return _cases(context, scale, factors.map(lambda factor: {"factor": factor}))


def _monotone(context: Context, case: Case) -> None:
    batch = context.batch(case)
    larger = dataclasses.replace(batch, n=(batch.n[0] * case.params["factor"],))
    few, one = _kept(context, batch)
    many, two = _kept(context, larger)
    if one.accept is None or two.accept is None:
        return
    assume(two.accept.upper < one.accept.lower)
    _agree("THM-2", batch, few & ~many, f"n = {larger.n[0]!r}, which is larger, dropped")


def _idempotent_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    return _cases(context, scale, st.just({}))


def _idempotent(context: Context, case: Case) -> None:
    batch = context.batch(case)
    once = context.result(batch)
    twice = context.result(dataclasses.replace(batch, bits=once))
    _agree("THM-3", batch, (once != twice)[0], "a second application changed")


def _needs_idempotence(_: Claims, dialect: Dialect) -> str:
    if dialect.neg_inf == "noop" and dialect.fill == "-inf":
        return ""
    return "the theorem holds where masked rows are left alone"


def _permutation_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    return _cases(context, scale, st.integers(0, 1000).map(lambda seed: {"order": seed}))


def _permutation(context: Context, case: Case) -> None:
    batch = context.batch(case)
    size = batch.shape[1]
    order = np.random.default_rng(int(case.params["order"])).permutation(size)
    shuffled = dataclasses.replace(batch, bits=np.ascontiguousarray(batch.bits[:, order]))
    kept, verdict = _kept(context, batch)
    moved, _ = _kept(context, shuffled)
    back = np.empty_like(moved)
    back[order] = moved
    _agree("THM-4", batch, (kept != back) & _decided(verdict), "another token order changed")


def _composition_cases(context: Context, scale: Scale) -> st.SearchStrategy[Case]:
    params = st.fixed_dictionaries(
        {
            "top_k": st.sampled_from((1, 2, 5, 50, 10**6)),
            "top_p": st.sampled_from((0.1, 0.5, 0.9, 1.0)),
            "min_p": st.sampled_from((0.0, 0.05, 0.5)),
        }
    )
    return _cases(context, scale, params)


def _composition(context: Context, case: Case) -> None:
    batch = context.batch(case)
    bits = context.result(batch)
    verdict = classify(as_array(batch.bits[0], batch.dtype), batch.n[0], context.dialect)
    logits = decode(bits[0], batch.dtype).astype(np.float64)
    with np.errstate(invalid="ignore"):
        weights = np.exp(logits - logits.max())
        probabilities = weights / weights.sum()
    for name, survivors in _samplers(probabilities, case.params):
        if not survivors.any():
            raise Violation("THM-5", f"nothing is left after {name}", batch, bits=bits)
        _agree(
            "THM-5",
            batch,
            survivors & (verdict.codes == Keep.MUST_DROP),
            f"{name} after top-nσ can still sample",
        )


def _needs_neg_inf_fill(_: Claims, dialect: Dialect) -> str:
    return "" if dialect.fill == "-inf" else "a masked logit that is finite can be sampled"


def _samplers(
    probabilities: npt.NDArray[np.float64], params: object
) -> list[tuple[str, npt.NDArray[np.bool_]]]:
    assert isinstance(params, dict)
    positive = probabilities > 0
    order = np.argsort(-probabilities, kind="stable")
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    before = np.empty_like(probabilities)
    before[order] = np.cumsum(probabilities[order]) - probabilities[order]
    return [
        (f"top-k {params['top_k']}", positive & (rank < params["top_k"])),
        (f"top-p {params['top_p']}", positive & (before < params["top_p"])),
        (
            f"min-p {params['min_p']}",
            positive & (probabilities >= params["min_p"] * probabilities.max()),
        ),
    ]


def _kept(context: Context, batch: Batch) -> tuple[npt.NDArray[np.bool_], Verdict]:
    bits: Bits = context.result(batch)
    verdict = classify(as_array(batch.bits[0], batch.dtype), batch.n[0], context.dialect)
    return kept_tokens(batch.bits[0], bits[0], batch.dtype, context.dialect), verdict


def _decided(verdict: Verdict) -> npt.NDArray[np.bool_]:
    return np.asarray(verdict.codes != Keep.MAY)


def _agree(rule: str, batch: Batch, wrong: npt.NDArray[np.bool_], what: str) -> None:
    if wrong.any():
        token = int(wrong.argmax())
        logit = float(decode(batch.bits[0, token : token + 1], batch.dtype)[0])
        raise Violation(
            rule,
            f"{what} token {token} (logit {logit!r}; {int(wrong.sum())} such tokens),"
            f" n = {batch.n[0]!r}",
            batch,
        )


CHECKS = (
    Check(
        id="THM-1.temperature",
        title="multiplying a row by a power of two keeps the same tokens",
        cases=_temperature_cases,
        verify=_temperature,
    ),
    Check(
        id="THM-2.monotone",
        title="a larger n keeps a superset",
        cases=_monotone_cases,
        verify=_monotone,
    ),
    Check(
        id="THM-3.idempotent",
        title="applying twice equals applying once",
        cases=_idempotent_cases,
        verify=_idempotent,
        unsupported=_needs_idempotence,
    ),
    Check(
        id="THM-4.permutation",
        title="the kept set does not depend on the order of tokens",
        cases=_permutation_cases,
        verify=_permutation,
    ),
    Check(
        id="THM-5.composition",
        title="top-k, top-p or min-p after top-nσ sample only what it kept",
        cases=_composition_cases,
        verify=_composition,
        unsupported=_needs_neg_inf_fill,
    ),
)
