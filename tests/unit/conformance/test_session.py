"""Sessions: how each outcome becomes a status, and how waivers turn out."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gallery import unruly, wrong
from gallery.right import TwoPassFloat32
from gallery.textbook import Textbook

from topnsigma_conformance import Dialect, KnownFailure, Session
from topnsigma_conformance.batch import Batch
from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.observation import Observation
from topnsigma_conformance.report import CheckResult, Waiver
from topnsigma_reference import RFC

ONE_TOKEN = CHECKS["TNS-4.one-token"]
WAIVER = {"TNS-4.one-token": KnownFailure("masks its only token", "#12", "2026-01-31")}
LAST_DAY = datetime.date(2026, 1, 31)


def run(implementation: Textbook, check: str, **options: Any) -> CheckResult:
    with Session(implementation, **options) as session:
        return session.run(CHECKS[check])


def with_claims(cls: type[Textbook], **claims: Any) -> Textbook:
    made: Textbook = type(cls.__name__, (cls,), claims)()
    return made


class RaisesAlways(Textbook):
    def truncate(self, row: Any, n: float) -> None:
        raise KeyError("thirteen")


class Dies(Textbook):
    isolated = True

    def truncate(self, row: Any, n: float) -> None:
        os.abort()


def test_pass() -> None:
    result = run(TwoPassFloat32(), "TNS-4.one-token")
    assert (result.check, result.rule, result.status) == ("TNS-4.one-token", "TNS-4", "pass")
    assert (result.failure, result.detail) == (None, "")
    assert result.examples > 0


def test_fail() -> None:
    result = run(wrong.OneTokenRowMasked(), "TNS-4.one-token")
    assert (result.status, result.rule) == ("fail", "TNS-4")
    assert result.failure is not None
    assert (result.failure.row, result.failure.token, result.failure.size) == (0, 0, 1)


def test_error() -> None:
    result = run(RaisesAlways(), "TNS-4.one-token")
    assert (result.status, result.rule) == ("error", "TNS-4")
    assert result.failure is not None
    assert result.failure.rule == ""
    assert "KeyError: 'thirteen' (truncate, line" in result.failure.message


def test_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in list(Path(__file__).parents)[:3]:
        monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    result = run(Dies(), "TNS-4.one-token", target="test_session:Dies")
    assert result.status == "crash"
    assert result.failure is not None
    assert "signal 6" in result.failure.message


def test_a_crash_does_not_end_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in list(Path(__file__).parents)[:3]:
        monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    with Session(Dies(), target="test_session:Dies") as session:
        assert session.run(ONE_TOKEN).status == "crash"
        assert session.run(CHECKS["TNS-1.reject"]).status == "pass"


@pytest.mark.parametrize(
    ("check", "claims", "reason"),
    [
        ("TNS-8.batch", {"batched": False}, "takes one row at a time"),
        ("TNS-8.mixed-n", {"per_row_n": False}, "takes one n a batch"),
        ("TNS-8.layout", {"strided": False}, "takes contiguous logits only"),
        ("TNS-9.extreme", {"extreme": False}, "does not claim the extreme domain"),
    ],
)
def test_unsupported(check: str, claims: dict[str, Any], reason: str) -> None:
    result = run(with_claims(TwoPassFloat32, **claims), check)
    assert (result.status, result.detail, result.examples) == ("unsupported", reason, 0)


def test_quality_warning() -> None:
    class Loose(TwoPassFloat32):
        def sigma(self, row: Any) -> float:
            return super().sigma(row) * (1 + 2e-5)

    result = run(Loose(), "TNS-9.core")
    assert result.status == "quality-warning"
    assert "tight band" in result.detail


def test_waived() -> None:
    implementation = with_claims(wrong.OneTokenRowMasked, known_failures=WAIVER)
    result = run(implementation, "TNS-4.one-token", today=LAST_DAY)
    assert result.status == "waived"
    assert result.detail == "masks its only token (#12), until 2026-01-31"
    assert result.failure is not None
    assert result.waiver == Waiver("masks its only token", "#12", "2026-01-31")


def test_a_waiver_that_has_expired_helps_no_more() -> None:
    implementation = with_claims(wrong.OneTokenRowMasked, known_failures=WAIVER)
    result = run(implementation, "TNS-4.one-token", today=LAST_DAY + datetime.timedelta(days=1))
    assert result.status == "fail"
    assert result.detail == "waiver expired on 2026-01-31: masks its only token (#12)"
    assert result.failure is not None
    assert result.waiver == Waiver("masks its only token", "#12", "2026-01-31")


def test_waivers_expire_by_the_date_of_today() -> None:
    for expires, status in (("1999-12-31", "fail"), ("9999-12-31", "waived")):
        waiver = KnownFailure("masks its only token", "#12", expires)
        cls = with_claims(wrong.OneTokenRowMasked, known_failures={"TNS-4.one-token": waiver})
        assert run(cls, "TNS-4.one-token").status == status


def test_an_unexpected_pass_of_a_waived_check_fails() -> None:
    implementation = with_claims(TwoPassFloat32, known_failures=WAIVER)
    for day in (LAST_DAY, LAST_DAY + datetime.timedelta(days=1)):
        result = run(implementation, "TNS-4.one-token", today=day)
        assert result.status == "fail"
        assert result.detail == "unexpected pass: masks its only token (#12)"
        assert result.waiver is not None


def test_a_failure_names_everything_needed() -> None:
    result = run(wrong.PopulationDivisor(), "TNS-4.divisor", target="gallery.wrong:Named")
    failure = result.failure
    assert failure is not None
    assert failure.cut is not None
    assert failure.accept is not None
    assert failure.tight is not None
    assert failure.accept[0] <= failure.tight[0] <= failure.cut <= failure.tight[1]
    assert failure.distance_ulp is not None
    text = str(failure)
    for part in (
        "TNS-4: expected kept: above the acceptance interval; got -inf",
        "dialect RFC, float32",
        f"row 0, token {failure.token} of {failure.size}, n = {failure.n}",
        f"logit {failure.logit!r} ({failure.logit_bits})",
        f"exact cut {failure.cut!r} (nearest float32 0x",
        f"interval [{failure.accept[0]!r}, {failure.accept[1]!r}] (0x",
        f"tight [{failure.tight[0]!r}, {failure.tight[1]!r}] (0x",
        f"distance {failure.distance_ulp} ulp (float32), above the interval",
        "matches sigma=population\n",
        "reproduce: topnsigma-conformance run gallery.wrong:Named --check TNS-4.divisor"
        " --dtype float32 --dialect RFC --case '{",
    ):
        assert part in text


def test_small_failures_are_small() -> None:
    failure = run(wrong.PopulationDivisor(), "TNS-4.divisor").failure
    assert failure is not None
    assert failure.size is not None
    assert failure.size <= 3


def test_replay_is_the_failure_again() -> None:
    check = CHECKS["TNS-4.divisor"]
    with Session(wrong.PopulationDivisor()) as session:
        first = session.run(check).failure
        assert first is not None
        again = session.replay(check, Case.from_json(first.case), first.dtype)
    assert again.failure == first
    assert again.examples == 1


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_short_failing_case_is_written_as_bits(dtype: str) -> None:
    implementation = with_claims(wrong.PopulationDivisor, dtypes=(dtype,))
    failure = run(implementation, "TNS-4.divisor", dialect=Dialect(boundary="drop")).failure
    assert failure is not None
    assert failure.token is not None
    case = Case.from_json(failure.case)
    for row in case.rows:
        assert row == Row(hex=row.hex, size=row.size)
    # Nothing is placed when it is built again: another dialect gives the same bits.
    bits = case.batch(dtype, RFC).bits
    digits = 10 if dtype == "float32" else 6
    assert f"0x{int(bits[0, failure.token]):0{digits - 2}x}" == failure.logit_bits
    assert len(failure.logit_bits or "") == digits


def replayed(cls: type[Textbook], case: Case, check: str = "TNS-5.cut") -> CheckResult:
    with Session(cls(), target="somewhere:Someone") as session:
        return session.replay(CHECKS[check], case, "float32")


@pytest.mark.parametrize(("size", "exact"), [(64, True), (65, False)])
def test_rows_of_64_tokens_are_written_as_bits(size: int, exact: bool) -> None:
    rows = (Row(values=(1.0, *[0.0] * (size - 1))), Row(values=(2.0, *[0.0] * (size - 1))))
    failure = replayed(RaisesAlways, Case(rows=rows, n=(1.0, 1.0))).failure
    assert failure is not None
    assert [bool(row.hex) for row in Case.from_json(failure.case).rows] == [exact] * 2


def test_a_long_failing_case_keeps_its_family() -> None:
    case = Case(rows=(Row(family="flat", size=97, seed=3),), n=(1.0,))
    failure = replayed(RaisesAlways, case).failure
    assert failure is not None
    assert Case.from_json(failure.case) == case


class WrongOnce(Textbook):
    """Masks everything in its first call, and is right from then on."""

    calls = 0

    def truncate(self, row: Any, n: float) -> None:
        type(self).calls += 1
        if self.calls == 1:
            row[:] = -np.inf
        else:
            super().truncate(row, n)


def test_a_case_that_does_not_fail_again_is_kept_as_it_was() -> None:
    case = Case(rows=(Row(values=(0.0, 1.0)),), n=(1.0,))
    failure = replayed(WrongOnce, case, "TNS-7.maximum").failure
    assert WrongOnce.calls == 2
    assert failure is not None
    assert Case.from_json(failure.case) == case


def test_a_crash_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in list(Path(__file__).parents)[:3]:
        monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    case = Case(rows=(Row(values=(0.0, 1.0)),), n=(1.0,))
    calls: list[Batch] = []
    with Session(Dies(), target="test_session:Dies") as session:
        observe = session.driver.observe

        def counted(batch: Batch) -> Observation:
            calls.append(batch)
            return observe(batch)

        monkeypatch.setattr(session.driver, "observe", counted)
        failure = session.replay(CHECKS["TNS-5.cut"], case, "float32").failure
    assert failure is not None
    assert Case.from_json(failure.case) == case
    assert len(calls) == 1
    assert "--isolate --case" in failure.reproduce


def test_the_line_names_the_device() -> None:
    cls = type("TwoDevices", (wrong.OneTokenRowMasked,), {"devices": ("cpu", "other")})
    for device, named in ((None, False), ("other", True)):
        failure = run(cls(device), "TNS-4.one-token").failure
        assert failure is not None
        assert ("--device other --case" in failure.reproduce) == named
        assert ("--device" in failure.reproduce) == named
        assert "--isolate" not in failure.reproduce


def test_matches_are_of_this_one_result() -> None:
    for cls, check, matches in (
        (wrong.PopulationDivisor, "TNS-4.divisor", ("sigma=population",)),
        (wrong.BillionFill, "TNS-5.fill", ()),
        (wrong.LowestFloatFill, "TNS-5.fill", ("fill=lowest",)),
        (wrong.OneTokenRowMasked, "TNS-4.one-token", ()),
    ):
        failure = run(cls(), check).failure
        assert failure is not None
        assert failure.matches == matches


def test_replay_refuses_what_the_check_or_the_implementation_does_not_take() -> None:
    huge = Case(rows=(Row(values=(1e30, 0.0)),), n=(1.0,))
    with Session(TwoPassFloat32()) as session:
        with pytest.raises(ValueError, match=r"TNS-9\.core does not apply to this case"):
            session.replay(CHECKS["TNS-9.core"], huge, "float32")
        with pytest.raises(ValueError, match="dtype must be one of float32; got 'float16'"):
            session.replay(CHECKS["TNS-9.core"], huge, "float16")


def test_the_same_seed_gives_the_same_result_and_another_one_another() -> None:
    cases = []
    for seed in (None, 0, 5, 5):
        with Session(wrong.PopulationDivisor(), seed=seed) as session:
            # What shrinking leaves is much the same for every seed.
            failure = session.run(CHECKS["TNS-4.divisor"], shrink=False).failure
        assert failure is not None
        cases.append(failure.case)
    assert cases[0] == cases[1] != cases[2] == cases[3]


def test_header() -> None:
    with Session(
        unruly.Unruly(), profile="full", seed=3, target="gallery.unruly:Unruly"
    ) as session:
        header = session.header()
    assert (header.implementation, header.version, header.target) == (
        "Unruly",
        "gallery",
        "gallery.unruly:Unruly",
    )
    assert (header.profile, header.seed, header.expected) == ("full", 3, len(CHECKS))
    assert (header.dialect, header.device) == ("RFC", "cpu")


def test_unknown_profile() -> None:
    with pytest.raises(ValueError, match="profile must be one of quick, full, soak; got 'odd'"):
        Session(TwoPassFloat32(), profile="odd")
