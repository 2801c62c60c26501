"""What a check is, and the context in which it looks at one implementation."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, Literal

import hypothesis
import hypothesis.strategies as st
import numpy as np

from topnsigma_conformance.batch import Batch
from topnsigma_conformance.case import Case
from topnsigma_conformance.driver import Driver
from topnsigma_conformance.families import in_core_domain
from topnsigma_conformance.formats import Bits, decode
from topnsigma_conformance.implementation import Claims
from topnsigma_conformance.judge import ALL_KINDS, Finding, Kind, judge
from topnsigma_conformance.observation import Observation
from topnsigma_reference import Dialect

Scale = Literal["small", "large"]


class Violation(Exception):
    """A rule that the implementation broke on one batch.

    Attributes:
        rule: id of the rule.
        finding: where and how, when a single token shows it.
        batch, bits: what was applied, and the result where there is one; evidence for finding the
            dialect that would explain it.
    """

    def __init__(
        self,
        rule: str,
        message: str,
        batch: Batch,
        *,
        bits: Bits | None = None,
        finding: Finding | None = None,
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.batch = batch
        self.bits = bits
        self.finding = finding


class ImplementationRaised(Exception):
    """The implementation raised something else than ValueError."""


def assume(condition: bool) -> None:
    """Give the example up unless ``condition``; unlike Hypothesis's own, also on replay.

    Raises:
        UnsatisfiedAssumption: ``condition`` is false.
    """
    if not condition:
        raise hypothesis.errors.UnsatisfiedAssumption


@dataclasses.dataclass(eq=False)
class Context:
    """One implementation, seen under one dialect and dtype.

    Attributes:
        claims: what the implementation declares.
        dialect: under which it is checked (its own, or RFC).
        dtype: of the logits.
        driver: applies it.
        warnings: quality warnings, in the order found.
    """

    claims: Claims
    dialect: Dialect
    dtype: str
    driver: Driver
    warnings: list[str] = dataclasses.field(default_factory=list)

    def batch(self, case: Case, *, extreme: bool = False) -> Batch:
        """Build ``case``; give the example up if it leaves the core domain that is promised.

        Args:
            case: to build.
            extreme: whether rows of the extreme domain are meant.
        """
        batch = case.batch(self.dtype, self.dialect)
        if not extreme and not self.claims.extreme:
            for bits in batch.bits:
                values = decode(bits, self.dtype)
                assume(in_core_domain(values[np.isfinite(values)]))
        return batch

    def observe(self, batch: Batch) -> Observation:
        """One call with the whole batch, whatever comes of it."""
        return self.driver.observe(batch)

    def result(self, batch: Batch) -> Bits:
        """Bits [B, V] of the result for valid n.

        Rows go one by one where the implementation takes no batches, or not these.

        Raises:
            Violation: a valid n is rejected (TNS-1); the result is malformed (TNS-10).
            ImplementationRaised: anything but ValueError was raised.
        """
        if len(batch.n) > 1 and not self._takes(batch):
            return np.concatenate([self.result(part) for part in batch.single_rows()])
        bits = self.returned(batch).bits
        assert bits is not None
        return bits

    def returned(self, batch: Batch) -> Observation:
        """One call with the whole batch, which has to return a result.

        Raises:
            Violation, ImplementationRaised: as :meth:`result`.
        """
        observation = self.observe(batch)
        if observation.outcome == "raised":
            raise ImplementationRaised(observation.message)
        if observation.outcome == "rejected":
            raise Violation(
                "TNS-1", f"rejected n = {list(batch.n)!r}: {observation.message}", batch
            )
        if observation.outcome == "malformed":
            raise Violation("TNS-10", observation.message, batch)
        return observation

    def check(self, batch: Batch, rule: str, kinds: Iterable[Kind] = ALL_KINDS) -> Bits:
        """Apply, hold the result to the oracle, and return it.

        Args:
            batch: to apply.
            rule: that a finding breaks, unless its kind has a rule of its own.
            kinds: of findings that count in this check.

        Raises:
            Violation: a finding of one of ``kinds``, or as :meth:`result`.
        """
        bits = self.result(batch)
        judgement = judge(batch, bits, self.dialect)
        for finding in judgement.findings:
            if finding.kind in kinds:
                broken = _RULE_OF_KIND.get(finding.kind, rule)
                if finding.kind == "unchanged":
                    broken = finding.verdict.rule
                message = f"expected {finding.expected}; got {finding.got}"
                raise Violation(broken, message, batch, bits=bits, finding=finding)
        for row in judgement.loose_rows:
            self.warn(
                f"cut outside of the tight band: V = {batch.shape[1]}, n = {batch.n[row]!r},"
                f" {self.dtype}"
            )
        return bits

    def warn(self, message: str) -> None:
        """Record a quality warning."""
        self.warnings.append(message)

    def _takes(self, batch: Batch) -> bool:
        same_n = all(entry is batch.n[0] or entry == batch.n[0] for entry in batch.n)
        return self.claims.batched and (self.claims.per_row_n or same_n)


_RULE_OF_KIND: dict[Kind, str] = {
    "maximum": "TNS-7",
    "fill": "TNS-5",
    "bits": "TNS-6",
    "single-cut": "TNS-9",
}


def applies_always(_: Claims, __: Dialect) -> str:
    """Applies to every implementation."""
    return ""


def needs_its_memory(claims: Claims, _: Dialect) -> str:
    """Does not apply where the input cannot be seen again."""
    return "its memory cannot be seen from outside of its process" if claims.remote else ""


def no_cases(_: Context) -> tuple[Case, ...]:
    """Everything is left to drawing."""
    return ()


@dataclasses.dataclass(frozen=True)
class Check:
    """One check of the suite.

    Attributes:
        id: ``RULE.subject``.
        title: what is checked, in a sentence.
        cases: strategy of cases at a scale for a context, or None where the scale has none.
        verify: looks at one case; raises :class:`Violation`, :class:`ImplementationRaised` or
            ``ImplementationCrashed``.
        unsupported: why it does not apply to these claims under this dialect; empty when it does.
        dtypes: ``all`` that are declared, or only the ``first``.
        always: cases that are tried before any is drawn.
    """

    id: str
    title: str
    cases: Callable[[Context, Scale], st.SearchStrategy[Case] | None]
    verify: Callable[[Context, Case], Any]
    unsupported: Callable[[Claims, Dialect], str] = applies_always
    dtypes: Literal["all", "first"] = "all"
    always: Callable[[Context], Iterable[Case]] = no_cases

    @property
    def rule(self) -> str:
        """Id of the rule that the check enforces."""
        return self.id.split(".")[0]
