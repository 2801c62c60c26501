"""The maximum and the sample standard deviation of one row, exact enough for every finite row.

Why not `torch.std`: on a CPU its mean is a float32 sum, which overflows beyond 3.4e38 and is off by
half an ulp of the mean and more (at mean/σ = 1e6 that is 2e-3 in σ), its sums are split by the
number of threads, and it adds float64s one after the other, which takes several times longer.

Here Σx and Σx² are taken over blocks of a fixed size, whose sums are merged in float64. Where the
mean is not small beside σ, so that they cancel, they are taken again of a copy of the row shifted
by the mean. A block is contiguous and never split between threads, so the bits depend on neither
the number of threads nor the strides or the alignment of the row. NaN and infinities show in the
maximum and in the sums: no pass looks for them.
"""

import math
from typing import NamedTuple

import torch

# Short blocks bound the error of float32 sums, whatever the row holds: 128 numbers are at most
# 24 additions deep in vectors of 256 bits and more.
_BLOCK = 128

# Blocks grow for a row of more than this many, because merging so many would be split between
# threads.
_MAX_BLOCKS = 2**14

# Up to this V float64 costs next to nothing, and a logit equal to t stays wherever the
# arithmetic is exact, as in a test with small integers.
_SHORT = 2**14

# A row is shifted by its mean at once where that is more than this part of (maximum - mean), which
# is 4 σ and more. In float64 only where it must be: the difference may be inexact where the squares
# are not.
_SHIFT_FROM = {torch.float32: 1 / 8, torch.float64: 1.0}

# The largest mean/σ of a row whose sum is taken once. It is off by 24 float32 roundings at most,
# and so is the mean: here by 4e-4 σ, and the square of that is the relative error in σ².
_MAX_SHIFT = 256.0

# The part of Σd² that must be left when the part due to the mean is taken out. With float32 sums
# this bounds the relative error of σ by 2e-6; usually it is below 1e-7.
_MIN_RATIO = 0.75

# A mean square below this may have lost too much to underflow, or to a device that flushes
# subnormals.
_SMALLEST_SQUARE = {torch.float32: 2.0**-90, torch.float64: 2.0**-900}


class Spread(NamedTuple):
    """What a row's threshold is computed from: σ is `sigma * 2**exponent`, both finite, σ > 0."""

    maximum: float
    sigma: float
    exponent: int


class Workspace:
    """Buffers of one row, reused from row to row.

    `shifted` and `scaled` hold logits padded with zeros to whole blocks, `scaled` in float64.

    Args:
        size: V, the number of logits in a row.
        dtype: the rows' dtype.
        device: where the rows lie.
    """

    def __init__(self, size: int, dtype: torch.dtype, device: torch.device) -> None:
        self.size = size
        self.block = _BLOCK
        while size > self.block * _MAX_BLOCKS:
            self.block *= 2
        precision = torch.float64 if size <= _SHORT else torch.float32
        self.dtype = torch.promote_types(dtype, precision)
        self._device = device
        self._loaded: torch.Tensor | None = None
        self._shifted: torch.Tensor | None = None
        self._scaled: torch.Tensor | None = None

    def load(self, row: torch.Tensor) -> torch.Tensor:
        """Return the row, contiguous and of the workspace's dtype: itself or a copy in a buffer."""
        # Elsewhere than on a CPU the order of a sum may depend on the alignment of the row.
        if row.dtype is self.dtype and row.is_contiguous() and row.device.type == "cpu":
            return row
        if self._loaded is None:
            self._loaded = torch.empty(self.size, dtype=self.dtype, device=self._device)
        return self._loaded.copy_(row)

    @property
    def shifted(self) -> torch.Tensor:
        if self._shifted is None:
            self._shifted = self._padded(self.dtype)
        return self._shifted

    @property
    def scaled(self) -> torch.Tensor:
        if self.dtype is torch.float64:
            return self.shifted
        if self._scaled is None:
            self._scaled = self._padded(torch.float64)
        return self._scaled

    def _padded(self, dtype: torch.dtype) -> torch.Tensor:
        padded_size = -(-self.size // self.block) * self.block
        buffer = torch.empty(padded_size, dtype=dtype, device=self._device)
        buffer[self.size :] = 0
        return buffer


def spread(row: torch.Tensor, workspace: Workspace, exclude: bool) -> Spread | None:
    """Return the maximum and σ of a row; None if the row must be left as it is (TNS-3, TNS-4).

    Args:
        row: `[V]`, any strides, of the dtype and device the workspace was made for; only read.
        workspace: buffers for rows of V.
        exclude: leave -inf out of the maximum, σ and the count. False: -inf leaves the row as it
            is, like NaN and +inf.
    """
    row = workspace.load(row)
    maximum = row.amax().item()
    if not math.isfinite(maximum):  # amax hands NaN on
        return None
    count = workspace.size
    sigma = _direct_sigma(row, workspace, maximum, count, masked=False)
    if sigma is not None:
        return Spread(maximum, sigma, 0)
    masked = row.amin().item() == -math.inf
    if masked:
        if not exclude:
            return None
        count -= _count_masked(row, workspace)
        if count <= 1:
            return None
        sigma = _direct_sigma(row, workspace, maximum, count, masked)
        if sigma is not None:
            return Spread(maximum, sigma, 0)
    minimum = _finite_minimum(row, workspace, maximum)
    if minimum == maximum:
        return None
    exponent = math.frexp(max(abs(minimum), abs(maximum)))[1]
    sigma = _scaled_sigma(row, workspace, maximum, exponent, count, masked)
    return Spread(maximum, sigma, exponent)


def _direct_sigma(
    row: torch.Tensor, workspace: Workspace, maximum: float, count: int, masked: bool
) -> float | None:
    """σ in the workspace's dtype, or None where that can't be trusted."""
    numbers = _shifted(row, workspace, 0.0, masked)
    total = _sum(numbers, workspace)
    if not math.isfinite(total):
        return None
    mean = total / count
    # The maximum is usually several σ above the mean: beyond this, Σx² would not do.
    if abs(mean) <= _SHIFT_FROM[workspace.dtype] * (maximum - mean):
        sigma = _centred_sigma(numbers, workspace, total, count)
        if sigma is not None:
            return sigma
    shift = mean
    numbers = _shifted(row, workspace, shift, masked)
    # Their sum is 0 but for what the first one has lost to rounding.
    sigma = _centred_sigma(numbers, workspace, 0.0, count)
    if sigma is not None and abs(mean) <= _MAX_SHIFT * sigma:
        return sigma
    for _ in range(2):
        numbers = _shifted(row, workspace, shift, masked)
        total = _sum(numbers, workspace)
        sigma = _centred_sigma(numbers, workspace, total, count)
        if sigma is not None:
            return sigma
        shift += total / count
    return None


def _shifted(row: torch.Tensor, workspace: Workspace, shift: float, masked: bool) -> torch.Tensor:
    """The row less the shift, in whole blocks: itself or a copy; 0 for -inf if it is masked."""
    if shift == 0.0 and not masked and workspace.size % workspace.block == 0:
        return row
    body = workspace.shifted[: workspace.size]
    torch.sub(row, shift, out=body)
    if masked:
        torch.threshold_(body, -math.inf, 0.0)
    return workspace.shifted


def _centred_sigma(
    numbers: torch.Tensor, workspace: Workspace, total: float, count: int
) -> float | None:
    """σ of numbers whose sum is `total`; None if too much of Σd² is due to their mean.

    May overwrite `workspace.shifted`.
    """
    squares = _sum_of_squares(numbers, workspace)
    if not count * _SMALLEST_SQUARE[workspace.dtype] <= squares < math.inf:
        return None
    remainder = squares - total * (total / count)
    if remainder < _MIN_RATIO * squares:
        return None
    return math.sqrt(remainder / (count - 1))


def _scaled_sigma(
    row: torch.Tensor, workspace: Workspace, maximum: float, exponent: int, count: int, masked: bool
) -> float:
    """σ * 2**-exponent in float64, of a row scaled so that |x| <= 1: nothing over- or underflows.

    The maximum is an element of the row, so it is at most sqrt(V)*σ away from the mean, and a
    second shift brings the mean as near to 0 as float64 has numbers.
    """
    numbers = workspace.scaled
    body = numbers[: workspace.size]
    shift = math.ldexp(maximum, -exponent)
    total = 0.0
    for _ in range(2):
        shift += total / count
        body.copy_(row)
        # 2**-exponent itself may be no float64. A logit that underflows here is far below σ.
        half = -exponent // 2
        body.mul_(math.ldexp(1.0, half)).mul_(math.ldexp(1.0, -exponent - half))
        body.sub_(shift)
        if masked:
            torch.threshold_(body, -math.inf, 0.0)
        total = _sum(numbers, workspace)
    squares = _sum_of_squares(numbers, workspace)
    return math.sqrt((squares - total * (total / count)) / (count - 1))


def _count_masked(row: torch.Tensor, workspace: Workspace) -> int:
    # A comparison in place gives 0.0 and 1.0 and is several times faster than one that gives bool.
    workspace.shifted[: workspace.size].copy_(row).eq_(-math.inf)
    return int(_sum(workspace.shifted, workspace))


def _finite_minimum(row: torch.Tensor, workspace: Workspace, maximum: float) -> float:
    body = workspace.shifted[: workspace.size].copy_(row)
    return float(torch.threshold_(body, -math.inf, maximum).amin().item())


def _sum(numbers: torch.Tensor, workspace: Workspace) -> float:
    sums = numbers.view(-1, workspace.block).sum(1)
    return float(sums.sum(dtype=torch.float64).item())


def _sum_of_squares(numbers: torch.Tensor, workspace: Workspace) -> float:
    """Σd². May overwrite `workspace.shifted` and `workspace.scaled`, `numbers` or not."""
    if numbers.dtype is torch.float64:
        return _sum(torch.square(numbers, out=workspace.scaled), workspace)
    # One pass instead of two; the roots, rounded to float32, are no loss beside the sums.
    norms = torch.linalg.vector_norm(numbers.view(-1, workspace.block), dim=1)
    norm = float(torch.linalg.vector_norm(norms, dtype=torch.float64).item())
    return norm * norm
