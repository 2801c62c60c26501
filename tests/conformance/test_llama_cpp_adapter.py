"""The llama.cpp adapter: what it claims, and what it carries across the C boundary."""

import math

import numpy as np
import pytest

from topnsigma_conformance.adapters.llama_cpp import LlamaCpp
from topnsigma_reference import top_n_sigma

EDGES = np.array(
    # Signalling and quiet NaNs with payloads, -0.0, a subnormal, 1.0, both infinities.
    [0x7FA00001, 0xFFC12345, 0x80000000, 0x00000001, 0x3F800000, 0x7F800000, 0xFF800000],
    np.uint32,
).view(np.float32)


@pytest.fixture(scope="module")
def llama_cpp() -> LlamaCpp:
    return LlamaCpp()


@pytest.mark.parametrize("n", [None, 0.0, -1.0, math.nan, math.inf, 1.0])
def test_bits_of_rows_left_alone_survive(llama_cpp: LlamaCpp, n: float | None) -> None:
    result = llama_cpp.apply(EDGES[None], [n])
    np.testing.assert_array_equal(result.view(np.uint32), EDGES[None].view(np.uint32))


@pytest.mark.parametrize(
    ("row", "n"),
    [
        # With divisor V-1, n·σ would be 3.46 and keep the zeros.
        pytest.param([0, 0, 3], 2.0, id="population"),
        pytest.param([0, 1], 2.0, id="tie-at-threshold-stays"),
        pytest.param([0, 1], 1.999, id="just-below-threshold-goes"),
        pytest.param([-math.inf, 0, 1, 2, 3, 10], 1.0, id="neg-inf-excluded"),
        pytest.param([-math.inf] * 3, 1.0, id="all-neg-inf"),
        pytest.param([-math.inf, 5, -math.inf], 1.0, id="one-finite"),
        pytest.param([5], 1.0, id="one-token"),
        pytest.param([3, 3, 3], 1.0, id="no-deviation"),
    ],
)
def test_declared_dialect(llama_cpp: LlamaCpp, row: list[float], n: float) -> None:
    logits = np.array([row], np.float32)
    expected = top_n_sigma(logits, n, llama_cpp.dialect)
    np.testing.assert_array_equal(llama_cpp.apply(logits, [n]), expected)


def test_rows_are_independent_and_strides_are_followed(llama_cpp: LlamaCpp) -> None:
    wide = np.random.default_rng(0).normal(0, 3, (6, 200)).astype(np.float32)
    logits, before = wide[::2, ::-2], wide.copy()
    result = llama_cpp.apply(logits, [1.0, None, 2.0])
    for row, n, out in zip(logits, [1.0, None, 2.0], result, strict=True):
        np.testing.assert_array_equal(llama_cpp.apply(row[None].copy(), [n])[0], out)
    np.testing.assert_array_equal(wide, before)


@pytest.mark.parametrize("shape", [(0, 4), (2, 0)])
def test_empty_logits(llama_cpp: LlamaCpp, shape: tuple[int, int]) -> None:
    assert llama_cpp.apply(np.zeros(shape, np.float32), [1.0] * shape[0]).shape == shape


@pytest.mark.parametrize("n", [True, "2.0", 1j])
def test_what_no_c_float_stands_for_is_refused(llama_cpp: LlamaCpp, n: object) -> None:
    with pytest.raises(ValueError, match="n must be"):
        llama_cpp.apply(np.zeros((1, 4), np.float32), [n])
