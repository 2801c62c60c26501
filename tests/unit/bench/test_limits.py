"""The files that hold the limits: whole, and refused where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.cases import DEFAULT, FULL
from bench.limits import GATES, RECORDED, Limit, load

HEADROOM = 1.5
"""How many times all that was measured a limit for any CPU has to be: neighbours use its caches."""


def test_every_case_has_a_limit_and_a_reason() -> None:
    limits = load().limits
    for device in ("cpu", "cuda"):
        limited = [limit.case for limit in limits if limit.device == device]
        assert set(limited) == set(FULL)
        beside_a_copy = [x.case for x in limits if x.device == device and x.against == "copy"]
        assert sorted(map(str, beside_a_copy)) == sorted(map(str, FULL))
    assert all(limit.reason for limit in limits)


def test_every_case_of_the_default_grid_was_recorded() -> None:
    limits = [limit for limit in load().limits if limit.device == "cpu" and limit.case in DEFAULT]
    assert limits
    missing = [f"{limit.case} beside {limit.against}" for limit in limits if not limit.measured]
    assert not missing


def test_no_limit_is_so_near_that_noise_would_pass_it() -> None:
    narrow = [
        f"{limit.case} beside {limit.against}: {limit.at_most}, and {most} was measured"
        for limit in load().limits
        if limit.device == "cpu"
        for most in limit.measured.values()
        if limit.at_most < HEADROOM * most
    ]
    assert not narrow


@pytest.mark.parametrize(
    ("device", "against", "machine", "at_most"),
    [
        ("cpu", "passes", "known", 2.5),
        ("cpu", "passes", "another", 6.0),
        ("cpu", "copy", "known", 6.0),
        ("cuda", "copy", "known", 2.5),
        ("cuda", "seconds", "known", 2.5),
    ],
)
def test_on_a_cpu_what_was_measured_limits_only_what_no_neighbour_moves(
    device: str, against: str, machine: str, at_most: float
) -> None:
    limit = Limit(device, DEFAULT[0], against, 6.0, {"known": 2.0}, "why")
    assert limit.on(machine, margin=1.25) == at_most


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("enabled-float32-B1-V32000", "enabled-float32-B2-V32000", "there is no case"),
        ("enabled-float32-B1-V32000", "enabled-float32-B8-V32000", "more than one row"),
        ("textbook = ", "texbook = ", "got 'texbook'"),
        ("textbook = ", "top_n_sigma_ = ", "got 'top_n_sigma_'"),
    ],
)
def test_a_file_with_a_mistake_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = GATES.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "gates.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load(path, RECORDED)
