"""The Triton kernels, interpreted, against the exact oracle: every rule, dtype and layout."""

import math
from concurrent.futures import ProcessPoolExecutor

import pytest
import torch
from unit.kernel import interpreted
from unit.kernel.masked_rows import FAMILIES, judge, mask, sample


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("size", [2, 3, 128, 129, 4096, 4097, 9000])
def test_finite_rows(interpreter: ProcessPoolExecutor, family: str, size: int) -> None:
    row = FAMILIES[family](size)
    n = [0.3, 1.0, 1e-30, 1e300, 2.0]
    logits = row.expand(len(n), size)
    result = mask(interpreter, logits, n, schedule="one-launch")
    for value, bits in zip(n, result.bits, strict=True):
        judge(row, value, False, bits)


def test_the_mean_may_lie_between_two_neighbouring_floats(
    interpreter: ProcessPoolExecutor,
) -> None:
    """σ is below an ulp here, and the rounded mean is half of one away from the mean."""
    size, ulp = 40_000, 0.0625
    row = 1e6 + ulp * (torch.arange(size) % 2)
    row[100:121] = 1e6 - ulp * torch.arange(20, 41)
    judge(row, 35.0, False, mask(interpreter, row[None], 35.0).bits[0])


@pytest.mark.parametrize(
    ("size", "family"),
    [(50_257, "normal"), (50_257, "mixed scales"), (151_936, "offset"), (151_936, "spike"),
     (262_145, "normal")],
)  # fmt: skip
def test_large_rows(interpreter: ProcessPoolExecutor, size: int, family: str) -> None:
    row = FAMILIES[family](size)
    judge(row, 1.5, False, mask(interpreter, row[None], 1.5).bits[0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("size", [2, 129, 5000])
def test_narrow_rows(interpreter: ProcessPoolExecutor, dtype: torch.dtype, size: int) -> None:
    families = [(3, 0), (1e-7, 0), (9000, 2e4), (1e-39, 0)]
    rows = torch.stack([sample(size) * scale + offset for scale, offset in families])
    logits = rows.to(dtype)
    result = mask(interpreter, logits, 1.0)
    for row, bits in zip(logits, result.bits, strict=True):
        judge(row, 1.0, False, bits)


@pytest.mark.parametrize("schedule", ["two-launch", "one-launch"])
@pytest.mark.parametrize("exclude", [False, True])
def test_rows_that_are_not_finite(
    interpreter: ProcessPoolExecutor, schedule: str, exclude: bool
) -> None:
    size = 9000
    base = sample(size) * 3
    rows = {
        "a ban": {5: -math.inf},
        "a ban in the tail": {size - 1: -math.inf},
        "bans": dict.fromkeys(range(0, size, 3), -math.inf),
        "whole tiles": dict.fromkeys(range(4096, 8192), -math.inf),
        "NaN": {4097: math.nan},
        "NaN in the tail": {size - 1: math.nan},
        "+inf": {0: math.inf},
        "+inf and a ban": {4095: math.inf, 17: -math.inf},
        "NaN and bans": {8191: math.nan} | dict.fromkeys(range(100), -math.inf),
        "all banned": dict.fromkeys(range(size), -math.inf),
        "one left": dict.fromkeys(range(1, size), -math.inf),
        "two left": dict.fromkeys(range(1, size - 1), -math.inf),
        "all NaN": dict.fromkeys(range(size), math.nan),
        "none": {},
    }
    logits = base.repeat(len(rows), 1)
    for row, edits in zip(logits, rows.values(), strict=True):
        for index, value in edits.items():
            row[index] = value
    # A signalling NaN with a payload, which arithmetic would quieten.
    logits.view(torch.int32)[4, 4097] = 0x7FA01234
    result = mask(interpreter, logits, 1.0, exclude, schedule=schedule)
    for row, bits in zip(logits, result.bits, strict=True):
        judge(row, 1.0, exclude, bits)


@pytest.mark.parametrize("value", [0.0, -0.0, 3.0, -3.4e38, 1e-45])
@pytest.mark.parametrize("size", [1, 2, 129, 4100])
def test_equal_logits(interpreter: ProcessPoolExecutor, value: float, size: int) -> None:
    logits = torch.full((2, size), value)
    if value == 0:
        logits[:, ::2] *= -1
    judge(logits[0], 1.0, False, mask(interpreter, logits, 1.0).bits[0])


@pytest.mark.parametrize("schedule", ["two-launch", "one-launch"])
def test_n_and_policy_are_per_row(interpreter: ProcessPoolExecutor, schedule: str) -> None:
    n = [1.0, 0.0, -1.0, math.nan, math.inf, -math.inf, 5e-324, 1.7e308, 0.5, 0.5]
    logits = sample(300).repeat(len(n), 1)
    logits[8:, 7] = -math.inf
    exclude = [False] * 9 + [True]
    result = mask(interpreter, logits, n, exclude, schedule=schedule)
    for row, value, policy, bits in zip(logits, n, exclude, result.bits, strict=True):
        judge(row, value, policy, bits)


# Symmetric about 0, V - 1 = 16, Σx² = 64: σ is exactly 2.
EXACT = [4.0, -4.0, 2, 2, -2, -2, 2, 2, -2, -2, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(("n", "t"), [(1.0, 2), (2.0, 0), (3.0, -2), (4.0, -4)])
def test_a_logit_equal_to_the_threshold_stays(
    interpreter: ProcessPoolExecutor, n: float, t: float
) -> None:
    bits = mask(interpreter, torch.tensor([EXACT]), n).bits[0]
    kept = [x if x >= t else -math.inf for x in EXACT]
    assert bits.view(torch.float32).tolist() == kept


@pytest.mark.parametrize(("n", "t"), [(1.0, 2), (3.0, -2), (4.0, -4)])
def test_a_logit_below_the_threshold_by_less_than_float32_can_tell_goes(
    interpreter: ProcessPoolExecutor, n: float, t: float
) -> None:
    bits = mask(interpreter, torch.tensor([EXACT]), n - 2.0**-40).bits[0]
    kept = [x if x > t else -math.inf for x in EXACT]
    assert bits.view(torch.float32).tolist() == kept


def test_the_path_is_chosen_and_auto_is_torch_on_a_cpu(interpreter: ProcessPoolExecutor) -> None:
    seen = interpreter.submit(interpreted.path_of_cpu_tensors).result()
    assert seen == ["auto", "torch", "triton", "triton", "triton"]
