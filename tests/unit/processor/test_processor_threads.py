"""Several threads or processes at once: nothing is shared, and nobody waits for another (TNS-8)."""

import math
import multiprocessing
import threading
from collections.abc import Callable
from functools import partial

import pytest
import torch
from unit.processor import lockstep
from unit.processor.bit_patterns import bits

from topnsigma_processor import top_n_sigma_
from topnsigma_processor.row_masker import RowMasker

SIZE = 40_000


def rows(seed: int, dtype: torch.dtype = torch.float32, size: int = SIZE) -> torch.Tensor:
    """Rows [4, V] that take every way through the computation of σ, which differs by the seed."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(4, size, generator=generator, dtype=torch.float64) * 4.0**seed
    logits[0] *= torch.linspace(1, 30 * (1 + seed), size)  # more in the tail, by the seed
    logits[1] += 1000  # shifted
    logits[2, ::3] = -math.inf
    logits[3] *= torch.finfo(dtype).max / logits[3].abs().max()  # scaled
    return logits.to(dtype)


def masked(logits: torch.Tensor, n: float) -> None:
    top_n_sigma_(logits, n, neg_inf="exclude")


@pytest.mark.parametrize(
    "dtypes",
    [
        (torch.float32, torch.float32, torch.float32),
        (torch.float64, torch.float64),
        (torch.bfloat16, torch.float32, torch.float16),
    ],
)
def test_threads_in_lockstep(dtypes: tuple[torch.dtype, ...]) -> None:
    """After every operation of one, each of the others does one of its own."""
    # First alone: what is made once for all calls is there when threads come to share it.
    expected = [rows(seed, dtype) for seed, dtype in enumerate(dtypes)]
    for index, logits in enumerate(expected):
        masked(logits, 0.5 + index)
    results = [rows(seed, dtype) for seed, dtype in enumerate(dtypes)]
    works = [partial(masked, logits, 0.5 + index) for index, logits in enumerate(results)]
    turns = lockstep.run(works)
    assert turns[: 2 * len(dtypes)] == [*range(len(dtypes))] * 2
    for result, alone in zip(results, expected, strict=True):
        assert torch.equal(bits(result), bits(alone))


def test_maskers_in_lockstep() -> None:
    """As two engines in one process have them."""
    n = torch.tensor([0.5, math.nan, 1.0, 2.0], dtype=torch.float64)
    exclude = torch.tensor([False, False, True, True])

    def mask(logits: torch.Tensor) -> None:
        RowMasker(SIZE, 4, torch.device("cpu")).mask_(logits, n, exclude)

    expected = [rows(seed) for seed in range(3)]
    for logits in expected:
        mask(logits)
    results = [rows(seed) for seed in range(3)]
    lockstep.run([partial(mask, logits) for logits in results])
    for result, alone in zip(results, expected, strict=True):
        assert torch.equal(bits(result), bits(alone))


def test_many_threads_as_the_system_runs_them() -> None:
    results = [rows(seed, size=3000) for seed in range(8)]
    barrier = threading.Barrier(len(results))

    def work(logits: torch.Tensor, seed: int) -> None:
        barrier.wait()
        masked(logits, 0.5 + seed)

    threads = [
        threading.Thread(target=work, args=(logits, seed)) for seed, logits in enumerate(results)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, result in enumerate(results):
        alone = rows(seed, size=3000)
        masked(alone, 0.5 + seed)
        assert torch.equal(bits(result), bits(alone))


def in_a_process(seed: int) -> list[int]:
    torch.set_num_threads(1)
    logits = rows(seed)
    masked(logits, 1.0)
    found: list[int] = bits(logits).sum(1).tolist()
    return found


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_process_started_by_any_method_finds_the_same_bits(method: str) -> None:
    """Also after this process has used the operation, which a fork inherits."""
    expected = in_a_process(1)
    with multiprocessing.get_context(method).Pool(1) as pool:
        call: Callable[[int], list[int]] = in_a_process
        assert pool.apply(call, (1,)) == expected
