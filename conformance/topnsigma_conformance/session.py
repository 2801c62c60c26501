"""Running the suite on one implementation."""

from __future__ import annotations

import datetime
import platform
import shlex
import time
import zlib
from collections.abc import Iterator

import hypothesis

from topnsigma_conformance.case import Case
from topnsigma_conformance.check import (
    Check,
    Context,
    ImplementationRaised,
    Scale,
    Violation,
)
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.counterexample import located
from topnsigma_conformance.driver import Driver, Isolated, driver_for
from topnsigma_conformance.explanation import matching_fields
from topnsigma_conformance.implementation import Claims, Implementation
from topnsigma_conformance.line_process import DEFAULT_TIMEOUT, ImplementationCrashed
from topnsigma_conformance.profiles import Profile, profile_named
from topnsigma_conformance.report import CheckResult, Failure, Header, Status, Waiver
from topnsigma_conformance.search import Found, search
from topnsigma_conformance.shown_row import MAX_TOKENS
from topnsigma_conformance.target import target_of
from topnsigma_conformance.version import SUITE_VERSION
from topnsigma_reference import SPEC_VERSION, Dialect

_SCALES: tuple[Scale, ...] = ("small", "large")

_LONGEST_MESSAGE = 4000
"""Characters of what an implementation says that a report carries."""


class Session:
    """One implementation under one dialect, check by check.

    A context manager: leaving it stops the implementation's process, where it has one.

    Args:
        implementation: under test.
        dialect: to check under; the implementation's own by default.
        profile: ``quick``, ``full`` or ``soak``.
        seed: of all draws; the default, None, is the derandomised run (seed 0).
        target: how the command line names the implementation; found out by default.
        isolate: run it in a process of its own even if it does not ask for that.
        timeout: seconds that one call in a process of its own may take.
        today: by which waivers expire; the date in UTC by default.

    Raises:
        TypeError, ValueError: a claim of the implementation, or an argument, is not valid.
    """

    def __init__(
        self,
        implementation: Implementation,
        *,
        dialect: Dialect | None = None,
        profile: str = "quick",
        seed: int | None = None,
        target: str = "",
        isolate: bool = False,
        timeout: float = DEFAULT_TIMEOUT,
        today: datetime.date | None = None,
    ) -> None:
        self.claims = Claims.of(implementation)
        unknown = set(self.claims.known_failures) - set(CHECKS)
        if unknown:
            raise ValueError(f"known_failures names unknown checks: {', '.join(sorted(unknown))}")
        self.dialect = dialect or self.claims.dialect
        self.profile: Profile = profile_named(profile)
        self.seed = seed or 0
        self.today = today or datetime.datetime.now(datetime.UTC).date()
        self.target = target or target_of(implementation)
        self.evidence: list[Violation] = []
        self.driver: Driver = driver_for(
            implementation, self.target, isolate=isolate, timeout=timeout
        )

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.driver.close()

    def header(self) -> Header:
        """The header of a report on this session."""
        return Header(
            suite_version=SUITE_VERSION,
            spec_version=SPEC_VERSION,
            implementation=self.claims.name,
            version=self.claims.version,
            target=self.target,
            dialect=str(self.dialect),
            device=self.claims.device,
            profile=self.profile.name,
            seed=self.seed,
            expected=len(CHECKS),
            started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            python=platform.python_version(),
            platform=platform.platform(),
        )

    def run(self, check: Check, *, shrink: bool = True) -> CheckResult:
        """Run one check.

        Args:
            check: to run.
            shrink: make a failing case small.
        """
        reason = check.unsupported(self.claims, self.dialect)
        if reason:
            return CheckResult(check.id, check.rule, "unsupported", 0, 0.0, reason)
        started = time.perf_counter()
        examples, warnings, found = 0, [], None
        context = self._context(self.claims.dtypes[0])
        for context, scale in self._parts(check):
            cases = check.cases(context, scale)
            if cases is None:
                continue
            count = self.profile.examples(scale, first_dtype=context.dtype == self.claims.dtypes[0])
            budget = self.profile.shrink_small if scale == "small" else self.profile.shrink_large

            def verify(case: Case, context: Context = context) -> None:
                check.verify(context, case)

            always = tuple(check.always(context)) if scale == "small" else ()
            found = search(
                cases,
                verify,
                always=always,
                examples=count,
                seed=self._seed(check, context.dtype, scale),
                shrink=budget if shrink else 0,
            )
            examples += count + len(always)
            warnings += context.warnings
            if found is not None:
                break
        return self._result(
            check, context, found, warnings, examples, time.perf_counter() - started
        )

    def replay(self, check: Check, case: Case, dtype: str) -> CheckResult:
        """Run one check on one case.

        Raises:
            ValueError: ``dtype`` is not among those that the implementation declares, or the case
                is none of the check's (a row outside of the domain that is claimed).
        """
        if dtype not in self.claims.dtypes:
            raise ValueError(f"dtype must be one of {', '.join(self.claims.dtypes)}; got {dtype!r}")
        context, found = self._context(dtype), None
        started = time.perf_counter()
        try:
            check.verify(context, case)
        except (Violation, ImplementationRaised, ImplementationCrashed) as trouble:
            found = Found(case, trouble)
        except hypothesis.errors.UnsatisfiedAssumption:
            raise ValueError(f"{check.id} does not apply to this case in {dtype}") from None
        seconds = time.perf_counter() - started
        return self._result(check, context, found, context.warnings, 1, seconds)

    def _context(self, dtype: str) -> Context:
        return Context(self.claims, self.dialect, dtype, self.driver)

    def _parts(self, check: Check) -> Iterator[tuple[Context, Scale]]:
        dtypes = self.claims.dtypes if check.dtypes == "all" else self.claims.dtypes[:1]
        for scale in _SCALES:
            for dtype in dtypes:
                yield self._context(dtype), scale

    def _seed(self, check: Check, dtype: str, scale: Scale) -> int:
        # Each part has draws of its own; crc32, since hash() differs from process to process.
        return zlib.crc32(f"{check.id}/{dtype}/{scale}/{self.seed}".encode())

    def _result(
        self,
        check: Check,
        context: Context,
        found: Found | None,
        warnings: list[str],
        examples: int,
        seconds: float,
    ) -> CheckResult:
        known = self.claims.known_failures.get(check.id)
        waiver = Waiver(known.reason, known.issue, str(known.expires)) if known else None
        named = f"{known.reason} ({known.issue})" if known else ""
        status: Status
        if found is None:
            status, detail = ("quality-warning", warnings[0]) if warnings else ("pass", "")
            if known is not None:
                status, detail = "fail", f"unexpected pass: {named}"
            return CheckResult(
                check.id, check.rule, status, examples, seconds, detail, waiver=waiver
            )
        found = self._exactly(check, context.dtype, found)
        trouble = found.trouble
        if isinstance(trouble, Violation):
            status = "fail"
            self.evidence.append(trouble)
        else:
            status = "crash" if isinstance(trouble, ImplementationCrashed) else "error"
        detail = ""
        if known is not None and known.has_expired(self.today):
            detail = f"waiver expired on {known.expires}: {named}"
        elif known is not None:
            status, detail = "waived", f"{named}, until {known.expires}"
        failure = self._failure(check, context, found)
        rule = failure.rule or check.rule
        return CheckResult(check.id, rule, status, examples, seconds, detail, failure, waiver)

    def _exactly(self, check: Check, dtype: str, found: Found) -> Found:
        """``found`` with its rows as bits, where they are short and the check fails on them too."""
        if isinstance(found.trouble, ImplementationCrashed):
            # To try again costs a process, or the time-out.
            return found
        if any(len(row) > MAX_TOKENS for row in found.case.rows):
            return found
        case = found.case.exact(dtype, self.dialect)
        if case == found.case:
            return found
        try:
            check.verify(self._context(dtype), case)
        except (Violation, ImplementationRaised) as trouble:
            return Found(case, trouble)
        except (ImplementationCrashed, hypothesis.errors.UnsatisfiedAssumption):
            pass
        return found

    def _failure(self, check: Check, context: Context, found: Found) -> Failure:
        case = found.case.to_json()
        command = ["topnsigma-conformance", "run", self.target, "--check", check.id]
        command += ["--dtype", context.dtype, "--dialect", str(self.dialect)]
        if self.claims.device != "cpu":
            command += ["--device", self.claims.device]
        if isinstance(self.driver, Isolated):
            command += ["--isolate"]
        command += ["--case", case]
        violation = found.trouble if isinstance(found.trouble, Violation) else None
        return Failure(
            rule=violation.rule if violation else "",
            message=_shortened(str(found.trouble)),
            dialect=str(self.dialect),
            dtype=context.dtype,
            case=case,
            reproduce=shlex.join(command),
            matches=matching_fields(violation, self.dialect) if violation else (),
            **(located(violation, self.dialect) if violation else {}),
        )


def _shortened(message: str) -> str:
    return message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}…"
