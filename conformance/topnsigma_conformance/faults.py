"""Faults of samplers that the suite is known to catch, each with the rule that it breaks.

The repository's ``tests/gallery`` holds one wrong sampler for each, and ``docs/power.md`` says how
surely each is caught; frozen vectors name the faults that they catch.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Fault:
    """One way to be wrong.

    Attributes:
        name: of the fault.
        rule: id of the rule that it breaks.
        summary: what such a sampler does.
        seen: where it has been seen or reported, if anywhere.
    """

    name: str
    rule: str
    summary: str
    seen: str = ""


_FAULTS = (
    Fault(
        "AcceptsZero",
        "TNS-1",
        "takes n = 0 for greedy",
        "llama.cpp#13345, mlx-vlm, text-generation-webui",
    ),
    Fault("AcceptsNegative", "TNS-1", "takes n < 0 for disabled", "llama.cpp, jan#7578"),
    Fault(
        "AcceptsNaN",
        "TNS-1",
        "validates with `if n <= 0: raise`, which lets NaN pass",
        "vLLM PR #45034",
    ),
    Fault("AcceptsInfinity", "TNS-1", "validates with `if not n > 0: raise`, which lets inf pass"),
    Fault("AcceptsBool", "TNS-1", "takes True for 1, as isinstance(True, int)", "vLLM PR #45034"),
    Fault("AcceptsString", "TNS-1", 'takes "2.0" for 2.0, as float() does'),
    Fault("UnwrapsLists", "TNS-1", "takes [2.0] for 2.0"),
    Fault("RejectsIntegers", "TNS-1", "takes floats only, so that n = 2 is an error"),
    Fault("TruncatesN", "TNS-1", "takes int(n) for n", "llama.cpp#11223"),
    Fault("ClipsLargeN", "TNS-1", "takes min(n, 10) for n"),
    Fault("IgnoresSmallN", "TNS-1", "takes n < 0.05 for disabled"),
    Fault("RejectsHalfWay", "TNS-1", "masks the rows before the one whose n it rejects"),
    Fault("DisabledRowMadeGreedy", "TNS-2", "takes None for n = 0"),
    Fault(
        "DisabledRowMadeGreedyInBatch",
        "TNS-2",
        "takes None for n = 0 where another row of the batch is enabled",
        "Aphrodite 0.24.1",
    ),
    Fault("DisabledRowNormalised", "TNS-2", "adds 0.0 to every logit of a disabled row"),
    Fault("NaNRowMasked", "TNS-3", "compares with a threshold that is NaN", "the authors' code"),
    Fault("NaNIgnored", "TNS-3", "computes with nanmax and nanstd"),
    Fault("NaNPayloadCanonicalised", "TNS-3", "writes every NaN anew"),
    Fault("PositiveInfinityRowMasked", "TNS-3", "keeps only the +inf", "text-generation-webui"),
    Fault("PositiveInfinityDropped", "TNS-3", "leaves +inf out of max and σ, and masks it"),
    Fault(
        "NegativeInfinityRowMasked",
        "TNS-3",
        "lets a -inf make σ NaN, and masks the row whole",
        "the authors' code, llama.cpp#13344",
    ),
    Fault(
        "NegativeInfinityExcluded",
        "TNS-3",
        "leaves -inf out of σ and declares another dialect",
        "llama.cpp",
    ),
    Fault(
        "NegativeInfinityAsZero",
        "TNS-3",
        "counts -inf as 0.0 in σ and declares another dialect",
        "text-generation-webui",
    ),
    Fault("FinitenessSampled", "TNS-3", "looks for NaN and inf in the first tokens only"),
    Fault(
        "PopulationDivisor",
        "TNS-4",
        "divides by V and declares V - 1",
        "llama.cpp, mlx-vlm, koboldcpp",
    ),
    Fault("VarianceForDeviation", "TNS-4", "forgets the square root"),
    Fault("MedianForDeviation", "TNS-4", "takes 1.4826 times the median absolute deviation"),
    Fault("EpsilonInDeviation", "TNS-4", "takes √(variance + 1e-5), as a normalisation layer does"),
    Fault("DeviationOffByThousandth", "TNS-4", "takes 1.001·σ"),
    Fault("DeviationOffByTenThousandth", "TNS-4", "takes 1.0001·σ"),
    Fault("FirstTokenNotCounted", "TNS-4", "sums from index 1"),
    Fault("TailNotCounted", "TNS-4", "sums whole blocks of 8, where there is one"),
    Fault("PaddingCounted", "TNS-4", "pads the row to a multiple of 8 with zeros, and counts them"),
    Fault(
        "DeviationOfBest",
        "TNS-4",
        "takes σ over the largest half of the row",
        "koboldcpp (its top 3,000)",
    ),
    Fault("DeviationOfDistinct", "TNS-4", "counts equal logits once"),
    Fault(
        "OneTokenRowMasked",
        "TNS-4",
        "lets σ = 0/0 mask the only token",
        "the authors' code",
    ),
    Fault("ConstantRowMasked", "TNS-4", "divides by σ, which is 0"),
    Fault("MeanForMaximum", "TNS-5", "takes mean - n·σ for t"),
    Fault("MaximumFromZero", "TNS-5", "starts a running maximum at 0", "ik_llama.cpp"),
    Fault("LastTokenNotCompared", "TNS-5", "looks for the maximum in all tokens but the last"),
    Fault(
        "GreaterForGreaterEqual",
        "TNS-5",
        "masks a logit that is equal to t",
        "the authors' code (one of its two)",
    ),
    Fault("Bfloat16Threshold", "TNS-5", "rounds t to bfloat16"),
    Fault("TemperatureOnOneSide", "TNS-5", "divides the logits by 0.8, but not the threshold"),
    Fault("AbsoluteValues", "TNS-5", "compares |x| with t"),
    Fault("ThresholdLoosened", "TNS-5", "takes t - 0.001, to be safe"),
    Fault("LowestFloatFill", "TNS-5", "masks with the lowest finite float"),
    Fault("BillionFill", "TNS-5", "masks with -1e9"),
    Fault("TailNotMasked", "TNS-5", "masks whole vectors of 4, where there is one"),
    Fault("FirstTokenLost", "TNS-5", "masks token 0 always, unless it is the maximum"),
    Fault("KeepsTwo", "TNS-5", "never keeps fewer than two tokens"),
    Fault("KeepsSixtyFour", "TNS-5", "never keeps more than 64 tokens"),
    Fault("SurvivorsShifted", "TNS-6", "returns x - max, as a softmax does"),
    Fault("SurvivorsScaled", "TNS-6", "returns x / 0.8, temperature applied"),
    Fault("SurvivorsThroughFloat16", "TNS-6", "returns float16(x) as float32"),
    Fault("NegativeZeroNormalised", "TNS-6", "returns x + 0.0"),
    Fault("SubnormalsFlushed", "TNS-6", "returns 0 for subnormal logits"),
    Fault("OneOfTiedMaximaLost", "TNS-7", "keeps what is above t, and the argmax", "vLLM#15478"),
    Fault("MaximumLostAtSmallN", "TNS-7", "masks x <= t, and t rounds to the maximum"),
    Fault("BatchWideDeviation", "TNS-8", "takes one σ over all rows"),
    Fault("BatchWideMaximum", "TNS-8", "takes one maximum over all rows"),
    Fault("FirstRowsNForAll", "TNS-8", "takes the n of row 0 for every row"),
    Fault("RowOffByOne", "TNS-8", "takes the n of the next row in batches of an odd size"),
    Fault("StridesIgnored", "TNS-8", "reads the rows as if they were contiguous"),
    Fault("RowsAliased", "TNS-8", "returns rows that share their memory, so that all are the last"),
    Fault("OnePassVariance", "TNS-9", "takes E[x²] - E[x]² in float32"),
    Fault("SerialSums", "TNS-9", "sums in float32, one token after the other", "llama.cpp"),
    Fault("Float16Sums", "TNS-9", "sums in float16"),
    Fault("SquaresOverflow", "TNS-9", "claims every finite row, and squares 1e20 in float32"),
    Fault("EverySecondTieLost", "TNS-9", "drops every second of the equal logits at the cut"),
    Fault("Float64Returned", "TNS-10", "returns float64"),
    Fault("ShapeFlattened", "TNS-10", "returns [B·V]"),
    Fault("DeviceChanged", "TNS-10", "returns a tensor on another device"),
    Fault("InputAltered", "TNS-10", "declares to copy, and writes into its input"),
    Fault("InputNotAltered", "TNS-10", "declares to work in place, and returns a copy"),
    Fault("WritesOutsideItsRows", "TNS-10", "fills the padding after each row"),
    Fault("MemoryLeaked", "TNS-10", "keeps what it has allocated"),
    Fault("CutWanders", "TNS-11", "sums in an order that differs from call to call"),
    Fault("LastDeviationLeaks", "TNS-11", "does not clear σ of the last call from its workspace"),
    Fault("LastNUsed", "TNS-11", "takes n of the call before, where it is given the same row"),
)

FAULTS = {fault.name: fault for fault in _FAULTS}
"""Faults by name, in the order of the rules."""
