"""The subjects of the vectors: one file each, with the faults that it looks for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from topnsigma_conformance.vectors import groups_accuracy as accuracy
from topnsigma_conformance.vectors import groups_batch as batch
from topnsigma_conformance.vectors import groups_cut as cut
from topnsigma_conformance.vectors import groups_dialect as dialect
from topnsigma_conformance.vectors import groups_formats as formats
from topnsigma_conformance.vectors import groups_parameter as parameter
from topnsigma_conformance.vectors import groups_result as result
from topnsigma_conformance.vectors import groups_untouched as untouched
from topnsigma_conformance.vectors.claims import claimed
from topnsigma_conformance.vectors.threshold_faults import DEVIATIONS, THRESHOLDS
from topnsigma_conformance.vectors.vector import Answer, Vector


@dataclasses.dataclass(frozen=True)
class Subject:
    """One file of vectors.

    Attributes:
        name: of the subject, its file and the first half of its vectors' ids.
        vectors: makes them; their ``faults`` are suspects beyond those of the subject.
        suspects: faults that its vectors claim wherever they show.
    """

    name: str
    vectors: Callable[[], Iterator[Vector]]
    suspects: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """What the vectors are about."""
        return (self.vectors.__doc__ or "").strip()

    def claimed_vectors(self) -> Iterator[tuple[Vector, Answer]]:
        """The vectors, with the faults that they catch, and the reference's answers."""
        return (claimed(vector, self.suspects) for vector in self.vectors())


_N = ("TruncatesN", "ClipsLargeN", "IgnoresSmallN")
_SUMS = ("OnePassVariance", "SerialSums", "Float16Sums", "SquaresOverflow")
_SIGMA = ("DeviationOfBest", *(name for name in DEVIATIONS if name not in _SUMS))
_CUT = tuple(name for name in THRESHOLDS if name not in _N)
_IN_ANY_DIALECT = (
    *("PopulationDivisor", "DeviationOffByThousandth", "MaximumFromZero", "OneOfTiedMaximaLost"),
    *("NaNRowMasked", "PositiveInfinityRowMasked", "OneTokenRowMasked", "ConstantRowMasked"),
    "LowestFloatFill",
)


def _dialect_subject(name: str) -> Subject:
    vectors = dialect.dialect_vectors(name)
    vectors.__doc__ = f"The dialect {dialect.DIALECTS[name]}."
    return Subject(f"dialect-{name}", vectors, _IN_ANY_DIALECT)


SUBJECTS = (
    Subject(
        "parameter",
        parameter.parameter,
        (
            *("AcceptsZero", "AcceptsNegative", "AcceptsNaN", "AcceptsInfinity", "AcceptsBool"),
            *("AcceptsString", "UnwrapsLists", "RejectsIntegers", "RejectsHalfWay", *_N),
        ),
    ),
    Subject(
        "disabled",
        parameter.disabled,
        ("DisabledRowMadeGreedy", "DisabledRowMadeGreedyInBatch", "DisabledRowNormalised"),
    ),
    Subject(
        "non-finite",
        untouched.non_finite,
        (
            *("NaNRowMasked", "NaNIgnored", "NaNPayloadCanonicalised"),
            *("PositiveInfinityRowMasked", "PositiveInfinityDropped"),
            *("NegativeInfinityRowMasked", "NegativeInfinityExcluded", "NegativeInfinityAsZero"),
            "FinitenessSampled",
        ),
    ),
    Subject("constant", untouched.constant, ("OneTokenRowMasked", "ConstantRowMasked")),
    Subject("divisor", cut.divisor, ("PopulationDivisor",)),
    Subject("sigma", cut.sigma, _SIGMA),
    Subject("cut", cut.cut, _CUT),
    Subject("ties", cut.ties, ("EverySecondTieLost",)),
    Subject("boundary", cut.boundary, ("GreaterForGreaterEqual", "EverySecondTieLost")),
    Subject("fill", result.fill, ("LowestFloatFill", "BillionFill", "TailNotMasked", "KeepsTwo")),
    Subject(
        "survivors",
        result.survivors,
        (
            *("SurvivorsShifted", "SurvivorsScaled", "SurvivorsThroughFloat16", "KeepsSixtyFour"),
            *("NegativeZeroNormalised", "SubnormalsFlushed", "Float64Returned"),
            "FirstTokenLost",
        ),
    ),
    Subject(
        "maximum",
        result.maximum,
        (
            *("OneOfTiedMaximaLost", "MaximumLostAtSmallN", "MaximumFromZero", "KeepsTwo"),
            *("LastTokenNotCompared", "FirstTokenLost", "AbsoluteValues", "MeanForMaximum"),
        ),
    ),
    Subject(
        "batch",
        batch.batch,
        (
            *("BatchWideDeviation", "BatchWideMaximum", "FirstRowsNForAll", "RowOffByOne"),
            *("DisabledRowMadeGreedyInBatch", "ShapeFlattened", "RowsAliased"),
        ),
    ),
    Subject("repeat", batch.repeat),
    Subject("accuracy", accuracy.accuracy, _SUMS),
    Subject("formats", formats.formats, _IN_ANY_DIALECT),
    *(_dialect_subject(name) for name in dialect.DIALECTS),
)
"""In the order in which a runner had best take them: simple ones first."""
