"""Every load and store of every kernel is in bounds: for all shapes and strides, without a GPU.

Compute Sanitizer asks the same of compiled kernels where there is a GPU: tests/bench/gpu_check.sh.
"""

import dataclasses
import random
from concurrent.futures import ProcessPoolExecutor

import pytest
import torch
from unit.kernel import guarded_memory, memory_accesses
from unit.kernel.guarded_memory import Case
from unit.kernel.interpreted import Schedule
from unit.kernel.memory_accesses import KERNELS, STATISTICS, Access

SCHEDULES: tuple[Schedule, ...] = ("two-launch", "one-launch")

CASES = {
    "no row": Case(0, 10),
    "one logit": Case(5, 1),
    "one logit, token stride 0": Case(3, 1, (7, 0)),
    "two logits": Case(5, 2),
    "the smallest tile - 1": Case(4, 127),
    "the smallest tile": Case(4, 128),
    "the smallest tile + 1": Case(4, 129),
    "the largest single tile - 1": Case(3, 4095),
    "the largest single tile": Case(3, 4096),
    "two tiles, one logit in the second": Case(3, 4097),
    "two tiles - 1": Case(2, 8191),
    "three tiles of four": Case(3, 8193),
    "tiles of 8192, 33 of 64": Case(1, 2**18 + 1),
    "one row, row stride 0": Case(1, 300, (0, 1)),
    "one row, row stride smaller than V": Case(1, 300, (3, 1)),
    "rows apart": Case(4, 300, (305, 1)),
    "rows apart and aligned": Case(4, 300, (320, 1), offset=61),
    "a view from the middle": Case(4, 300, (320, 1), offset=7),
    "every third token": Case(4, 300, (901, 3), offset=2),
    "transposed": Case(4, 300, (1, 4)),
    "transposed and apart": Case(4, 300, (1, 9), offset=3),
    "rows upon one another": Case(4, 300, (0, 1)),
    "tokens upon one another": Case(4, 300, (1, 0)),
    "one n for all rows": Case(6, 130, n_stride=0, exclude_stride=0),
    "every third n": Case(6, 130, n_stride=3, exclude_stride=2),
    "more rows than a launch handles": Case(7, 130, workspace_rows=3),
    "float16": Case(3, 4097, dtype=torch.float16),
    "bfloat16": Case(3, 4097, (4099, 1), dtype=torch.bfloat16),
}

LAST = 2**31 - 2
"""The last program that a launch can have."""

BEYOND_32_BITS = {
    "row stride * row": Case(4, 130, (2**30, 1)),
    "a row stride of more than 2**31": Case(3, 130, (2**31 + 3, 1), dtype=torch.bfloat16),
    "token stride * token": Case(2, 130, (1, 2**25)),
    "n": Case(2**29, 2, (0, 1), n_stride=5, chosen=[0, 2**29 - 1]),
    "policy": Case(2**29, 2, (0, 1), n_stride=0, exclude_stride=5, chosen=[0, 2**29 - 1]),
    "logits and statistics of the last row": Case(2**31 - 1, 2, n_stride=0, chosen=[0, LAST]),
    "statistics of the last tile": Case(
        2**30 - 1, 4097, (0, 1), n_stride=0, chosen=[0, 1, LAST - 2, LAST - 1]
    ),
}


def outcome(
    interpreter: ProcessPoolExecutor, case: Case, schedule: Schedule
) -> guarded_memory.Outcome:
    case = dataclasses.replace(case, schedule=schedule)
    return interpreter.submit(guarded_memory.run, case).result()


def assert_in_bounds(found: guarded_memory.Outcome) -> None:
    assert found.accesses.faults == []
    assert found.overwritten == []


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", CASES)
def test_every_access_is_in_bounds(
    interpreter: ProcessPoolExecutor, name: str, schedule: Schedule
) -> None:
    case = CASES[name]
    found = outcome(interpreter, case, schedule)
    assert_in_bounds(found)
    assert bool(found.accesses.elements) == (case.rows > 0)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", BEYOND_32_BITS)
def test_no_offset_is_computed_in_32_bits(
    interpreter: ProcessPoolExecutor, name: str, schedule: Schedule
) -> None:
    """The buffers are addresses of which only what is touched becomes memory."""
    case = BEYOND_32_BITS[name]
    found = outcome(interpreter, case, schedule)
    assert_in_bounds(found)
    if case.chosen is None:
        compact = dataclasses.replace(case, strides=None)
        assert torch.equal(found.bits, outcome(interpreter, compact, schedule).bits)


def test_every_stride_is_passed_in_64_bits(interpreter: ProcessPoolExecutor) -> None:
    """The interpreter passes small numbers in 32 bits, compiled kernels go by annotations."""
    found = interpreter.submit(memory_accesses.kernels).result()
    for annotations in found.values():
        strides = {name for name in annotations if name.endswith("_stride")}
        assert {"row_stride", "token_stride", "n_stride"} <= strides
        assert {annotations[name] for name in strides} == {"int64"}


def test_random_layouts(interpreter: ProcessPoolExecutor) -> None:
    rng = random.Random(2411)
    for _ in range(15):
        rows, size = rng.randint(1, 3), rng.choice([1, 2, 3, 5, 127, 128, 129, 200])
        gap = rng.choice([0, 0, 1, 3, 64])
        step = rng.choice([1, 1, 1, 2, 5])
        by_rows, by_tokens = (size * step + gap, step), (step, rows * step + gap)
        case = Case(
            rows,
            size,
            rng.choice([by_rows, by_tokens]),
            offset=rng.randrange(9),
            n_stride=rng.randrange(3),
            exclude_stride=rng.randrange(3),
            workspace_rows=rng.choice([None, 1, 2, 9]),
            dtype=rng.choice([torch.float32, torch.float16, torch.bfloat16]),
        )
        found = outcome(interpreter, case, rng.choice(SCHEDULES))
        assert (found.accesses.faults, found.overwritten) == ([], []), case


@pytest.mark.parametrize("seed", range(3))
def test_in_one_launch_only_who_comes_last_masks(
    interpreter: ProcessPoolExecutor, seed: int
) -> None:
    order = list(range(3 * 3))
    random.Random(seed).shuffle(order)
    assert_in_bounds(outcome(interpreter, Case(3, 8193, chosen=order), "one-launch"))


def test_nothing_that_a_kernel_does_goes_unseen(interpreter: ProcessPoolExecutor) -> None:
    assert set(interpreter.submit(memory_accesses.kernels).result()) == set(KERNELS)
    seen: set[Access] = set()
    for schedule in SCHEDULES:
        seen |= outcome(interpreter, Case(3, 8193), schedule).accesses.elements.keys()
    expected = {Access(kernel, "load", "n") for kernel in KERNELS}
    for kernel in ("measure_tiles", "measure_and_mask"):
        expected |= {Access(kernel, "load", name) for name in ("exclude", "logits")}
        expected |= {Access(kernel, "store", name) for name in STATISTICS}
    for kernel in ("mask_tiles", "measure_and_mask"):
        expected |= {Access(kernel, "load", name) for name in (*STATISTICS, "logits")}
        expected.add(Access(kernel, "store", "logits"))
    expected |= {Access("measure_and_mask", kind, "arrivals") for kind in ("atomic", "store")}
    assert seen == expected


# What catches each: as a rule several tiles, the last of them part of one, and a disabled row.
TILES = Case(4, 4226)
CAUGHT_BY = {
    "a load without its mask": TILES,
    "a load of V + 1": TILES,
    "a store without its mask": TILES,
    "a store of V + 1": TILES,
    "rows in 32 bits": BEYOND_32_BITS["row stride * row"],
    "tokens in 32 bits": BEYOND_32_BITS["token stride * token"],
    "tokens side by side": CASES["every third token"],
    "the next row": TILES,
    "disabled rows": TILES,
    "the next row's range": TILES,
    "statistics in 32 bits": BEYOND_32_BITS["logits and statistics of the last row"],
    "statistics of the next tile": TILES,
    "a threshold without masks": CASES["three tiles of four"],
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("broken", CAUGHT_BY)
def test_an_access_out_of_bounds_is_caught(
    interpreter: ProcessPoolExecutor, broken: str, schedule: Schedule
) -> None:
    case = dataclasses.replace(CAUGHT_BY[broken], broken=broken)
    assert outcome(interpreter, case, schedule).accesses.faults


def test_what_is_written_past_the_watch_is_found_in_the_guards(
    interpreter: ProcessPoolExecutor,
) -> None:
    case = dataclasses.replace(TILES, broken="a byte that nobody sees")
    found = outcome(interpreter, case, "two-launch")
    assert found.accesses.faults == []
    assert found.overwritten == ["logits"]
