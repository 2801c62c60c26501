"""σ and the cut beside means of no σ to a million σ, under both policies (TNS-9)."""

import math
from fractions import Fraction

import pytest
import torch
from unit.processor.exact_cut import check, exact_variance

from topnsigma_processor import top_n_sigma_
from topnsigma_processor.deviation import Workspace, spread


# On both sides of where a row is first shifted, and of where its mean is taken again.
@pytest.mark.parametrize(
    "ratio", [-1e6, -300.0, -1.0, 0.3, 0.55, 4.0, 12.0, 200.0, 250.0, 256.0, 262.0, 1e3, 1e4, 1e6]
)
@pytest.mark.parametrize(
    "name", ["normal", "plus minus", "sorted", "one low", "one high", "few high"]
)
def test_sigma_beside_a_mean_of_so_many_of_them(name: str, ratio: float) -> None:
    size = 16_385
    index = torch.arange(size)
    generator = torch.Generator().manual_seed(3)
    normal = torch.randn(size, generator=generator, dtype=torch.float64)
    shape = {
        "normal": normal,
        "plus minus": torch.where(index % 2 > 0, 1.0, -1.0).double(),
        "sorted": normal.sort().values,
        "one low": torch.where(index == size // 2, -400.0, normal),
        "one high": torch.where(index == size // 2, 400.0, normal),
        "few high": torch.where(index % 997 == 0, 30.0, 0.0).double(),
    }[name]
    row = (((shape - shape.mean()) / shape.std() + ratio) * 1.1).float()
    banned = torch.full((size + size // 3,), -math.inf)
    order = torch.randperm(banned.shape[0], generator=generator)
    chosen = order[:size].sort().values
    banned[chosen] = row
    variance = exact_variance(row.tolist())
    for x, exclude in ((row, False), (row, True), (banned, True)):
        found = spread(x, Workspace(x.shape[0], x.dtype, x.device), exclude)
        assert found is not None
        ratio_of_variances = Fraction(found.sigma) ** 2 * Fraction(4) ** found.exponent / variance
        assert abs(ratio_of_variances - 1) < 1e-6
    for n in (0.3, 1.0, 4.0):
        check(row, top_n_sigma_(row.clone(), n), n, variance)
        after = top_n_sigma_(banned.clone(), n, neg_inf="exclude")
        check(row, after[chosen], n, variance)
        assert bool((after[banned == -math.inf] == -math.inf).all())
