"""One frozen vector: what it holds, and how the reference answers it."""

from __future__ import annotations

import dataclasses
import math
import struct
from fractions import Fraction
from typing import Any

from topnsigma_conformance.judge import fill_bits
from topnsigma_conformance.vectors.words import (
    NEG_INF,
    Words,
    from_hex,
    row_array,
    to_hex,
    value_of,
    values_of,
    word,
)
from topnsigma_reference import RFC, Dialect, Keep, Threshold, Verdict, classify, parse_n
from topnsigma_reference.moments import UNIT_EXPONENT, exact_moments, grid_integer


@dataclasses.dataclass(frozen=True)
class Vector:
    """Input of one call, and what it is for.

    Attributes:
        rule: id of the rule that it is about.
        note: a few words about the rows.
        rows: B rows of V words.
        n: B entries: numbers, None, or values outside the domain that JSON can carry or name.
        dtype: float32, float16 or bfloat16.
        dialect: the reading of top-nσ.
        exact: float32 arithmetic on every row is exact in any order, so that the vector as a whole
            can say what becomes of a logit equal to the threshold.
        faults: names of the faults that it catches.
    """

    rule: str
    note: str
    rows: tuple[Words, ...]
    n: tuple[Any, ...]
    dtype: str = "float32"
    dialect: Dialect = RFC
    exact: bool = False
    faults: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Answer:
    """The reference's answer to a vector.

    Attributes:
        error: the call has to be rejected; then the other fields are empty.
        letters: per row one of K, D, E and T for each token.
        thresholds: per row its threshold, or None where the row is left alone.
        domain: ``core`` or ``extreme``.
    """

    error: bool
    letters: tuple[str, ...] = ()
    thresholds: tuple[Threshold | None, ...] = ()
    domain: str = "core"


def answer(vector: Vector) -> Answer:
    """How the reference answers ``vector``.

    Raises:
        ValueError: the vector cannot be judged by its letters: a token that may go either way
            already holds the fill value.
    """
    try:
        for entry in vector.n:
            parse_n(entry, vector.dialect)
    except ValueError:
        return Answer(error=True)
    letters, thresholds, core = [], [], True
    for row, n in zip(vector.rows, vector.n, strict=True):
        verdict = classify(row_array(row, vector.dtype), n, vector.dialect)
        letters.append(_letters(vector, row, verdict))
        thresholds.append(verdict.threshold)
        if verdict.threshold is not None:
            core = core and _in_core_domain(vector, row, verdict.threshold)
    return Answer(False, tuple(letters), tuple(thresholds), "core" if core else "extreme")


def _letters(vector: Vector, row: Words, verdict: Verdict) -> str:
    if verdict.threshold is None:
        return "K" * len(row)
    neg_inf, fill = NEG_INF[vector.dtype], fill_bits(vector.dtype, vector.dialect)
    result = []
    for pattern, code in zip(row, verdict.codes.tolist(), strict=True):
        if pattern == neg_inf or code == Keep.MUST_KEEP:
            result.append("K")
        elif code == Keep.MUST_DROP:
            result.append("D")
        elif pattern == fill:
            raise ValueError(
                f"{vector.note}: whether a token that is the fill value stays shows not"
            )
        elif vector.exact and _on_threshold(value_of(pattern, vector.dtype), verdict.threshold):
            result.append("T")
        else:
            result.append("E")
    return "".join(result)


def _on_threshold(value: float, threshold: Threshold) -> bool:
    distance = threshold.grid_maximum - grid_integer(value)
    numerator, denominator = threshold.variance
    return distance**2 * denominator == threshold.n**2 * numerator


def _in_core_domain(vector: Vector, row: Words, threshold: Threshold) -> bool:
    """|x| <= 1e4, σ >= 1e-6 and |mean| <= 1e3·σ."""
    values = values_of(row, vector.dtype)
    finite = [value for value in values if math.isfinite(value)]
    counted = [x if math.isfinite(x) else 0.0 for x in values]
    if vector.dialect.neg_inf == "exclude":
        counted = finite
    moments = exact_moments(row_array([word(value) for value in counted], "float32"))
    variance = Fraction(*threshold.variance)
    mean = Fraction(moments.total, moments.count)
    unit = Fraction(1, 1 << -UNIT_EXPONENT)
    return (
        max(map(abs, finite)) <= 1e4
        and variance * unit**2 >= Fraction(1, 10**12)
        and mean**2 <= 10**6 * variance
    )


def binary64_hex(value: float) -> str:
    """The bits of a binary64 in big-endian hexadecimal digits."""
    return struct.pack(">d", value).hex()


_KINDS = {bool: "boolean", str: "string", list: "list", dict: "object"}


def encode_n(entry: Any) -> Any:
    """An entry of n in JSON; the inverse of :func:`decode_n`."""
    if entry is None:
        return None
    if type(entry) in _KINDS:
        return {"invalid": _KINDS[type(entry)], "value": entry}
    bits = binary64_hex(entry)
    if math.isnan(entry):
        return {"invalid": "nan", "bits": bits}
    if math.isinf(entry):
        return {"invalid": "inf" if entry > 0 else "-inf", "bits": bits}
    if entry > 0:
        return {"value": entry, "bits": bits}
    return {"invalid": "negative" if entry < 0 else "zero", "value": entry, "bits": bits}


def decode_n(entry: Any) -> Any:
    """The Python value of an entry of n."""
    if entry is None:
        return None
    if "bits" not in entry:
        return entry["value"]
    number = struct.unpack(">d", bytes.fromhex(entry["bits"]))[0]
    # An integer is told from a float by its JSON spelling, and by nothing else.
    return entry["value"] if isinstance(entry.get("value"), int) else number


def to_json(vector: Vector, found: Answer, identifier: str) -> dict[str, Any]:
    """The vector and its answer as an object of the format."""
    return {
        "id": identifier,
        "rule": vector.rule,
        "note": vector.note,
        "dialect": dataclasses.asdict(vector.dialect),
        "domain": found.domain,
        "dtype": vector.dtype,
        "exact": vector.exact,
        "size": len(vector.rows[0]),
        "rows": [to_hex(row, vector.dtype) for row in vector.rows],
        "n": [encode_n(entry) for entry in vector.n],
        "fill": to_hex([fill_bits(vector.dtype, vector.dialect)], vector.dtype),
        "error": found.error,
        "expected": list(found.letters),
        "thresholds": [_threshold_json(threshold) for threshold in found.thresholds],
        "faults": list(vector.faults),
    }


def _threshold_json(threshold: Threshold | None) -> dict[str, Any] | None:
    if threshold is None:
        return None
    ends = (threshold.first_kept, threshold.accept.lower, threshold.accept.upper)
    first_kept, lower, upper = (f"{word(value):08x}" for value in ends)
    return {"first_kept": first_kept, "accept": [lower, upper]}


def from_json(entry: dict[str, Any]) -> Vector:
    """The vector of an object that satisfies the schema.

    Raises:
        ValueError: a row is no whole number of words.
    """
    return Vector(
        rule=entry["rule"],
        note=entry["note"],
        rows=tuple(from_hex(row, entry["dtype"]) for row in entry["rows"]),
        n=tuple(decode_n(n) for n in entry["n"]),
        dtype=entry["dtype"],
        dialect=Dialect(**entry["dialect"]),
        exact=entry["exact"],
        faults=tuple(entry["faults"]),
    )
