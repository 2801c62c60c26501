"""Each failure of a peer, worked out with fractions and shown on the peer's own function."""

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from topnsigma_conformance.adapters.aphrodite import Aphrodite
from topnsigma_conformance.adapters.llama_cpp import LlamaCpp
from topnsigma_conformance.adapters.mlx_vlm import MlxVlm
from topnsigma_conformance.adapters.one_module import load_module

# One large deviation before many small ones. 8192² is 2²⁶, where float32 values lie 8 apart: a 1
# that is added to such a sum is lost.
SMALL_AFTER_LARGE = (-8192.0, *(1.0, -1.0) * 65_535)


@pytest.fixture(scope="module")
def mlx_vlm() -> Any:
    """The one module of mlx-vlm."""
    return load_module("mlx_vlm", "sample_utils.py")


@pytest.fixture(scope="module")
def apply_top_n_sigma() -> Any:
    """mlx-vlm's function, on a row of numbers, compiled as users get it."""
    adapter: Any = MlxVlm()

    def call(row: Any, n: Any) -> Any:
        logits = adapter._mx.array(np.array([row], np.float32))
        return np.array(adapter._apply_top_n_sigma(logits, n))[0]

    return call


@pytest.fixture(scope="module")
def llama_cpp() -> Any:
    """llama.cpp's sampler, on a row of numbers."""
    adapter = LlamaCpp()
    return lambda row, n: adapter.apply(np.array([row], np.float32), [n])[0]


def test_mlx_vlm_at_zero_keeps_the_maximum_alone(apply_top_n_sigma: Any) -> None:
    assert apply_top_n_sigma([0, 1, 3], 0).tolist() == [-math.inf, -math.inf, 3]


@pytest.mark.parametrize(
    ("n", "calls"), [(0.0, 0), (-1.0, 0), (math.nan, 0), (math.inf, 1), (1.0, 1)]
)
def test_mlx_vlm_leaves_the_function_out_unless_n_is_positive(
    mlx_vlm: Any, n: float, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []

    def function(logits: Any, n_sigma: float) -> Any:
        seen.append(n_sigma)
        return logits

    monkeypatch.setattr(mlx_vlm, "apply_top_n_sigma", function)
    mlx_vlm.make_sampler(temp=1.0, top_n_sigma=n)(mlx_vlm.mx.array([[0.0, 1.0, 3.0]]))
    assert seen == [n] * calls


def test_mlx_vlm_refuses_a_negative_n_and_a_large_integer(apply_top_n_sigma: Any) -> None:
    with pytest.raises(ValueError, match="non-negative"):
        apply_top_n_sigma([0, 1, 3], -1)
    with pytest.raises(RuntimeError, match="bad_cast"):
        apply_top_n_sigma([0, 1, 3], 2**70)
    assert apply_top_n_sigma([0, 1, 3], float(2**70)).tolist() == [0, 1, 3]


@pytest.mark.parametrize("engine", ["apply_top_n_sigma", "llama_cpp"])
def test_small_deviations_are_lost_after_a_large_one(
    engine: str, request: pytest.FixtureRequest
) -> None:
    top_n_sigma = request.getfixturevalue(engine)
    row = list(SMALL_AFTER_LARGE)
    row[1] = -21.64
    sigma = _population_sigma(row)
    assert sigma == pytest.approx(math.sqrt(513), abs=1e-3)
    # Above the threshold by ten times what TNS-9 leaves to rounding.
    assert row[1] - (1 - sigma) > 10 * (sigma * 2**-15 + 4 * 2**-19)
    assert top_n_sigma(row, 1.0)[1] == -math.inf
    # The cut is where the large deviation alone puts it: 1 - √512 = -21.627.
    for logit, kept in ((-21.63, False), (-21.62, True)):
        row[1] = logit
        assert np.isfinite(top_n_sigma(row, 1.0)[1]) == kept


def _population_sigma(row: list[float]) -> float:
    values = [Fraction(float(np.float32(x))) for x in row]
    mean = sum(values) / len(values)
    return math.sqrt(sum((x - mean) ** 2 for x in values) / len(values))


def test_aphrodite_makes_a_request_without_n_greedy_beside_one_with_n() -> None:
    adapter: Any = Aphrodite()
    logits = torch.tensor([[0.0, 1.0], [8.0, -2.0]])
    # What InputBatch holds for a request with nsigma = 1 and one that leaves it at 0.
    metadata = SimpleNamespace(top_nsigma=torch.tensor([1.0, 0.0]))
    result = adapter._top_nsigma(logits.clone(), metadata)
    # n = 1: σ² = 1/2, so that t = 1 - √½ > 0. n = 0: t is the maximum.
    assert result.tolist() == [[-math.inf, 1.0], [8.0, -math.inf]]
    alone = adapter.apply(logits[1:].clone(), [None])
    assert alone.tolist() == [[8.0, -2.0]]


@pytest.mark.parametrize("n", [0.0, math.nan, math.inf, True], ids=repr)
def test_aphrodite_lets_pass(n: Any) -> None:
    logits = torch.tensor([[0.0, 1.0, 3.0]])
    kept = Aphrodite().apply(logits.clone(), [n]).isfinite().sum().item()
    # σ² = 7/3; at n = 1 the threshold is 1.47.
    assert kept == (1 if n is True else 3)
