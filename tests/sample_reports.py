"""Reports of real runs on samplers of the gallery, one for everything that a report can say."""

from __future__ import annotations

import dataclasses
import datetime
import functools
from typing import Any

from gallery import wrong
from gallery.right import TwoPassFloat32
from gallery.textbook import Textbook

from topnsigma_conformance import KnownFailure, Report, check_implementation
from topnsigma_conformance.batch import Batch
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.implementation_check import Interrupted
from topnsigma_conformance.line_process import ImplementationCrashed
from topnsigma_conformance.observation import Observation
from topnsigma_conformance.session import Session

TODAY = datetime.date(2026, 6, 1)
ADDRESS = "https://issues.invalid/12"


class Waived(wrong.BillionFill):
    known_failures = {"TNS-5.fill": KnownFailure("masks with -1e9", ADDRESS, "2026-06-01")}  # noqa: RUF012


class Expired(wrong.BillionFill):
    known_failures = {"TNS-5.fill": KnownFailure("masks with -1e9", "#12", "2026-05-31")}  # noqa: RUF012


class Mended(TwoPassFloat32):
    known_failures = {"TNS-5.fill": KnownFailure("masks with -1e9", "#12", "2027-01-01")}  # noqa: RUF012


class Loose(TwoPassFloat32):
    def sigma(self, row: Any) -> float:
        return super().sigma(row) * (1 + 2e-5)


class Stopped(Textbook):
    """Ctrl-C at the first row of more than one token."""

    def truncate(self, row: Any, n: float) -> None:
        if row.size > 1:
            raise KeyboardInterrupt
        super().truncate(row, n)


class StoppedAfterAFailure(Stopped):
    """It has failed by then."""

    def truncate(self, row: Any, n: float) -> None:
        if row.size == 1:
            row[0] = 1.0
        super().truncate(row, n)


class Hostile(Textbook):
    """Everything that it says of itself would like to be something else."""

    version = (
        '</script><script>document.title = "pwned"</script> | `x` \x00\x1b[31m]]> & ' + "W" * 60
    )

    def truncate(self, row: Any, n: float) -> None:
        raise RuntimeError("```\x00\ud800 <img src=x onerror=alert(1)> ]]> | \u2028 & \x0b")


@functools.cache
def passing() -> Report:
    return _whole(check_implementation(TwoPassFloat32(), checks=["TNS-4.divisor", "TNS-9.extreme"]))


@functools.cache
def failing() -> Report:
    checks = ["TNS-1.reject", "TNS-4.divisor", "TNS-5.boundary", "TNS-9.core"]
    return _whole(check_implementation(wrong.PopulationDivisor(), checks=checks))


@functools.cache
def long_row() -> Report:
    return _whole(check_implementation(wrong.OnePassVariance(), checks=["TNS-9.core"]))


@functools.cache
def not_a_number() -> Report:
    return _whole(check_implementation(wrong.NaNPayloadCanonicalised(), checks=["TNS-3.nan"]))


@functools.cache
def loose() -> Report:
    return _whole(check_implementation(Loose(), checks=["TNS-9.core"]))


@functools.cache
def hostile() -> Report:
    return _whole(check_implementation(Hostile(), checks=["TNS-4.divisor"]))


@functools.cache
def crashing() -> Report:
    with Session(TwoPassFloat32(), target="somebodys:Sampler") as session:

        def dies(batch: Batch) -> Observation:
            raise ImplementationCrashed("its process died with signal 6")

        session.driver.observe = dies  # type: ignore[method-assign]
        results = [session.run(CHECKS["TNS-4.divisor"])]
        return _whole(Report(session.header(), tuple(results)))


@functools.cache
def waived() -> Report:
    return _whole(check_implementation(Waived(), checks=["TNS-5.fill"], today=TODAY))


@functools.cache
def expired() -> Report:
    return _whole(check_implementation(Expired(), checks=["TNS-5.fill"], today=TODAY))


@functools.cache
def mended() -> Report:
    return _whole(check_implementation(Mended(), checks=["TNS-5.fill"], today=TODAY))


@functools.cache
def interrupted() -> Report:
    try:
        check_implementation(Stopped(), checks=["TNS-4.one-token", "TNS-4.divisor", "TNS-5.cut"])
    except Interrupted as stop:
        return stop.report
    raise AssertionError("it was not interrupted")


@functools.cache
def partial() -> Report:
    return check_implementation(TwoPassFloat32(), checks=["TNS-4.divisor"])


ALL = (
    passing,
    failing,
    long_row,
    not_a_number,
    loose,
    hostile,
    crashing,
    waived,
    expired,
    mended,
    interrupted,
    partial,
)


def _whole(report: Report) -> Report:
    """As if these were all checks there are, so that nothing but their results counts."""
    header = dataclasses.replace(report.header, expected=len(report.results))
    return dataclasses.replace(report, header=header)
