"""A row's result depends on that row and its n alone (TNS-8, TNS-11), and memory stays bounded."""

import math
import threading
from typing import Any

import pytest
import torch
from dispatch_recorder import DispatchRecorder
from unit.processor.bit_patterns import bits
from unit.processor.layouts import LAYOUTS

from topnsigma_processor import top_n_sigma_
from topnsigma_processor.deviation import Spread, Workspace, spread

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
SIZES = [3, 127, 128, 1000, 16_384, 40_000, 151_936]


def sample(rows: int, size: int, dtype: torch.dtype, offset: float = 0.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(size)
    return (torch.randn(rows, size, generator=generator) * 3 + offset).to(dtype)


def found(row: torch.Tensor, exclude: bool = False) -> Spread | None:
    return spread(row, Workspace(row.shape[0], row.dtype, row.device), exclude)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("offset", [0.0, 40.0])
def test_layout_position_and_batch_do_not_matter(
    dtype: torch.dtype, size: int, offset: float
) -> None:
    logits = sample(5, size, dtype, offset)
    n = [0.5, 1.0, None, 2.0, 1e-3]
    alone = [top_n_sigma_(row.clone(), value) for row, value in zip(logits, n, strict=True)]
    expected = bits(torch.stack(alone))
    for make in LAYOUTS.values():
        view = make(logits)
        assert torch.equal(bits(top_n_sigma_(view, n)), expected)
    order = [4, 2, 0, 3, 1, 1, 0]
    shuffled = top_n_sigma_(logits[order], [n[i] for i in order])
    assert torch.equal(bits(shuffled), expected[order])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("offset", [0.0, 40.0])
def test_sigma_has_the_same_bits_in_every_layout(
    dtype: torch.dtype, size: int, offset: float
) -> None:
    logits = sample(3, size, dtype, offset)
    expected = [found(row.clone()) for row in logits]
    shared = Workspace(size, dtype, logits.device)
    for make in LAYOUTS.values():
        view = make(logits)
        assert [found(row) for row in view] == expected
        assert [spread(row, shared, False) for row in view] == expected
        masked = view[0].clone()
        masked[::3] = -math.inf
        assert found(masked, True) == spread(masked, shared, True) is not None


def test_what_surrounds_a_row_stays() -> None:
    logits = sample(4, 1000, torch.float32)
    buffer = torch.full((4, 1010), 5.0)
    buffer[:, 3:1003] = logits
    top_n_sigma_(buffer[:, 3:1003], 0.5)
    assert bool((buffer[:, :3] == 5.0).all())
    assert bool((buffer[:, 1003:] == 5.0).all())


@pytest.mark.parametrize("exclude", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e38, 1e-41])
@pytest.mark.parametrize("size", [151_936, 151_937, 262_144, 5_000_000])
def test_the_number_of_threads_does_not_matter(size: int, scale: float, exclude: bool) -> None:
    row = sample(1, size, torch.float32, 5.0)[0].clamp(-1, 3) * scale
    if exclude:
        row[::5] = -math.inf
    seen = found_with_threads(row, exclude)
    assert len(seen) == 1
    assert None not in seen


@pytest.mark.parametrize("offset", [-1.0, 0.0, 1.0, 2.0, 30.0])
def test_the_number_of_threads_does_not_matter_to_float64_rows(offset: float) -> None:
    row = torch.randn(5_000_000, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    seen = found_with_threads(row + offset, False)
    assert len(seen) == 1
    assert None not in seen


def found_with_threads(row: torch.Tensor, exclude: bool) -> set[Spread | None]:
    before = torch.get_num_threads()
    seen = set()
    try:
        for threads in (1, 2, 3, 4, 7):
            torch.set_num_threads(threads)
            seen.add(found(row, exclude))
    finally:
        torch.set_num_threads(before)
    return seen


def test_calls_from_several_threads_at_once() -> None:
    logits = sample(8, 40_000, torch.float32)
    expected = bits(top_n_sigma_(logits.clone(), 1.0))
    results: list[torch.Tensor] = [logits.clone() for _ in range(4)]

    def work(result: torch.Tensor) -> None:
        top_n_sigma_(result, 1.0)

    threads = [threading.Thread(target=work, args=(result,)) for result in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(bits(result), expected) for result in results)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_16_bit_row_does_not_depend_on_its_dtype_beyond_its_values(dtype: torch.dtype) -> None:
    row = sample(1, 40_000, dtype)[0]
    assert found(row) == found(row.float())


def test_twice_is_once_and_more_keeps_more() -> None:
    logits = sample(4, 40_000, torch.float32)
    kept = logits > math.inf
    for n in (0.25, 0.5, 1.0, 2.0, 4.0):
        once = top_n_sigma_(logits.clone(), n)
        assert torch.equal(bits(once), bits(top_n_sigma_(once.clone(), n)))
        assert not bool((kept & ~once.isfinite()).any())
        kept = once.isfinite()


@pytest.mark.parametrize("layout", ["contiguous", "transposed", "misaligned start"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("neg_inf", ["noop", "exclude"])
def test_memory_does_not_grow_with_the_batch(layout: str, dtype: torch.dtype, neg_inf: str) -> None:
    size = 20_000
    logits = sample(64, size, dtype)
    logits[1::2, ::3] = -math.inf
    logits[2] *= torch.finfo(dtype).max / logits[2].abs().max()
    buffers = []
    for rows in (4, 64):
        view = LAYOUTS[layout](logits[:rows])
        with DispatchRecorder() as recorder:
            top_n_sigma_(view, 1.0, neg_inf=neg_inf)  # type: ignore[arg-type]
        assert recorder.operations
        assert 0 < max(recorder.allocated) <= 8 * (size + 128)
        buffers.append([count for count in recorder.allocated if count >= size])
    assert buffers[0] == buffers[1]
    assert sum(buffers[0]) <= (4 + 4 + 8) * (size + 128)


@pytest.mark.parametrize("n", [None, [None] * 4, torch.zeros(4), torch.tensor(math.inf)])
def test_no_enabled_row_costs_no_work_on_the_logits(n: Any) -> None:
    logits = sample(4, 1000, torch.float32)
    with DispatchRecorder() as recorder:
        top_n_sigma_(logits, n)
    assert not [call for call in recorder.operations if "_local_scalar_dense" not in call]
