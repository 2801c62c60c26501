"""A row's bits, and the statistics behind them, depend on nothing but the row (TNS-8, TNS-11)."""

import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import pytest
import torch
from unit.kernel.masked_rows import FAMILIES, mask, sample

SCHEDULES = ["two-launch", "one-launch"]

# Name to (row stride, token stride, offset) of [rows, size].
LAYOUTS: dict[str, Callable[[int, int], tuple[int, int, int]]] = {
    "contiguous": lambda rows, size: (size, 1, 0),
    "misaligned": lambda rows, size: (size, 1, 1),
    "padded": lambda rows, size: (-(-size // 64) * 64 + 64, 1, 0),
    "odd stride": lambda rows, size: (size + 3, 1, 0),
    "aligned stride, misaligned start": lambda rows, size: (-(-size // 64) * 64, 1, 3),
    "every third": lambda rows, size: (3 * size + 1, 3, 2),
    "transposed": lambda rows, size: (1, rows, 0),
    "rows overlap in extent": lambda rows, size: (1, rows + 5, 7),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("size", [130, 4099])
def test_layouts(
    interpreter: ProcessPoolExecutor, layout: str, dtype: torch.dtype, size: int
) -> None:
    logits = torch.stack([sample(size), sample(size, 1) * 5 + 40, sample(size, 2)]).to(dtype)
    exclude = [False, True, True]
    logits[2, ::5] = -torch.inf
    expected = mask(interpreter, logits, 1.0, exclude)
    row_stride, token_stride, offset = LAYOUTS[layout](3, size)
    found = mask(
        interpreter, logits, 1.0, exclude, strides=(row_stride, token_stride), offset=offset
    )
    assert torch.equal(found.bits, expected.bits)
    for ours, theirs in zip(found.statistics, expected.statistics, strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_batches_of_1_7_64_and_1000(interpreter: ProcessPoolExecutor, schedule: str) -> None:
    rows = [FAMILIES[name](140) for name in ("normal", "offset", "negative", "mixed scales")]
    alone = [mask(interpreter, row[None], 0.7) for row in rows]
    for batch in (7, 64, 1000):
        order = torch.randint(4, (batch,), generator=torch.Generator().manual_seed(batch))
        n = [0.7] * batch
        # A thousand interpreted rows would take minutes; a few of them at both ends will do.
        if batch == 1000:
            n = [0.7 if i < 3 or i > 994 or i in (499, 500) else float("nan") for i in range(batch)]
        logits = torch.stack([rows[i] for i in order.tolist()])
        found = mask(interpreter, logits, n, schedule=schedule)
        for index, kind in enumerate(order.tolist()):
            if n[index] == 0.7:
                assert torch.equal(found.bits[index], alone[kind].bits[0])
                for ours, theirs in zip(found.statistics, alone[kind].statistics, strict=True):
                    assert torch.equal(ours[index], theirs[0])


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_batches_beyond_the_workspace_are_launched_in_parts(
    interpreter: ProcessPoolExecutor, schedule: str
) -> None:
    logits = torch.stack([sample(200, seed) * (1 + seed) for seed in range(7)])
    n = [0.5, 1.0, 1.5, 0.1, 0.7, 2.0, 0.4]
    exclude = [False, True, False, True, False, True, False]
    expected = mask(interpreter, logits, n, exclude)
    for rows in (1, 3):
        found = mask(interpreter, logits, n, exclude, schedule=schedule, rows=rows)
        assert torch.equal(found.bits, expected.bits)


def test_tiles_are_a_function_of_the_vocabulary_alone(interpreter: ProcessPoolExecutor) -> None:
    for size in (128, 129, 4096, 4097):
        shapes = {
            mask(interpreter, sample(size).repeat(rows, 1), 1.0).statistics[0].shape[2]
            for rows in (1, 2, 3)
        }
        assert len(shapes) == 1


@pytest.mark.parametrize("family", ["normal", "far offset", "mixed scales", "subnormal", "huge"])
def test_both_schedules_and_every_order_of_arrival(
    interpreter: ProcessPoolExecutor, family: str
) -> None:
    size = 4096 * 3 + 5
    logits = torch.stack([FAMILIES[family](size), sample(size)])
    expected = mask(interpreter, logits, 1.0)
    programs = list(range(8))
    for seed in range(3):
        random.Random(seed).shuffle(programs)
        found = mask(interpreter, logits, 1.0, schedule="one-launch", order=programs)
        assert torch.equal(found.bits, expected.bits)
        two = mask(interpreter, logits, 1.0, order=programs)
        assert torch.equal(two.bits, expected.bits)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_what_a_step_before_left_in_the_workspace_does_not_matter(
    interpreter: ProcessPoolExecutor, schedule: str
) -> None:
    logits = torch.stack([sample(4100), sample(4100, 1) * 2])
    first = mask(interpreter, logits, [1.0, 2.0], schedule=schedule)
    other = torch.stack([sample(4100, 2) * 3, sample(4100, 3) + 5])
    second = mask(interpreter, logits, [1.0, 2.0], schedule=schedule, before=other)
    assert torch.equal(second.bits, first.bits)


def test_statistics_do_not_depend_on_the_order_of_a_tile(interpreter: ProcessPoolExecutor) -> None:
    """No sum has an order, so that the compiler's choice of one can't matter."""
    for name in ("normal", "far offset", "mixed scales", "spike", "huge"):
        row = FAMILIES[name](4096)
        shuffled = row[torch.randperm(4096, generator=torch.Generator().manual_seed(1))]
        first, second = (mask(interpreter, x[None], 1.0).statistics for x in (row, shuffled))
        for ours, theirs in zip(first, second, strict=True):
            assert torch.equal(ours, theirs), name
