"""The kept set against an exact check, over ordinary and extreme rows (TNS-3 to TNS-7, TNS-9)."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Literal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.processor.bit_patterns import INTEGERS, bits
from unit.processor.exact_cut import check, exact_variance

from topnsigma_processor import top_n_sigma_
from topnsigma_processor.deviation import Workspace, spread

INF = math.inf
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def rows(dtype: torch.dtype) -> st.SearchStrategy[list[float]]:
    widths: dict[torch.dtype, Literal[16, 32, 64]] = {torch.float16: 16, torch.float64: 64}
    numbers = st.one_of(
        st.floats(allow_nan=False, allow_infinity=False, width=widths.get(dtype, 32)),
        st.integers(-8, 8).map(float),
    )
    return st.lists(numbers, min_size=2, max_size=12)


numbers_of_n = st.one_of(
    st.floats(min_value=0.05, max_value=8.0),
    st.floats(min_value=5e-324, max_value=1.7e308),
    st.sampled_from([0.5, 1.0, 2.0]),
)


@pytest.mark.parametrize("dtype", DTYPES)
@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_small_rows(dtype: torch.dtype, data: st.DataObject) -> None:
    row = torch.tensor(data.draw(rows(dtype)), dtype=torch.float64).to(dtype)
    row = torch.where(row.isfinite(), row, torch.zeros((), dtype=dtype))
    n = data.draw(numbers_of_n)
    check(row, top_n_sigma_(row.clone(), n), n)


def family(name: str, size: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    normal = torch.randn(size, generator=generator)
    uniform = torch.rand(size, generator=generator)
    made: dict[str, Callable[[], torch.Tensor]] = {
        "normal": lambda: normal * 3,
        "mean 2 sigma": lambda: normal + 2,
        "mean -2 sigma": lambda: normal - 2,
        "mean 1e2": lambda: normal * 0.5 + 100,
        "mean -1e4": lambda: normal - 1e4,
        "mean/sigma 1e6": lambda: normal + 1e6,
        "few numbers": lambda: normal * 0.4 + 1.6e7,
        "one outlier": lambda: torch.where(torch.arange(size) == size // 2, 7.2500005, 7.25),
        "two values": lambda: torch.where(uniform > 0.5, 1.1, 1.0),
        "plus minus": lambda: torch.where(torch.arange(size) % 2 > 0, 0.1, -0.1),
        "sorted": lambda: normal.sort().values - 1,
        "two levels": lambda: (
            normal * 0.01 + torch.where(torch.arange(size) < size // 2, 0.0, 30.0)
        ),
        "heavy tails": lambda: normal / uniform.clamp_min(1e-6),
        "all magnitudes": lambda: normal.sign() * 10.0 ** (uniform * 76 - 38),
        "largest": lambda: torch.where(uniform > 0.5, 3.4e38, -3.4e38),
        "1e38": lambda: normal.clamp(-3, 3) * 1e38,
        "1e20": lambda: normal * 1e20,
        "mean 50, one high": lambda: torch.where(torch.arange(size) == 1, 500.0, normal + 50),
        "1e-22": lambda: normal * 1e-22,
        "1e-25": lambda: normal * 1e-25,
        "subnormal": lambda: normal * 1e-41,
        "smallest": lambda: torch.where(uniform > 0.5, 1.4e-45, -1.4e-45),
    }
    return made[name]().float()


FAMILIES = [
    "normal",
    "mean 2 sigma",
    "mean -2 sigma",
    "mean 1e2",
    "mean -1e4",
    "mean/sigma 1e6",
    "few numbers",
    "one outlier",
    "two values",
    "plus minus",
    "sorted",
    "two levels",
    "heavy tails",
    "all magnitudes",
    "largest",
    "1e38",
    "1e20",
    "mean 50, one high",
    "1e-22",
    "1e-25",
    "subnormal",
    "smallest",
]


@pytest.mark.parametrize("size", [2, 3, 127, 128, 1000, 16_384, 16_385, 32_768, 151_936, 262_144])
@pytest.mark.parametrize("name", FAMILIES)
def test_families(name: str, size: int) -> None:
    row = family(name, size, seed=size)
    variance = exact_variance(row.tolist())
    found = spread(row, Workspace(size, row.dtype, row.device), exclude=False)
    if variance == 0:
        assert found is None
    else:
        assert found is not None
        ratio = Fraction(found.sigma) ** 2 * Fraction(4) ** found.exponent / variance
        assert abs(ratio - 1) < (4e-15 if size <= 16_384 else 4e-7)
    for n in (0.3, 1.0, 4.0):
        check(row, top_n_sigma_(row.clone(), n), n, variance)


@pytest.mark.parametrize("size", [2, 3, 128, 1000, 20_000])
@pytest.mark.parametrize("scale", [1e300, 1.7e308, 1e-300, 1e-310, 5e-324, 1.0])
@pytest.mark.parametrize("kind", ["centred", "mean/sigma 1e6", "one high"])
def test_float64_rows(size: int, scale: float, kind: str) -> None:
    generator = torch.Generator().manual_seed(size)
    row = torch.randn(size, generator=generator, dtype=torch.float64)
    if kind == "one high":
        row = torch.where(torch.arange(size) == 1, 1e6, row)
    elif kind == "mean/sigma 1e6":
        row += 1e6
    row = row / row.abs().max() * scale
    variance = exact_variance(row.tolist())
    masked = torch.cat([row, torch.full((size // 2,), -INF, dtype=torch.float64)])
    for x, exclude in ((row, False), (masked, True)):
        found = spread(x, Workspace(x.shape[0], x.dtype, x.device), exclude)
        if variance == 0:
            assert found is None
            continue
        assert found is not None
        ratio = Fraction(found.sigma) ** 2 * Fraction(4) ** found.exponent / variance
        assert abs(ratio - 1) < 1e-14
    for n in (0.01, 1.0, 2.0):
        check(row, top_n_sigma_(row.clone(), n), n)


def test_a_threshold_that_is_finite_though_sigma_is_not() -> None:
    row = torch.tensor([1.7e308, -1.7e308], dtype=torch.float64)
    assert top_n_sigma_(row.clone(), 1.0).tolist() == [1.7e308, -INF]
    assert top_n_sigma_(row.clone(), 1.5).tolist() == row.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("row", "n", "kept"),
    [
        ([1, 2, 3], 1.0, [2, 3]),
        ([0, 0, 0, 0, 0, 0, 0, 0, 3], 3.0, [0] * 8 + [3]),
        ([0, 1, 2], 1.1, [1, 2]),
        ([0, 0, 2, 2], 1.9999, [0, 0, 2, 2]),
        ([1, 2, 2, 2, 3], 1.0, [3]),
        ([3, 2, 1, 0], 1.9, [3, 2, 1]),
        ([-20, -19, -12, -11, -10], 1.0, [-12, -11, -10]),
        ([4, 4, 4], 1.0, [4, 4, 4]),
        ([4, 5, 5], 1e-9, [5, 5]),
        ([5], 1.0, [5]),
    ],
)
def test_by_hand(dtype: torch.dtype, row: list[int], n: float, kept: list[int]) -> None:
    after = top_n_sigma_(torch.tensor(row, dtype=dtype), n)
    assert after[after > -INF].tolist() == kept


@pytest.mark.parametrize("dtype", DTYPES)
def test_kept_logits_keep_their_bits(dtype: torch.dtype) -> None:
    tiny = torch.finfo(dtype).smallest_normal / 4
    row = torch.tensor([-0.0, 0.0, tiny, -tiny, -9.0, 1.0, -0.0], dtype=dtype)
    after = top_n_sigma_(row.clone(), 1.0)
    assert after.isinf().tolist() == [False] * 4 + [True] + [False] * 2
    finite = after.isfinite()
    assert torch.equal(bits(row)[finite], bits(after)[finite])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset", [-1, 0])
def test_the_numbers_around_t(dtype: torch.dtype, offset: int) -> None:
    # σ = 1 and max = 2 whatever the middle number does to it within rounding: t is near 1.5.
    base = torch.tensor([1.5], dtype=dtype)
    below = (bits(base) + offset).view(dtype)
    row = torch.cat([torch.tensor([2.0, 1.0], dtype=dtype), below])
    check(row, top_n_sigma_(row.clone(), 1.0), 1.0)
    exact = torch.tensor([2.0, 0.0, 1.0], dtype=dtype)
    exact[2] = (bits(torch.ones(1, dtype=dtype)) + offset).view(dtype)[0]
    check(exact, top_n_sigma_(exact.clone(), 1.0), 1.0)


def special(dtype: torch.dtype) -> list[torch.Tensor]:
    """NaNs (quiet, signalling, negative, with payload) and the infinities, as integers."""
    mantissa = {torch.float16: 10, torch.bfloat16: 7, torch.float32: 23, torch.float64: 52}[dtype]
    integer = INTEGERS[dtype.itemsize]
    infinity = bits(torch.tensor([INF], dtype=dtype))
    negative = bits(torch.tensor([-INF], dtype=dtype))
    payloads = [1, (1 << (mantissa - 1)), (1 << (mantissa - 1)) | 5, (1 << (mantissa - 1)) - 1]
    found = [infinity + payload for payload in payloads]
    found += [negative + payload for payload in payloads]
    found += [infinity, negative]
    return [value.to(integer) for value in found]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("neg_inf", ["noop", "exclude"])
@pytest.mark.parametrize("size", [2, 3, 17, 128, 130, 40_000, 40_064])
def test_rows_that_are_not_finite(dtype: torch.dtype, neg_inf: str, size: int) -> None:
    generator = torch.Generator().manual_seed(size)
    row = torch.randn(size, generator=generator).to(dtype)
    for value in special(dtype):
        for place in {0, 1, size // 2, size - 1}:
            before = bits(row.clone())
            before[place] = value
            is_negative_infinity = before.view(dtype)[place] == -INF
            after = before.clone()
            top_n_sigma_(after.view(dtype), 0.5, neg_inf=neg_inf)  # type: ignore[arg-type]
            if is_negative_infinity and neg_inf == "exclude" and size > 2:
                assert after.view(dtype)[place] == -INF
                others = torch.arange(size) != place
                check(before.view(dtype)[others], after.view(dtype)[others], 0.5)
            else:
                assert torch.equal(before, after)


def test_an_infinity_of_each_sign() -> None:
    for other in (math.nan, INF):
        for row in ([-INF, other, 1.0, 2.0, 9.0], [other, 0.0, -INF, 2.0, 9.0]):
            before = torch.tensor(row)
            for neg_inf in ("noop", "exclude"):
                after = top_n_sigma_(before.clone(), 0.1, neg_inf=neg_inf)
                assert torch.equal(bits(before), bits(after))


@pytest.mark.parametrize("name", ["normal", "mean 1e2", "1e38", "subnormal", "1e-25", "two values"])
@pytest.mark.parametrize("size", [2, 3, 200, 17_000, 50_048])
@pytest.mark.parametrize("finite", [0, 1, 2, 3, 0.01, 0.5, 0.999])
def test_exclude_is_the_row_without_them(name: str, size: int, finite: float) -> None:
    row = family(name, size, seed=size)
    order = torch.randperm(size, generator=torch.Generator().manual_seed(1))
    count = min(finite if isinstance(finite, int) else max(2, int(size * finite)), size)
    row[order[count:]] = -INF
    after = top_n_sigma_(row.clone(), 0.7, neg_inf="exclude")
    if count <= 1:
        assert torch.equal(bits(row), bits(after))
        return
    chosen = row > -INF
    check(row[chosen], after[chosen], 0.7)
    assert bool((after[~chosen] == -INF).all())
    if count < size:
        assert torch.equal(bits(row), bits(top_n_sigma_(row.clone(), 0.7)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_exclude_in_every_dtype(dtype: torch.dtype) -> None:
    row = torch.tensor([10, 9, 1, -INF], dtype=dtype)
    assert top_n_sigma_(row.clone(), 1, neg_inf="exclude").tolist() == [10, 9, -INF, -INF]
    assert top_n_sigma_(row.clone(), 1).tolist() == row.tolist()
    lonely = torch.tensor([-INF, 3, -INF], dtype=dtype)
    assert top_n_sigma_(lonely, 1, neg_inf="exclude").tolist() == [-INF, 3, -INF]
    equal = torch.tensor([-INF, 3, 3], dtype=dtype)
    assert top_n_sigma_(equal, 1, neg_inf="exclude").tolist() == [-INF, 3, 3]


def test_a_disabled_row_keeps_its_bits_beside_enabled_ones() -> None:
    integers = torch.randint(-(2**31), 2**31, (6, 1000), dtype=torch.int64).to(torch.int32)
    logits = integers.clone().view(torch.float32)
    logits[1::2] = torch.randn(3, 1000)
    before = bits(logits.clone())
    top_n_sigma_(logits, [None, 1.0] * 3)
    assert torch.equal(before[::2], bits(logits)[::2])
    assert bool((logits[1::2] == -INF).any(dim=1).all())
