"""An example of each rule and theorem, worked out by the reference when it is shown."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from rich.console import RenderableType

from topnsigma_conformance.case import Row
from topnsigma_conformance.drawn_example import (
    Scale,
    bits_table,
    float32,
    formula,
    number_line,
    results_table,
    row_text,
    text_table,
)
from topnsigma_conformance.formats import Float32Array, special_bits
from topnsigma_conformance.placement import Place
from topnsigma_reference import RFC, Dialect, classify, parse_n, top_n_sigma

Example = list[RenderableType]

_DISABLE, _EXCLUDE = Dialect(invalid_n="disable"), Dialect(neg_inf="exclude")
_POPULATION = Dialect(sigma="population")


def example_of(rule: str) -> Example:
    """What to print as an example of a rule or theorem.

    Raises:
        KeyError: no rule has this id.
    """
    return _EXAMPLES[rule]()


def _row(*values: float) -> Float32Array:
    return np.array(values, dtype=np.float32)


# max 10, σ = 2: the row of SPEC.md's worked example.
_ROW = _row(10, 8, 6, 6, 5)


def _domain() -> Example:
    entries: list[Any] = [2.0, 2, Fraction(1, 2), 5e-324, None, 0, -1.0]
    entries += [math.nan, math.inf, 10**400, True, "2.0", [2.0]]

    def outcome(n: object, dialect: Dialect) -> str:
        try:
            exact = parse_n(n, dialect)
        except ValueError:
            return "rejected"
        return "disabled" if exact is None else "accepted"

    rows = [
        ("10**400" if n == 10**400 else repr(n), outcome(n, RFC), outcome(n, _DISABLE))
        for n in entries
    ]
    return [text_table(("n", "RFC", "invalid_n=disable"), rows), _error_of(0)]


def _error_of(n: object) -> str:
    try:
        parse_n(n)
    except ValueError as error:
        return f"The error for n = {n!r}: {error}"
    raise AssertionError(f"n = {n!r} is valid")


def _disabled() -> Example:
    names = ("nan-payload", "-0.0", "-inf", "subnormal")
    bits = np.array([*(special_bits("float32", name) for name in names), 0x3FC00000], np.uint32)
    return ["n = None:", bits_table(bits, None)]


def _non_finite() -> Example:
    rows = []
    for special in (np.nan, np.inf, -np.inf):
        row = _row(*_ROW, special)
        for dialect in (RFC, _EXCLUDE):
            verdict = classify(row, 1.0, dialect)
            remark = f"left alone ({verdict.rule})" if verdict.unchanged else f"t = {verdict.cut!r}"
            rows.append((str(dialect), top_n_sigma(row, 1.0, dialect), remark))
    return [
        f"n = 1.0, row {row_text(_ROW)} and a sixth token:",
        results_table("dialect", rows),
    ]


def _divisor() -> Example:
    row = _row(0, 1, 2)
    parts: Example = []
    for dialect, divisor in ((RFC, "V - 1"), (_POPULATION, "V")):
        parts += [
            f"Divisor {divisor} ({dialect}):",
            formula(classify(row, 1.1, dialect), 1.1),
            number_line(row, 1.1, dialect),
            "",
        ]
    return parts[:-1]


def _threshold() -> Example:
    verdict = classify(_ROW, 1.0)
    accept = verdict.accept
    assert accept is not None
    return [
        formula(verdict, 1.0),
        f"acceptance interval [{float32(accept.lower)}, {float32(accept.upper)}]",
        "",
        number_line(_ROW, 1.0),
        "",
        "Token 1 is equal to t and stays. With boundary=drop it is masked:",
        "",
        number_line(_ROW, 1.0, Dialect(boundary="drop")),
    ]


def _survivors() -> Example:
    tiny = float(np.finfo(np.float32).smallest_subnormal)
    row = _row(0.1, -0.0, tiny, -3.0)
    return [formula(classify(row, 1.0), 1.0), bits_table(row.view(np.uint32), 1.0)]


def _maximum() -> Example:
    row, n = _row(3, 1, 3, 2.9999998, 3), 1e-30
    verdict = classify(row, n)
    assert verdict.cut is not None
    return [
        formula(verdict, n),
        f"t lies below the maximum, but rounded to float32 it is {float32(verdict.cut)}."
        " All that equal the maximum stay:",
        number_line(row, n),
    ]


def _independence() -> Example:
    other = _row(0, -4, 100, 3, 1)
    batch, n = np.stack([other, _ROW, other]), [2.0, 1.0, None]
    together = top_n_sigma(batch, n)
    rows = [("alone", top_n_sigma(_ROW, 1.0), "n = 1.0")]
    rows += [
        (f"batch, row {index}", values, f"n = {entry!r}")
        for index, (values, entry) in enumerate(zip(together, n, strict=True))
    ]
    same = np.array_equal(rows[0][1].view(np.uint32), together[1].view(np.uint32))
    return [
        results_table("result", rows),
        f"Row 1 has {'the bits' if same else 'other bits'} that it has alone.",
    ]


def _accuracy() -> Example:
    places = (
        Place(1, "upper", 3),
        Place(2, "upper", -1),
        Place(3, "cut", 1),
        Place(4, "cut", -1),
        Place(5, "lower", 1),
        Place(6, "lower", -3),
    )
    # At 100 a float32 step is wide enough for the tight band to be seen beside the interval.
    made = Row(values=(100.0, *([99.5] * 6), 99.0, 99.0, 99.0), places=places)
    row = made.bits("float32", 1.0, RFC).view(np.float32)
    verdict = classify(row, 1.0)
    assert verdict.threshold is not None
    assert verdict.accept is not None
    assert verdict.tight is not None
    cut, accept, tight = verdict.threshold.cut, verdict.accept, verdict.tight
    reach = 1.15 * (accept.upper - accept.lower)
    return [
        formula(verdict, 1.0),
        f"acceptance interval [{float32(accept.lower)}, {float32(accept.upper)}]",
        f"tight band          [{float32(tight.lower)}, {float32(tight.upper)}]",
        "",
        number_line(row, 1.0, scale=Scale(cut - reach, cut + reach, width=40), zones=True),
        "",
        "Inside of the interval either answer conforms, as long as there is one cut.",
    ]


def _tensors() -> Example:
    logits = np.stack([_ROW, _ROW + 1]).astype(np.float16)
    before = logits.copy()
    result = top_n_sigma(logits, [1.0, None])
    same = "yes" if np.array_equal(before, logits) else "no"
    rows = [
        ("shape", str(list(logits.shape)), str(list(result.shape))),
        ("dtype", str(logits.dtype), str(result.dtype)),
    ]
    return [
        text_table(("", "input", "result"), rows),
        f"The reference declares that it copies. Input as it was: {same}.",
    ]


def _repeatability() -> Example:
    calls = [top_n_sigma(_ROW, 1.0) for _ in range(3)]
    rows = [
        (f"call {index}", " ".join(f"{bits:08x}" for bits in result.view(np.uint32)))
        for index, result in enumerate(calls, 1)
    ]
    return [f"n = 1.0, row {row_text(_ROW)}:", text_table(("", "bits of the result"), rows)]


def _temperature() -> Example:
    rows = []
    for factor in (0.5, 1.0, 2.0):
        row = (_ROW * np.float32(factor)).astype(np.float32)
        rows.append((f"× {factor}", top_n_sigma(row, 1.0), f"t = {classify(row, 1.0).cut!r}"))
    return [f"n = 1.0, row {row_text(_ROW)}:", results_table("", rows)]


def _monotonicity() -> Example:
    rows = []
    for n in (0.5, 1.0, 2.0, 3.0):
        verdict = classify(_ROW, n)
        remark = f"t = {verdict.cut!r}, {int(verdict.keep.sum())} kept"
        rows.append((f"n = {n}", top_n_sigma(_ROW, n), remark))
    return [f"row {row_text(_ROW)}:", results_table("", rows)]


def _idempotence() -> Example:
    once = top_n_sigma(_ROW, 1.0)
    rows = [
        ("before", _ROW, ""),
        ("once", once, f"t = {classify(_ROW, 1.0).cut!r}"),
        ("twice", top_n_sigma(once, 1.0), f"left alone ({classify(once, 1.0).rule})"),
    ]
    return [results_table("n = 1.0", rows)]


def _permutation() -> Example:
    reversed_row = _ROW[::-1].copy()
    rows = [
        ("before", _ROW, ""),
        ("after", top_n_sigma(_ROW, 1.0), ""),
        ("reversed, before", reversed_row, ""),
        ("reversed, after", top_n_sigma(reversed_row, 1.0), ""),
    ]
    return [results_table("n = 1.0", rows)]


def _composition() -> Example:
    kept = top_n_sigma(_ROW, 2.0)
    top_k = np.where(kept >= np.sort(kept)[-2], kept, np.float32(-np.inf))
    # p >= 0.05·max(p), in logits.
    min_p = np.where(kept >= kept.max() + math.log(0.05), kept, np.float32(-np.inf))
    rows = [
        ("before", _ROW, ""),
        ("top-nσ", kept, "n = 2.0"),
        ("then top-k", top_k, "k = 2"),
        ("or min-p", min_p, "p = 0.05"),
    ]
    return [results_table("", rows)]


_EXAMPLES: dict[str, Callable[[], Example]] = {
    "TNS-1": _domain,
    "TNS-2": _disabled,
    "TNS-3": _non_finite,
    "TNS-4": _divisor,
    "TNS-5": _threshold,
    "TNS-6": _survivors,
    "TNS-7": _maximum,
    "TNS-8": _independence,
    "TNS-9": _accuracy,
    "TNS-10": _tensors,
    "TNS-11": _repeatability,
    "THM-1": _temperature,
    "THM-2": _monotonicity,
    "THM-3": _idempotence,
    "THM-4": _permutation,
    "THM-5": _composition,
}
