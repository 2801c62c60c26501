"""Samplers that are wrong in one way each, named after it. ``breaks`` is the rule to blame.

Each has been seen in some engine, or is a mistake that is easily made. ``blamed`` is the rule that
the first failing check may name instead, where its evidence (a token kept or masked wrongly) fits
more than one fault; a check of the rule that is broken fails all the same.
"""

from __future__ import annotations

from gallery import wrong_calls, wrong_cuts, wrong_inputs
from gallery.textbook import Textbook
from gallery.wrong_calls import *  # noqa: F403
from gallery.wrong_cuts import *  # noqa: F403
from gallery.wrong_inputs import *  # noqa: F403

ALL = tuple(
    value
    for module in (wrong_inputs, wrong_cuts, wrong_calls)
    for value in vars(module).values()
    if isinstance(value, type) and issubclass(value, Textbook) and value is not Textbook
)
"""Every class of the three modules, in the order of the rules."""
