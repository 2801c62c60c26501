"""What top_n_sigma_ accepts and refuses; a refused call leaves the tensor as it was (TNS-1)."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Real

import numpy as np
import pytest
import torch

from topnsigma_processor import __version__, top_n_sigma_

ROW = [1.0, 2.0, 3.0, 4.0]


class NoRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class NoFloat(Fraction):
    def __float__(self) -> float:
        raise RuntimeError("no float")


BAD_N = [
    True,
    False,
    np.bool_(True),
    "2.0",
    b"2",
    bytearray(b"2"),
    math.nan,
    math.inf,
    -math.inf,
    np.float32("nan"),
    0,
    0.0,
    -0.0,
    -1,
    -5e-324,
    10**400,
    10**5000,
    Fraction(1, 10**400),
    Decimal("2"),
    1 + 0j,
    {"n": 1},
    {1.0},
    np.array(1.0),
    np.ones(2),
    object(),
    NoRepr(),
    NoFloat(1, 2),
]


def refused(
    error: type[Exception], pattern: str, logits: torch.Tensor, *args: object, **kwargs: object
) -> None:
    before = logits.detach().clone()
    with pytest.raises(error, match=pattern):
        top_n_sigma_(logits, *args, **kwargs)  # type: ignore[arg-type]
    assert torch.equal(before, logits)


def test_version() -> None:
    assert __version__ == "0.1.0"


@pytest.mark.parametrize("bad", BAD_N, ids=lambda value: type(value).__name__)
def test_a_bad_n_is_refused_by_name_and_value(bad: object) -> None:
    refused(ValueError, r"^n must be a finite real number > 0, or None", torch.tensor(ROW), bad)


@pytest.mark.parametrize("bad", [*BAD_N, [1.0], torch.tensor(1.0)], ids=lambda v: type(v).__name__)
def test_a_bad_n_in_a_sequence_is_refused_by_index(bad: object) -> None:
    logits = torch.tensor([ROW] * 3)
    refused(ValueError, r"^n\[2\] must be a finite real number > 0", logits, [1.0, None, bad])
    refused(ValueError, r"^n\[2\] must be a finite real number > 0", logits, (1.0, 2, bad))


def test_the_value_is_shown_and_shortened() -> None:
    refused(ValueError, r"got -1\.5$", torch.tensor(ROW), -1.5)
    refused(ValueError, r"got 'x{79}… \(str\)$", torch.tensor(ROW), "x" * 1000)
    refused(ValueError, r"type NoRepr that has no repr$", torch.tensor(ROW), NoRepr())
    refused(ValueError, r"got <an int of 16610 bits>$", torch.tensor(ROW), 10**5000)


@pytest.mark.parametrize("good", [1, 1.0, np.float64(1), np.float32(1), np.int8(1), Fraction(1)])
def test_real_numbers_are_accepted(good: Real) -> None:
    expected = torch.tensor([-math.inf, -math.inf, 3.0, 4.0])
    assert torch.equal(top_n_sigma_(torch.tensor(ROW), good), expected)
    assert torch.equal(top_n_sigma_(torch.tensor([ROW]), [good]), expected[None])
    assert torch.equal(top_n_sigma_(torch.tensor(ROW), (good,)), expected)


@pytest.mark.parametrize("n", [5e-324, 1.7e308])
def test_the_ends_of_the_range_of_n(n: float) -> None:
    kept = torch.isfinite(top_n_sigma_(torch.tensor(ROW), n)).tolist()
    assert kept == ([False, False, False, True] if n < 1 else [True] * 4)


@pytest.mark.parametrize("n", [[1.0], [1.0] * 3, [], range(1, 4)])
def test_a_sequence_of_the_wrong_length_is_refused(n: object) -> None:
    refused(ValueError, r"n must be one value.* 2 rows .*sequence of", torch.tensor([ROW] * 2), n)


@pytest.mark.parametrize("shape", [(1,), (3,), (1, 2), (2, 1), (0,)])
def test_a_tensor_n_of_the_wrong_shape_is_refused(shape: tuple[int, ...]) -> None:
    refused(ValueError, r"0-d or of shape \[2\]", torch.tensor([ROW] * 2), torch.ones(shape))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.bool, torch.complex64])
def test_a_tensor_n_of_another_dtype_is_refused(dtype: torch.dtype) -> None:
    n = torch.ones(2, dtype=dtype)
    refused(TypeError, "n, as a tensor, .*torch.float32", torch.tensor([ROW] * 2), n)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_tensor_n_enables_rows_by_value(dtype: torch.dtype) -> None:
    n = torch.tensor([1.0, math.nan, 0.0, -1.0, math.inf, -math.inf, 0.125], dtype=dtype)
    expected = torch.tensor([ROW] * 7)
    expected[0, :2] = -math.inf
    expected[6, :3] = -math.inf
    assert torch.equal(top_n_sigma_(torch.tensor([ROW] * 7), n), expected)
    assert torch.equal(top_n_sigma_(torch.tensor([ROW] * 2), n[6]), expected[[6, 6]])
    assert torch.equal(top_n_sigma_(torch.tensor(ROW), n[:1]), expected[0])


def test_a_tensor_n_that_shares_memory_or_requires_grad() -> None:
    logits = torch.tensor([ROW, ROW])
    top_n_sigma_(logits, logits[:, 0])
    assert logits[:, 2].tolist() == [3.0, 3.0]
    assert logits.isinf().sum() == 4
    n = torch.tensor([1.0], requires_grad=True)
    assert top_n_sigma_(torch.tensor([ROW]), n).isinf().sum() == 2


@pytest.mark.parametrize("n", [None, [None, None], torch.zeros(2), [None, 1.0]])
def test_the_argument_comes_back(n: object) -> None:
    logits = torch.tensor([ROW] * 2)
    assert top_n_sigma_(logits, n) is logits  # type: ignore[arg-type]
    assert torch.equal(logits[0], torch.tensor(ROW))


@pytest.mark.parametrize("shape", [(0,), (0, 5), (5, 0), (0, 0), (1,), (5, 1)])
def test_nothing_to_do(shape: tuple[int, ...]) -> None:
    logits = torch.full(shape, 7.0)
    assert top_n_sigma_(logits, 1.0) is logits
    assert bool((logits == 7.0).all())
    refused(ValueError, "^n must be", logits, "1")


@pytest.mark.parametrize("bad", ["zero", "", None, 1, True, np.array(["noop"]), b"noop"])
def test_a_bad_neg_inf_is_refused(bad: object) -> None:
    logits = torch.tensor(ROW)
    refused(ValueError, "neg_inf must be 'noop' or 'exclude', got", logits, 1.0, neg_inf=bad)


@pytest.mark.parametrize("shape", [(), (2, 2, 2)])
def test_a_bad_shape_is_refused(shape: tuple[int, ...]) -> None:
    refused(ValueError, r"shape \[V\] or \[B, V\]", torch.zeros(shape), 1.0)


@pytest.mark.parametrize("dtype", [torch.int32, torch.bool, torch.complex64])
def test_a_bad_dtype_is_refused(dtype: torch.dtype) -> None:
    refused(TypeError, "torch.float32.*got", torch.ones(4, dtype=dtype), 1.0)


@pytest.mark.parametrize("bad", [ROW, np.array(ROW), None])
def test_what_is_no_tensor_is_refused(bad: object) -> None:
    with pytest.raises(TypeError, match=r"logits must be a torch\.Tensor"):
        top_n_sigma_(bad, 1.0)  # type: ignore[arg-type]


def test_a_sparse_tensor_is_refused() -> None:
    with pytest.raises(TypeError, match="dense"):
        top_n_sigma_(torch.eye(4).to_sparse(), 1.0)


BASE = torch.arange(64.0)


@pytest.mark.parametrize(
    ("view", "overlaps"),
    [
        (lambda: BASE[:4].clone().expand(3, 4), True),
        (lambda: BASE[:3, None].clone().expand(3, 4), True),
        (lambda: BASE[:1].clone().expand(4), True),
        (lambda: BASE.clone().as_strided((4, 8), (1, 1)), True),
        (lambda: BASE.clone().as_strided((3, 4), (6, 4)), True),
        (lambda: BASE.clone().as_strided((2, 4), (6, 4)), False),
        (lambda: BASE.clone().as_strided((3, 3), (6, 4)), False),
        (lambda: BASE.clone().as_strided((3, 2), (6, 4)), False),
        (lambda: BASE[:4].clone().expand(1, 4), False),
        (lambda: BASE[:4, None].clone().t(), False),
        (lambda: BASE.clone().as_strided((1, 4), (0, 1)), False),
        (lambda: BASE.clone().as_strided((1, 4), (2, 1)), False),
        (lambda: BASE.clone().as_strided((0, 4), (0, 1)), False),
    ],
)
def test_overlapping_memory_is_refused(view: Callable[[], torch.Tensor], overlaps: bool) -> None:
    logits = view()
    addresses = {
        tuple(i): sum(a * b for a, b in zip(i, logits.stride(), strict=True))
        for i in np.ndindex(*logits.shape)
    }
    assert (len(set(addresses.values())) < len(addresses)) == overlaps
    if overlaps:
        refused(ValueError, "same memory twice", logits, 1.0)
    else:
        assert top_n_sigma_(logits, 0.01) is logits
        assert logits.numel() == 0 or logits.isinf().any()


def test_grad_is_refused_where_it_would_be_recorded() -> None:
    leaf = torch.tensor(ROW, requires_grad=True)
    refused(ValueError, "require grad", leaf, 1.0)
    refused(ValueError, "require grad", leaf * 1, None)
    with torch.no_grad():
        top_n_sigma_(leaf, 1.0)
    assert leaf.isinf().sum() == 2
    assert leaf.requires_grad


def test_inference_tensors_are_accepted_in_any_mode() -> None:
    with torch.inference_mode():
        logits = torch.tensor(ROW)
        assert top_n_sigma_(logits.clone(), 1.0).isinf().sum() == 2
    assert top_n_sigma_(logits, 1.0).isinf().sum() == 2


def test_a_backward_pass_notices_the_change() -> None:
    weight = torch.ones(4, requires_grad=True)
    logits = torch.tensor(ROW)
    loss = (weight * logits).sum()
    top_n_sigma_(logits, 1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.backward(loss)
