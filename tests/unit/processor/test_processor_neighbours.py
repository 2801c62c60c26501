"""A row's threshold and bits are those it has alone, whatever was computed before it (TNS-8)."""

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence

import pytest
import torch
from unit.processor.bit_patterns import bits
from unit.processor.layouts import LAYOUTS

from topnsigma_processor import torch_path
from topnsigma_processor.threshold import threshold
from topnsigma_processor.torch_path import mask_rows_

DTYPES = [torch.bfloat16, torch.float32, torch.float64]

# Whole blocks and not, on both sides of where float64 ends, and enough for several threads.
SIZES = [5, 127, 128, 129, 16_384, 16_385, 16_512, 40_000]

_LONGEST_IN_PAIRS = 16_512


def _kinds(size: int, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """One row of every kind that is treated in its own way, no two of the same numbers."""
    limits = torch.finfo(dtype)
    generator = torch.Generator().manual_seed(size)

    def normal() -> torch.Tensor:
        return torch.randn(size, generator=generator, dtype=torch.float64)

    def holding(value: float, where: slice) -> torch.Tensor:
        row = normal()
        row[where] = value
        return row

    made = {
        "centred": normal() * 3,
        "mean 4 sigma": normal() * 2.5 + 10,
        "mean -100 sigma": normal() - 100,
        "mean 300 sigma": normal() * 4 + 1200,
        "one outlier": holding(1e4, slice(size // 2, size // 2 + 1)),
        "overflows": normal().clamp(-3, 3) * (limits.max / 4),
        "underflows": normal() * limits.smallest_normal,
        "negative zeros": holding(-0.0, slice(None, None, 2)),
        "all equal": normal()[:1].expand(size),
        "nan": holding(math.nan, slice(size - 1, None)),
        "+inf": holding(math.inf, slice(0, 1)),
        "one banned": holding(-math.inf, slice(size - 1, None)),
        "banned": holding(-math.inf, slice(None, None, 3)) + 10,
        "banned and overflows": holding(-math.inf, slice(None, None, 3)) * (limits.max / 16),
        "one left": holding(-math.inf, slice(1, None)),
        "none left": holding(-math.inf, slice(None)),
        "disabled": normal(),
    }
    return {name: row.to(dtype) for name, row in made.items()}


def _each_twice(count: int) -> list[int]:
    """A walk over `range(count)` and back."""
    return [*range(count), *reversed(range(count))]


def _every_pair(count: int) -> list[int]:
    """A walk over `range(count)` in which each of them follows each, itself included."""
    walk: list[int] = []
    for first in range(count):
        walk.append(first)
        for second in range(first + 1, count):
            walk += [first, second]
    return [*walk, 0]


@dataclasses.dataclass(frozen=True)
class _Masked:
    """What came of rows: their integers, and the thresholds of those that have one, in order."""

    bits: torch.Tensor
    thresholds: list[float]


@pytest.fixture
def masked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., _Masked]]:
    """Runs `mask_rows_` and says what came of it; restores the number of threads in the end."""
    thresholds: list[float] = []

    def recorded(maximum: float, n: float, sigma: float, exponent: int) -> float:
        thresholds.append(threshold(maximum, n, sigma, exponent))
        return thresholds[-1]

    def run(
        logits: torch.Tensor, n: Sequence[float | None], exclude: bool, threads: int = 1
    ) -> _Masked:
        thresholds.clear()
        torch.set_num_threads(threads)
        mask_rows_(logits, n, exclude)
        return _Masked(bits(logits), list(thresholds))

    monkeypatch.setattr(torch_path, "threshold", recorded)
    before = torch.get_num_threads()
    yield run
    torch.set_num_threads(before)


@pytest.mark.parametrize("exclude", [False, True], ids=["noop", "exclude"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", SIZES)
def test_neighbours_do_not_matter(
    masked: Callable[..., _Masked], size: int, dtype: torch.dtype, exclude: bool
) -> None:
    kinds = _kinds(size, dtype)
    n = [None if name == "disabled" else 0.3 + 0.1 * i for i, name in enumerate(kinds)]
    alone = [
        masked(row.clone().unsqueeze(0), [value], exclude)
        for row, value in zip(kinds.values(), n, strict=True)
    ]
    _check_that_kinds_differ(dict(zip(kinds, alone, strict=True)), exclude)

    # The longest rows run the code of those before them, and every pair takes many times as long.
    walk = (_every_pair if size <= _LONGEST_IN_PAIRS else _each_twice)(len(kinds))
    logits = torch.stack(list(kinds.values()))[walk]
    values = [n[kind] for kind in walk]
    expected_bits = torch.cat([alone[kind].bits for kind in walk])
    expected_thresholds = [t for kind in walk for t in alone[kind].thresholds]

    # What threads share is one row in one piece: a layout differs for them by where that begins.
    shared = [(2, "contiguous"), (2, "misaligned by 7")]
    for threads, layout in [*((1, layout) for layout in LAYOUTS), *shared]:
        together = masked(LAYOUTS[layout](logits), values, exclude, threads)
        assert together.thresholds == expected_thresholds, (threads, layout)
        assert torch.equal(together.bits, expected_bits), (threads, layout)
    for rows in (2, 7):
        for first in range(0, len(walk), rows):
            part = slice(first, first + rows)
            some = masked(logits[part].clone(), values[part], exclude)
            thresholds = [t for kind in walk[part] for t in alone[kind].thresholds]
            assert some.thresholds == thresholds, (rows, first)
            assert torch.equal(some.bits, expected_bits[part]), (rows, first)


def _check_that_kinds_differ(alone: dict[str, _Masked], exclude: bool) -> None:
    """Otherwise a threshold that comes from another row would not be seen."""
    thresholds = {name: each.thresholds for name, each in alone.items()}
    left = ["all equal", "nan", "+inf", "one left", "none left", "disabled"]
    banned = ["one banned", "banned", "banned and overflows"]
    left += [] if exclude else banned
    assert [name for name, found in thresholds.items() if not found] == [
        name for name in alone if name in left
    ]
    found = [each for values in thresholds.values() for each in values]
    assert len(set(found)) == len(found) == len(alone) - len(left)
