"""The threshold t = max - n*σ in float64, and where it cuts the numbers of a narrower dtype."""

import math

import torch

# (bits of the significand, exponent of the smallest subnormal)
_FORMATS = {
    torch.float16: (11, -24),
    torch.bfloat16: (8, -133),
    torch.float32: (24, -149),
}


def threshold(maximum: float, n: float, sigma: float, exponent: int) -> float:
    """Return `maximum - n * sigma * 2**exponent` (TNS-5); -inf where that is below float64.

    `maximum` is finite, `n` and `sigma` are finite and > 0. One rounding each for the product and
    the difference: `n` is taken apart first, so that neither n*sigma nor n itself being subnormal
    or huge costs precision.
    """
    fraction, n_exponent = math.frexp(n)
    product = fraction * sigma
    exponent += n_exponent
    distance = _ldexp(product, exponent)
    if math.isinf(distance):
        # The difference may be finite all the same: max 1.7e308 and min -1.7e308 are.
        return 4.0 * (0.25 * maximum - _ldexp(product, exponent - 2))
    return maximum - distance


def largest_below(t: float, dtype: torch.dtype) -> float | None:
    """Return the largest finite number of `dtype` that is < t; None if there is none.

    Exact: for every x of `dtype`, `x <= largest_below(t, dtype)` is `x < t`.
    """
    if t <= torch.finfo(dtype).min:
        return None
    # Every number of a narrower dtype is a float64, so < t is <= the float64 before t.
    below = math.nextafter(t, -math.inf)
    if dtype is not torch.float64:
        bits, smallest = _FORMATS[dtype]
        unit = max(math.frexp(below)[1] - bits, smallest)
        below = math.ldexp(math.floor(math.ldexp(below, -unit)), unit)
    return below


def _ldexp(x: float, exponent: int) -> float:
    try:
        return math.ldexp(x, exponent)
    except OverflowError:
        return math.inf
