"""A vector and its answer in values, as the models of faults look at them."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

from topnsigma_conformance.vectors.vector import Answer, Vector
from topnsigma_conformance.vectors.words import Words, ordinal, values_of
from topnsigma_reference import Dialect, Threshold, parse_n


@dataclasses.dataclass(frozen=True)
class Scene:
    """One row of a vector.

    Attributes:
        words, values: the row.
        n: the number meant, or None where the row is disabled.
        letters: what becomes of each token; empty where the call is rejected.
        threshold: None unless the row has one.
        dtype, dialect: of the vector.
    """

    words: Words
    values: list[float]
    n: float | None
    letters: str
    threshold: Threshold | None
    dtype: str
    dialect: Dialect

    @functools.cached_property
    def counted(self) -> list[float]:
        """The logits that count towards σ."""
        if self.dialect.neg_inf == "exclude":
            return self.finite
        return [value if math.isfinite(value) else 0.0 for value in self.values]

    @functools.cached_property
    def finite(self) -> list[float]:
        """The finite logits."""
        return [value for value in self.values if math.isfinite(value)]

    @functools.cached_property
    def maximum(self) -> float:
        """The largest finite logit."""
        return max(self.finite)

    @functools.cached_property
    def sigma(self) -> float:
        """σ of the dialect."""
        return deviation(self.counted, 1 if self.dialect.sigma == "sample" else 0)

    @property
    def kept(self) -> list[int]:
        """Tokens that have to stay."""
        return [index for index, letter in enumerate(self.letters) if letter == "K"]

    @property
    def masked(self) -> list[int]:
        """Tokens that have to go."""
        return [index for index, letter in enumerate(self.letters) if letter == "D"]

    def shows_threshold(self, threshold: float) -> bool:
        """Whether comparing with another ``threshold`` masks what has to stay, or keeps a D.

        Only where it does so by more than any arithmetic could undo.
        """
        if math.isnan(threshold):
            return False
        if math.isinf(threshold):
            return bool(self.masked) if threshold < 0 else bool(self.kept)
        margin = 2e-6 * abs(self.maximum - threshold) + 4 * math.ulp(threshold) * 2**29
        # A token at its maximum may be kept out of harm's way by another safeguard.
        return any(
            self.values[index] < threshold - margin
            for index in self.kept
            if math.isfinite(self.values[index])
        ) or any(self.values[index] > threshold + margin for index in self.masked)

    def lowest_kept(self) -> list[int]:
        """Tokens equal to the smallest one that has to stay."""
        places = [ordinal(self.words[index], self.dtype) for index in self.kept]
        return [
            index for index in self.kept if ordinal(self.words[index], self.dtype) == min(places)
        ]


def scenes(vector: Vector, answer: Answer) -> list[Scene]:
    """One for each row; none where the call is rejected."""
    if answer.error:
        return []
    result = []
    for row, n, letters, threshold in zip(
        vector.rows, vector.n, answer.letters, answer.thresholds, strict=True
    ):
        result.append(
            Scene(
                words=row,
                values=values_of(row, vector.dtype),
                n=_number(n, vector.dialect),
                letters=letters,
                threshold=threshold,
                dtype=vector.dtype,
                dialect=vector.dialect,
            )
        )
    return result


def _number(n: Any, dialect: Dialect) -> float | None:
    exact = parse_n(n, dialect)
    return None if exact is None else float(exact)


def deviation(values: list[float], spare: int = 1) -> float:
    """Standard deviation with divisor V - spare in binary64; 0 where there is none."""
    if len(values) <= spare:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((x - mean) * (x - mean) for x in values) / (len(values) - spare))
