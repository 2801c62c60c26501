"""A property-based conformance suite for anybody's top-nσ sampler.

>>> from topnsigma_conformance import Implementation, check_implementation
>>> class Mine(Implementation):
...     name = "mine"
...     def apply(self, logits, n):
...         return my_top_n_sigma(logits, n)
>>> check_implementation(Mine()).raise_for_failures()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topnsigma_conformance.implementation import Implementation, KnownFailure
from topnsigma_conformance.report import CheckResult, ConformanceError, Failure, Report
from topnsigma_conformance.version import SUITE_VERSION, __version__
from topnsigma_reference import RFC, Dialect

if TYPE_CHECKING:
    from topnsigma_conformance.implementation_check import Interrupted, check_implementation
    from topnsigma_conformance.session import Session

__all__ = [
    "RFC",
    "SUITE_VERSION",
    "CheckResult",
    "ConformanceError",
    "Dialect",
    "Failure",
    "Implementation",
    "Interrupted",
    "KnownFailure",
    "Report",
    "Session",
    "__version__",
    "check_implementation",
]

# Not for type checkers, to which any name would then be one of this package.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        # What needs Hypothesis, whose import takes longer than everything else that a process does
        # that is only started to apply an implementation.
        if name == "Session":
            from topnsigma_conformance.session import Session

            return Session
        if name in ("Interrupted", "check_implementation"):
            from topnsigma_conformance import implementation_check

            return getattr(implementation_check, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
