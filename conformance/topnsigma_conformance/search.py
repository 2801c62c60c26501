"""Looking for a case that breaks a rule, and making it small."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from unittest import mock

import hypothesis
import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from topnsigma_conformance.case import Case, Row
from topnsigma_conformance.check import ImplementationRaised, Violation
from topnsigma_conformance.line_process import ImplementationCrashed

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

    The same seed tries the same cases, wherever it is used. A crash ends the search: shrinking it
    would start a process for every attempt.

    Args:
        cases: strategy to draw from.
        verify: raises one of :data:`Trouble` when a case is wrong.
        examples: how many to try.
        seed: of the draws.
        shrink: how many further examples a failure may cost; 0 returns the first one found.
        always: cases to try after those that are drawn, which are smaller when they are wrong.
    """
    with _nothing_but_the_seed():
        found = _search_drawn(cases, verify, examples, seed, shrink)
    return found or _search_listed(always, verify, shrink)


def _search_drawn(
    cases: st.SearchStrategy[Case],
    verify: Callable[[Case], None],
    examples: int,
    seed: int,
    shrink: int,
) -> Found | None:
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
            # What Hypothesis calls smaller takes fewer choices to draw, not fewer tokens.
            if not best or _size(case) <= _size(best[0].case):
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


def _size(case: Case) -> tuple[int, int]:
    return len(case.rows[0]), len(case.rows)


def _search_listed(
    cases: Iterable[Case], verify: Callable[[Case], None], shrink: int
) -> Found | None:
    for case in cases:
        trouble = _trouble(case, verify)
        if trouble is None:
            continue
        if shrink and not isinstance(trouble, ImplementationCrashed):
            for smaller in _shorter(case):
                other = _trouble(smaller, verify)
                if other is not None:
                    return Found(smaller, other)
        return Found(case, trouble)
    return None


def _trouble(case: Case, verify: Callable[[Case], None]) -> Trouble | None:
    try:
        verify(case)
    except hypothesis.errors.UnsatisfiedAssumption:
        return None
    except (Violation, ImplementationRaised, ImplementationCrashed) as trouble:
        return trouble
    return None


def _shorter(case: Case) -> Iterator[Case]:
    """``case`` with fewer tokens, the fewest first; only rows of a family can be shortened."""
    if not all(row.family for row in case.rows):
        return
    longest = len(case.rows[0])
    least = 1 + max((index for row in case.rows for index in _indices(row)), default=1)
    for size in (*range(2, 9), 12, 16, 32, 97, 1024, 4099, 16_384):
        if least <= size < longest:
            rows = tuple(dataclasses.replace(row, size=size) for row in case.rows)
            yield dataclasses.replace(case, rows=rows)


def _indices(row: Row) -> list[int]:
    touched = [index for index, _ in (*row.edits, *row.specials)]
    return touched + [place.index for place in row.places]


@contextlib.contextmanager
def _nothing_but_the_seed() -> Iterator[None]:
    """Keep Hypothesis from drawing constants that it finds in the source of loaded modules.

    With them a run would depend on who has been imported, from where, and not on the seed alone.
    There is no setting for it.
    """
    provider = getattr(providers, "HypothesisProvider", None)
    if "_local_constants" not in vars(provider or object):
        yield
        return
    with mock.patch.object(provider, "_local_constants", Constants()):
        # Choices are cached by their bounds alone, with the constants that were known then.
        providers.CONSTANTS_CACHE.cache.clear()
        try:
            yield
        finally:
            providers.CONSTANTS_CACHE.cache.clear()
