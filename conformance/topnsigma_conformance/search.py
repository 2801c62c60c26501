"""Looking for a case that breaks a rule, and making it small."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

import hypothesis
import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, Verbosity

from topnsigma_conformance.case import Case
from topnsigma_conformance.check import ImplementationRaised, Violation
from topnsigma_conformance.driver import ImplementationCrashed

Trouble = Violation | ImplementationRaised | ImplementationCrashed


@dataclasses.dataclass(frozen=True)
class Found:
    """A case, and what is wrong with it."""

    case: Case
    trouble: Trouble


class _Stop(BaseException):
    """Ends a search at once; Hypothesis does not catch it and so does not shrink either."""


def search(
    cases: st.SearchStrategy[Case],
    verify: Callable[[Case], None],
    *,
    examples: int,
    seed: int,
    shrink: int,
    always: Iterable[Case] = (),
) -> Found | None:
    """Try ``examples`` cases, and return the smallest one found that is wrong, or None.

    The same seed tries the same cases. A crash ends the search: shrinking it would start a process
    for every attempt.

    Args:
        cases: strategy to draw from.
        verify: raises one of :data:`Trouble` when a case is wrong.
        examples: how many to try.
        seed: of the draws.
        shrink: how many further examples a failure may cost; 0 returns the first one found.
        always: cases to try before any is drawn; they are not made smaller.
    """
    for case in always:
        try:
            verify(case)
        except hypothesis.errors.UnsatisfiedAssumption:
            continue
        except (Violation, ImplementationRaised, ImplementationCrashed) as trouble:
            return Found(case, trouble)
    best: list[Found] = []
    budget = [shrink]

    @hypothesis.seed(seed)
    @hypothesis.settings(
        database=None,
        deadline=None,
        max_examples=examples,
        phases=(Phase.generate, Phase.target, Phase.shrink),
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=(
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.large_base_example,
            HealthCheck.filter_too_much,
        ),
    )
    @hypothesis.given(cases)
    def attempt(case: Case) -> None:
        if best:
            if case == best[0].case:
                raise best[0].trouble
            if budget[0] <= 0:
                return
            budget[0] -= 1
        try:
            verify(case)
        except (Violation, ImplementationRaised) as trouble:
            best[:] = [Found(case, trouble)]
            if not shrink:
                raise _Stop from trouble
            raise
        except ImplementationCrashed as trouble:
            best[:] = [Found(case, trouble)]
            raise _Stop from trouble

    try:
        attempt()
    except (Violation, ImplementationRaised, _Stop):
        pass
    except (hypothesis.errors.Flaky, BaseExceptionGroup):
        # An implementation that answers differently the second time; what it did is in best.
        if not best:
            raise
    return best[0] if best else None
