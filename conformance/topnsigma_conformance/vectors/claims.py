"""Which faults a vector catches: one predicate for each, on the vector and its answer."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable

from topnsigma_conformance.judge import fill_bits
from topnsigma_conformance.vectors.draw import float32
from topnsigma_conformance.vectors.scene import Scene, deviation, scenes
from topnsigma_conformance.vectors.threshold_faults import THRESHOLD_FAULTS, shows
from topnsigma_conformance.vectors.vector import Answer, Vector, answer
from topnsigma_conformance.vectors.words import row_array, value_of, word
from topnsigma_reference import Dialect, classify, parse_n

Rows = list[Scene]
Claim = Callable[[Vector, Rows], bool]


def claimed(vector: Vector, suspects: Iterable[str]) -> tuple[Vector, Answer]:
    """``vector`` with those of ``suspects`` and of its own faults that it really catches."""
    found = answer(vector)
    rows = scenes(vector, found)
    names = tuple(
        name for name in (*vector.faults, *suspects) if _catches(name, vector, found, rows)
    )
    return dataclasses.replace(vector, faults=names), found


def _catches(name: str, vector: Vector, found: Answer, rows: Rows) -> bool:
    if name in _BAD_N:
        bad = [n for n in vector.n if _invalid(n)]
        return found.error and len(bad) == 1 and _BAD_N[name](bad[0])
    if name in THRESHOLD_FAULTS:
        return any(row.threshold is not None and shows(name, row) for row in rows)
    if name in _CALLS:
        return _CALLS[name](vector, rows)
    if name in _CUT_ROWS:
        return any(row.threshold is not None and _CUT_ROWS[name](row) for row in rows)
    return any(row.threshold is None and _WHOLE_ROWS[name](row) for row in rows)


def _invalid(n: object) -> bool:
    try:
        parse_n(n)
    except ValueError:
        return True
    return False


def _finite_number(n: object) -> bool:
    return isinstance(n, (int, float)) and not isinstance(n, bool) and math.isfinite(n)


_BAD_N: dict[str, Callable[[object], bool]] = {
    "AcceptsZero": lambda n: _finite_number(n) and n == 0,
    "AcceptsNegative": lambda n: _finite_number(n) and isinstance(n, (int, float)) and n < 0,
    "AcceptsNaN": lambda n: isinstance(n, float) and math.isnan(n),
    "AcceptsInfinity": lambda n: n == math.inf,
    "AcceptsBool": lambda n: n is True,
    "AcceptsString": lambda n: n == "2.0",
    "UnwrapsLists": lambda n: n == [2.0],
}


def _not_first(values: list[float], equal: Callable[[float], bool]) -> bool:
    return sum(equal(value) for value in values) > 1


def _loses_above(row: Scene, count: int) -> bool:
    """Whether keeping the best ``count`` only, or at least, shows."""
    may = sum(letter in "ET" for letter in row.letters)
    return len(row.kept) > count if count > 2 else len(row.kept) + may < 2 <= len(row.letters)


def _absolute(row: Scene) -> bool:
    assert row.n is not None
    threshold = row.maximum - row.n * row.sigma
    return any(abs(row.values[index]) > threshold + 1e-3 for index in row.masked)


def _swallowed(row: Scene) -> bool:
    assert row.n is not None
    return row.maximum - row.n * row.sigma == row.maximum


def _tied_at_the_cut(row: Scene) -> bool:
    """Whether several tokens that may go either way equal the threshold, rounded to float32."""
    assert row.n is not None
    threshold = row.maximum - row.n * row.sigma
    rounded = float32(threshold)
    if abs(rounded - threshold) > math.ulp(rounded) * 2**27:
        return False
    return sum(x == rounded for x in row.values) > 1 and rounded < row.maximum


def _inexact_in_float16(row: Scene) -> bool:
    return any(
        value_of(word(row.values[index], "float16"), "float16") != row.values[index]
        for index in row.kept
    )


_CUT_ROWS: dict[str, Callable[[Scene], bool]] = {
    "AbsoluteValues": _absolute,
    "LowestFloatFill": lambda row: bool(row.masked) and row.dialect.fill == "-inf",
    "BillionFill": lambda row: bool(row.masked),
    "TailNotMasked": lambda row: (
        len(row.words) > 4 and any(i >= len(row.words) // 4 * 4 for i in row.masked)
    ),
    "FirstTokenLost": lambda row: row.letters[0] == "K" and row.values[0] < row.maximum,
    "KeepsTwo": lambda row: _loses_above(row, 2),
    "KeepsSixtyFour": lambda row: _loses_above(row, 64),
    "SurvivorsShifted": lambda row: row.maximum != 0,
    "SurvivorsScaled": lambda row: any(abs(row.values[i]) > 2.0**-126 for i in row.kept),
    "SurvivorsThroughFloat16": _inexact_in_float16,
    "NegativeZeroNormalised": lambda row: any(
        row.values[index] == 0 and math.copysign(1, row.values[index]) < 0 for index in row.kept
    ),
    "SubnormalsFlushed": lambda row: any(0 < abs(row.values[i]) < 2.0**-126 for i in row.kept),
    "OneOfTiedMaximaLost": lambda row: _not_first(row.values, lambda x: x == row.maximum),
    "MaximumLostAtSmallN": _swallowed,
    "EverySecondTieLost": _tied_at_the_cut,
    "Float64Returned": lambda row: True,
    "CutWanders": lambda row: len(row.words) > 32 and row.letters.count("E") >= 8,
    "LastDeviationLeaks": lambda row: len(row.words) > 32 and row.letters.count("E") >= 8,
}
"""For rows that have a threshold."""


def _distinct(row: Scene) -> bool:
    return len(row.finite) == len(row.values) and len(set(row.values)) > 1


def _infinities(row: Scene, sign: int) -> int:
    return sum(value == sign * math.inf for value in row.values)


def _enabled(row: Scene) -> bool:
    return row.n is not None


def _has_nan(row: Scene) -> bool:
    return any(math.isnan(value) for value in row.values)


def _quiet_nan(row: Scene) -> bool:
    """Whether every NaN of the row is quiet: what a signalling one does hangs on the library."""
    return _has_nan(row) and all(
        pattern & 0x400000
        for pattern, value in zip(row.words, row.values, strict=True)
        if math.isnan(value)
    )


def _drops_in(row: Scene, neg_inf: str) -> bool:
    """Whether the row loses a finite token under another dialect; NaN and +inf left out."""
    if row.n is None or not row.finite or len(row.finite) == len(row.values):
        return False
    dialect = Dialect(neg_inf=neg_inf)  # type: ignore[arg-type]
    values = [x if math.isfinite(x) else -math.inf for x in row.values]
    codes = classify(row_array([word(x) for x in values], "float32"), row.n, dialect).codes
    return any(code == 0 and math.isfinite(x) for code, x in zip(codes, values, strict=True))


def _only(row: Scene, *allowed: float) -> bool:
    return _enabled(row) and all(math.isfinite(x) or x in allowed for x in row.values)


_WHOLE_ROWS: dict[str, Callable[[Scene], bool]] = {
    "DisabledRowMadeGreedy": lambda row: row.n is None and _distinct(row),
    "DisabledRowNormalised": lambda row: (
        row.n is None and any(x == 0 and math.copysign(1, x) < 0 for x in row.values)
    ),
    "NaNRowMasked": lambda row: _enabled(row) and _has_nan(row),
    "NaNIgnored": lambda row: (
        _quiet_nan(row)
        and not _infinities(row, 1) + _infinities(row, -1)
        and _drops_in(row, "exclude")
    ),
    "NaNPayloadCanonicalised": lambda row: (
        _enabled(row)
        and any(
            math.isnan(value) and pattern != 0x7FC00000
            for pattern, value in zip(row.words, row.values, strict=True)
        )
    ),
    "PositiveInfinityRowMasked": lambda row: (
        _only(row, math.inf) and 0 < _infinities(row, 1) < len(row.values)
    ),
    "PositiveInfinityDropped": lambda row: (
        _only(row, math.inf) and _infinities(row, 1) > 0 and _drops_in(row, "exclude")
    ),
    "NegativeInfinityRowMasked": lambda row: (
        _only(row, -math.inf) and _infinities(row, -1) > 0 and len(row.finite) > 1
    ),
    "NegativeInfinityExcluded": lambda row: _only(row, -math.inf) and _drops_in(row, "exclude"),
    "NegativeInfinityAsZero": lambda row: _only(row, -math.inf) and _drops_in(row, "zero"),
    "FinitenessSampled": lambda row: (
        _enabled(row)
        and len(row.values) > 256
        and all(math.isfinite(x) for x in row.values[:-1])
        and not math.isfinite(row.values[-1])
    ),
    "OneTokenRowMasked": lambda row: _only(row) and len(row.values) == 1,
    "ConstantRowMasked": lambda row: (
        _only(row) and len(row.values) > 1 and len(set(row.values)) == 1
    ),
}
"""For rows that are left alone."""


def _others_n(shift: Callable[[int, int], int]) -> Claim:
    def shows_n(_: Vector, rows: Rows) -> bool:
        for index, row in enumerate(rows):
            other = rows[shift(index, len(rows))].n
            if row.n is None:
                if other is not None and _distinct(row) and row.sigma > 0:
                    borrowed = row.maximum - other * row.sigma
                    if any(x < borrowed - 1e-3 for x in row.values):
                        return True
            elif row.threshold is not None:
                borrowed = -math.inf if other is None else row.maximum - other * row.sigma
                if row.shows_threshold(borrowed):
                    return True
        return False

    return shows_n


def _batch_wide(maximum: bool) -> Claim:
    def shows_batch(_: Vector, rows: Rows) -> bool:
        # Rows of NaN and inf are another question.
        if len(rows) < 2 or any(len(row.finite) < len(row.values) for row in rows):
            return False
        everything = [x for row in rows for x in row.values]
        return any(
            row.threshold is not None
            and row.n is not None
            and row.shows_threshold(
                max(everything) - row.n * row.sigma
                if maximum
                else row.maximum - row.n * deviation(everything)
            )
            for row in rows
        )

    return shows_batch


def _rejects_half_way(vector: Vector, _: Rows) -> bool:
    bad = [_invalid(n) for n in vector.n]
    if True not in bad or bad[0] or vector.n[0] is None:
        return False
    first = dataclasses.replace(vector, rows=vector.rows[:1], n=vector.n[:1])
    return "D" in answer(first).letters[0]


def _last_row_for_all(vector: Vector, rows: Rows) -> bool:
    fill = fill_bits(vector.dtype, vector.dialect)

    def result(row: Scene) -> list[int]:
        return [
            pattern if letter == "K" else fill if letter == "D" else -1
            for letter, pattern in zip(row.letters, row.words, strict=True)
        ]

    results = [result(row) for row in rows]
    return any(
        mine != last and -1 not in (mine, last)
        for other in results[:-1]
        for mine, last in zip(other, results[-1], strict=True)
    )


def _greedy_in_batch(_: Vector, rows: Rows) -> bool:
    disabled = [row for row in rows if row.n is None]
    return len(disabled) < len(rows) and any(map(_distinct, disabled))


_CALLS: dict[str, Claim] = {
    "RowsAliased": _last_row_for_all,
    "RejectsIntegers": lambda vector, rows: bool(rows) and any(type(n) is int for n in vector.n),
    "RejectsHalfWay": _rejects_half_way,
    "DisabledRowMadeGreedyInBatch": _greedy_in_batch,
    "BatchWideDeviation": _batch_wide(maximum=False),
    "BatchWideMaximum": _batch_wide(maximum=True),
    "FirstRowsNForAll": _others_n(lambda index, count: 0),
    "RowOffByOne": _others_n(lambda index, count: (index + 1) % count if count % 2 else index),
    "ShapeFlattened": lambda vector, rows: len(rows) > 1,
    "GreaterForGreaterEqual": lambda vector, rows: (
        vector.exact and vector.dialect.boundary == "keep"
    ),
    # Claimed for the second of two vectors with the same row.
    "LastNUsed": lambda vector, rows: bool(rows),
}
"""For the call as a whole."""

KNOWN_FAULTS = (*_BAD_N, *THRESHOLD_FAULTS, *_CALLS, *_CUT_ROWS, *_WHOLE_ROWS)
"""Every fault that a vector can claim."""
