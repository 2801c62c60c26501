"""Top-nσ truncation, exactly: the executable half of ``SPEC.md``.

The package answers two questions about a row of logits and an n, without rounding anywhere:

* :func:`top_n_sigma`: what is the result?
* :func:`classify`: which results may a floating-point implementation give?

:data:`RULES` holds the rules of the specification by id.

It depends on numpy alone and shares no code with any implementation under test.
"""

from topnsigma_reference.dialect import DIALECT_CHOICES, RFC, Dialect, all_dialects
from topnsigma_reference.oracle import Keep, Verdict, classify, top_n_sigma
from topnsigma_reference.parameter import parse_n
from topnsigma_reference.rules import RULES, Rule
from topnsigma_reference.threshold import Interval, Threshold

__version__ = "0.1.0"
SPEC_VERSION = "1.0"

__all__ = [
    "DIALECT_CHOICES",
    "RFC",
    "RULES",
    "SPEC_VERSION",
    "Dialect",
    "Interval",
    "Keep",
    "Rule",
    "Threshold",
    "Verdict",
    "__version__",
    "all_dialects",
    "classify",
    "parse_n",
    "top_n_sigma",
]
