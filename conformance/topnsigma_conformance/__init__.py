"""A property-based conformance suite for anybody's top-nσ sampler.

>>> from topnsigma_conformance import Implementation, check_implementation
>>> class Mine(Implementation):
...     name = "mine"
...     def apply(self, logits, n):
...         return my_top_n_sigma(logits, n)
>>> check_implementation(Mine()).raise_for_failures()
"""

from topnsigma_conformance.check_implementation import Interrupted, check_implementation
from topnsigma_conformance.implementation import Implementation, KnownFailure
from topnsigma_conformance.report import CheckResult, ConformanceError, Failure, Report
from topnsigma_conformance.session import Session
from topnsigma_conformance.version import SUITE_VERSION, __version__
from topnsigma_reference import RFC, Dialect

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
