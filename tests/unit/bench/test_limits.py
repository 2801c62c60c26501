"""The files that hold the limits: whole, and refused where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.cases import DEFAULT, FULL
from bench.limits import GATES, RECORDED, load


def test_every_case_has_a_limit_and_a_reason() -> None:
    limits = load().limits
    for device in ("cpu", "cuda"):
        limited = [limit.case for limit in limits if limit.device == device]
        assert set(limited) == set(FULL)
        beside_a_copy = [x.case for x in limits if x.device == device and x.against == "copy"]
        assert sorted(map(str, beside_a_copy)) == sorted(map(str, FULL))
    assert all(limit.reason for limit in limits)


def test_every_case_of_the_default_grid_was_recorded() -> None:
    recorded = [limit for limit in load().limits if limit.measured]
    assert {limit.against for limit in recorded if limit.device == "cpu"} == {"passes"}
    cases = {limit.case for limit in recorded if limit.device == "cpu"}
    assert cases == {case for case in DEFAULT if case.rows != "disabled"}


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
