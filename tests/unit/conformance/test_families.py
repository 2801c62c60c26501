"""Families: where they lie, that they can be repeated, and what the core domain is."""

from __future__ import annotations

import numpy as np
import pytest

from topnsigma_conformance.families import (
    CORE_FAMILIES,
    EXTREME_FAMILIES,
    family_row,
    in_core_domain,
)

SIZES = (1, 2, 3, 8, 97, 1024, 50_257, 262_144)
ALL = (*CORE_FAMILIES, *EXTREME_FAMILIES)


@pytest.mark.parametrize("family", CORE_FAMILIES)
@pytest.mark.parametrize("size", [97, 1024, 4099, 50_257, 262_144])
def test_core_families_lie_in_the_core_domain(family: str, size: int) -> None:
    for seed in range(4):
        assert in_core_domain(family_row(family, size, seed))


@pytest.mark.parametrize("family", EXTREME_FAMILIES)
def test_extreme_families_have_rows_outside_of_it(family: str) -> None:
    assert not all(in_core_domain(family_row(family, 1024, seed)) for seed in range(4))


@pytest.mark.parametrize("family", ALL)
@pytest.mark.parametrize("size", SIZES)
def test_rows_are_finite_float32_and_read_only(family: str, size: int) -> None:
    row = family_row(family, size, 5)
    assert row.shape == (size,)
    assert row.dtype == np.float32
    assert np.isfinite(row).all()
    with pytest.raises(ValueError, match="read-only"):
        row[0] = 1.0


@pytest.mark.parametrize("family", ALL)
def test_rows_can_be_repeated_and_depend_on_the_seed(family: str) -> None:
    first = family_row(family, 1024, 1).copy()
    family_row.cache_clear()
    np.testing.assert_array_equal(family_row(family, 1024, 1), first)
    others = [family_row(family, 1024, seed) for seed in range(2, 10)]
    assert any(not np.array_equal(first, other) for other in others)


def test_a_row_is_the_same_on_every_machine() -> None:
    # Cases in reports name a family and a seed: these values must never change.
    row = family_row("model-like", 8, 0)
    assert row.view(np.uint32)[:3].tolist() == [3218588718, 3222610692, 3201057358]


def test_unknown_family() -> None:
    with pytest.raises(ValueError, match=r"family must be one of .*model-like.*; got 'odd'"):
        family_row("odd", 4, 0)


@pytest.mark.parametrize(
    ("row", "core"),
    [
        ([0.0, 1.0], True),
        ([1e4, -1e4], True),
        ([10001.0, 0.0], False),
        ([5.0, 5.0], True),
        ([5.0], True),
        ([], True),
        ([900.0, 902.0], True),
        ([1100.0, 1102.0], False),
        ([0.0, 1e-5], True),
        ([0.0, 1e-7], False),
    ],
)
def test_core_domain(row: list[float], core: bool) -> None:
    assert in_core_domain(np.array(row, np.float32)) is core


def test_core_domain_ends_at_262144_tokens() -> None:
    assert in_core_domain(np.zeros(262_144, np.float32))
    assert not in_core_domain(np.zeros(262_145, np.float32))
