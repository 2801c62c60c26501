"""The exact result of top-nσ, and which results an implementation may give."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from topnsigma_reference.dialect import RFC, Dialect
from topnsigma_reference.float_format import (
    ACCEPTED_DTYPES,
    Array,
    Float32Array,
    FloatFormat,
    format_of,
)
from topnsigma_reference.moments import UNIT_EXPONENT, exact_moments, grid_integer
from topnsigma_reference.parameter import parse_n
from topnsigma_reference.threshold import Interval, Threshold, exact_threshold

_ZERO = np.float32(0.0)


class Keep(enum.IntEnum):
    """What an implementation has to do with one token (TNS-9)."""

    MUST_DROP = 0
    MAY = 1
    MUST_KEEP = 2


@dataclasses.dataclass(frozen=True, eq=False)
class Verdict:
    """The oracle's answer for one row [V].

    Attributes:
        rule: id of the rule that decided: TNS-1 (n outside the domain, disabled by dialect), TNS-2
            (disabled), TNS-3 (non-finite row), TNS-4 (σ = 0 or too few values), TNS-5 (threshold).
        keep: bool [V], the exact result: which tokens keep their bits. All of them in a row that
            is left alone. Under TNS-5 a token that came in as -inf is not among them, and is not
            filled either: it stays -inf whatever the dialect's fill.
        codes: int8 [V] of :class:`Keep`; MUST_DROP where the token came in as -inf under TNS-5.
        threshold: the exact threshold and its intervals; None unless ``rule`` is TNS-5.
        maximum: the row's finite maximum; None unless ``rule`` is TNS-5.
    """

    rule: str
    keep: npt.NDArray[np.bool_]
    codes: npt.NDArray[np.int8]
    threshold: Threshold | None = None
    maximum: float | None = None

    @property
    def unchanged(self) -> bool:
        """Whether the row has to come back bit for bit, whatever it holds."""
        return self.threshold is None

    @property
    def cut(self) -> float | None:
        """t as binary64, for people; None for a row that is left alone."""
        return None if self.threshold is None else self.threshold.cut

    @property
    def accept(self) -> Interval | None:
        """float32 values that an implementation may keep or mask; None for a row left alone."""
        return None if self.threshold is None else self.threshold.accept

    @property
    def tight(self) -> Interval | None:
        """The tight band inside :attr:`accept`; None for a row left alone."""
        return None if self.threshold is None else self.threshold.tight


def classify(row: Array, n: object, dialect: Dialect = RFC) -> Verdict:
    """What any implementation of ``dialect`` has to do with each token of ``row``.

    Args:
        row: logits [V], float32, float16, or bfloat16 (uint16 bit patterns). Not changed.
        n: a number in the domain of TNS-1, or None for a disabled row.
        dialect: the reading of top-nσ to apply.

    Raises:
        TypeError: ``row`` is not an array of one of these dtypes.
        ValueError: ``row`` is not one-dimensional; or n is outside the domain and rejected (TNS-1).
    """
    logits, storage = _checked(row)
    if logits.ndim != 1:
        raise ValueError(f"row must have shape [V]; got {list(logits.shape)}")
    exact_n = parse_n(n, dialect)
    if exact_n is None:
        return _left_alone(logits.size, "TNS-2" if n is None else "TNS-1")
    values = storage.to_float32(logits)
    found = _find_threshold(values, exact_n, dialect)
    if isinstance(found, str):
        return _left_alone(values.size, found)
    maximum = math.ldexp(found.grid_maximum, UNIT_EXPONENT)
    lower, upper = np.float32(found.accept.lower), np.float32(found.accept.upper)
    must_keep = (values > upper) | (values == np.float32(maximum))
    # A code of Keep counts the ends of the interval that a token has passed on its way up.
    codes = (values >= lower).astype(np.int8) + must_keep
    return Verdict("TNS-5", values >= np.float32(found.first_kept), codes, found, maximum)


def top_n_sigma(logits: Array, n: object | Sequence[object], dialect: Dialect = RFC) -> Array:
    """The exact result of top-nσ, as a new array of the same shape and dtype.

    Args:
        logits: [V] or [B, V]; float32, float16, or bfloat16 (uint16 bit patterns). Not changed.
        n: a number in the domain of TNS-1 or None, for all rows; or a list, tuple or array [B].
        dialect: the reading of top-nσ to apply.

    Raises:
        TypeError: ``logits`` is not an array of one of these dtypes.
        ValueError: a wrong number of dimensions or of entries in n; n outside the domain (TNS-1).
    """
    given, storage = _checked(logits)
    if given.ndim not in (1, 2):
        raise ValueError(f"logits must have shape [V] or [B, V]; got {list(given.shape)}")
    result = given.copy()
    rows = result if result.ndim == 2 else result[np.newaxis]
    values, bits, fill = storage.to_float32(rows), storage.bits(rows), storage.fill(dialect.fill)
    for index, exact_n in enumerate(_exact_n_per_row(n, len(rows), dialect)):
        found = None if exact_n is None else _find_threshold(values[index], exact_n, dialect)
        if isinstance(found, Threshold):
            masked = values[index] < np.float32(found.first_kept)
            bits[index, masked & (values[index] != -np.inf)] = fill
    return result


def _find_threshold(values: Float32Array, n: Fraction, dialect: Dialect) -> Threshold | str:
    """The threshold of a row of float32 ``values``, or the id of the rule that leaves it alone."""
    counted = candidates = values
    finite = np.isfinite(values)
    if not finite.all():
        only_neg_inf = bool((finite | (values == -np.inf)).all())
        if dialect.neg_inf == "noop" or not only_neg_inf or not finite.any():
            return "TNS-3"
        candidates = values[finite]
        counted = candidates if dialect.neg_inf == "exclude" else np.where(finite, values, _ZERO)
    if counted.size < 2:
        return "TNS-4"
    variance = exact_moments(counted).variance(dialect.sigma)
    if variance[0] == 0:
        return "TNS-4"
    return exact_threshold(grid_integer(candidates.max().item()), variance, n, dialect.boundary)


def _left_alone(size: int, rule: str) -> Verdict:
    return Verdict(
        rule=rule,
        keep=np.ones(size, dtype=np.bool_),
        codes=np.full(size, Keep.MUST_KEEP, dtype=np.int8),
    )


def _checked(logits: Any) -> tuple[Array, FloatFormat]:
    if not isinstance(logits, np.ndarray):
        raise TypeError(
            f"logits must be a numpy array of {ACCEPTED_DTYPES}; got {type(logits).__name__}"
        )
    return np.asarray(logits), format_of(logits.dtype)


def _exact_n_per_row(n: object, rows: int, dialect: Dialect) -> list[Fraction | None]:
    one_per_row = "n must be a number, None, or a list, tuple or array with one per row"
    if isinstance(n, np.ndarray) and n.ndim != 1:
        raise ValueError(f"{one_per_row}; got an array of shape {list(n.shape)}")
    if not isinstance(n, (list, tuple, np.ndarray)):
        return [parse_n(n, dialect)] * rows
    if len(n) != rows:
        raise ValueError(f"{one_per_row} ({rows}); got {len(n)}")
    return [parse_n(entry, dialect, name=f"n[{index}]") for index, entry in enumerate(n)]
