"""Where the cut of one row of finite logits has to be, exactly (TNS-5 to TNS-7, TNS-9)."""

import math
from fractions import Fraction

import torch
from unit.processor.bit_patterns import bits


def exact_variance(numbers: list[float]) -> Fraction:
    ratios = [x.as_integer_ratio() for x in numbers]
    unit = max(denominator for _, denominator in ratios)
    integers = [numerator * (unit // denominator) for numerator, denominator in ratios]
    count, total = len(integers), sum(integers)
    squares = sum(i * i for i in integers)
    return Fraction(count * squares - total * total, count * (count - 1) * unit * unit)


def ulp(x: float, dtype: torch.dtype) -> Fraction:
    if dtype is torch.float64:
        return Fraction(math.ulp(x))
    return Fraction(2) ** max(math.frexp(x)[1] - 24, -149)


def check(
    before: torch.Tensor, after: torch.Tensor, n: float, variance: Fraction | None = None
) -> None:
    """Check one row of finite logits: bits, one cut, and where it lies.

    `variance` is the row's, computed here if it is not known. The cut may be
    `n*σ*relative + 2 ulp` from the exact threshold: 2e-6 and float32's ulps, or 1e-14 and
    float64's.
    """
    dtype = before.dtype
    dropped = after == -math.inf
    assert torch.equal(bits(before)[~dropped], bits(after)[~dropped])
    numbers = before.double().tolist()
    maximum = max(numbers)
    if variance is None:
        variance = exact_variance(numbers)
    if variance == 0:
        assert not dropped.any()
        return
    kept = before[~dropped].double().min().item()
    gone = before[dropped].double().max().item() if dropped.any() else -math.inf
    assert gone < kept <= maximum
    relative = Fraction("1e-14") if dtype is torch.float64 else Fraction("2e-6")
    n_variance = Fraction(n) ** 2 * variance
    for x, is_kept in ((kept, True), (gone, False)):
        if x == -math.inf:
            continue
        slack = 2 * max(ulp(maximum, dtype), ulp(x, dtype))
        gap = Fraction(maximum) - Fraction(x)
        if is_kept:
            gap = max(gap - slack, Fraction(0))
            assert gap**2 <= n_variance * (1 + relative) ** 2, "keeps what lies below the cut"
        else:
            gap += slack
            assert gap**2 >= n_variance * (1 - relative) ** 2, "drops what lies above the cut"
