"""What `--record` writes is what the gate reads, and the slowest of several runs stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import recording
from bench.cases import Case
from bench.limits import GATES, RECORDED, load

CASE = Case(8, 32_000)
MACHINE = 'Some "CPU" (family 1)'


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the file, which is written instead of it."""
    path = tmp_path / "recorded.toml"
    path.write_bytes(RECORDED.read_bytes())
    monkeypatch.setattr(recording, "RECORDED", path)
    return path


def record(ours: float, device: str = "cpu") -> None:
    others = {"copy": 1.0, "passes": 4.0, "textbook": 16.0, "min_p": 8.0}
    seconds = {name: [value] * 24 for name, value in (others | {"top_n_sigma_": ours}).items()}
    described = {"device": device, "device_name": MACHINE, "torch": "2.13.0"}
    recording.record_times(load(), {CASE: seconds}, described)


def measured(path: Path, device: str = "cpu") -> dict[str, float]:
    limits = [x for x in load(GATES, path).limits if x.device == device]
    return {x.against: x.measured[MACHINE] for x in limits if MACHINE in x.measured}


def test_every_ratio_with_a_limit_is_recorded(recorded: Path) -> None:
    record(10.0)
    assert measured(recorded) == {"copy": 10.0, "passes": 2.5, "textbook": 0.625}
    assert measured(recorded, "cuda") == {}


def test_of_a_gpu(recorded: Path) -> None:
    record(10.0, "cuda")
    assert measured(recorded, "cuda") == {"copy": 10.0, "textbook": 0.625}
    assert measured(recorded) == {}


@pytest.mark.parametrize("order", [(8.0, 10.0), (10.0, 8.0)])
def test_the_slowest_of_several_runs_stays(recorded: Path, order: tuple[float, float]) -> None:
    for ours in order:
        record(ours)
    assert measured(recorded) == {"copy": 10.0, "passes": 2.5, "textbook": 0.625}


def test_what_was_recorded_of_others_stays(recorded: Path) -> None:
    before = load(GATES, recorded)
    record(10.0)
    recording.record_counters(before.counters, before.triton)
    after = load(GATES, recorded)
    assert after.counters == before.counters
    for earlier, later in zip(before.limits, after.limits, strict=True):
        known = {name: value for name, value in later.measured.items() if name != MACHINE}
        assert known == earlier.measured


def test_counters_are_replaced(recorded: Path) -> None:
    recording.record_counters({"gpu/launches": 3}, "9.9.9")
    assert load(GATES, recorded).counters == {"gpu/launches": 3}
    assert load(GATES, recorded).triton == "9.9.9"


def test_the_file_is_as_it_is_written(recorded: Path) -> None:
    before = load(GATES, recorded)
    recording.record_counters(before.counters, before.triton)
    assert recorded.read_bytes() == RECORDED.read_bytes()
