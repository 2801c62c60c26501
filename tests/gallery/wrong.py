"""Samplers that are wrong in one way each, named as in the registry of faults, which says how.

``breaks`` is the rule to blame. ``blamed`` is the rule that the first failing check may name
instead, where its evidence fits more than one fault; a check of the rule that is broken fails all
the same.
"""

from __future__ import annotations

from gallery import (
    wrong_batches,
    wrong_cuts,
    wrong_deviations,
    wrong_numbers,
    wrong_repeats,
    wrong_rows,
    wrong_sums,
    wrong_survivors,
    wrong_tensors,
)
from gallery.textbook import Textbook
from gallery.wrong_batches import *  # noqa: F403
from gallery.wrong_cuts import *  # noqa: F403
from gallery.wrong_deviations import *  # noqa: F403
from gallery.wrong_numbers import *  # noqa: F403
from gallery.wrong_repeats import *  # noqa: F403
from gallery.wrong_rows import *  # noqa: F403
from gallery.wrong_sums import *  # noqa: F403
from gallery.wrong_survivors import *  # noqa: F403
from gallery.wrong_tensors import *  # noqa: F403

ALL: tuple[type[Textbook], ...] = tuple(
    value
    for module in (
        wrong_numbers,
        wrong_rows,
        wrong_deviations,
        wrong_cuts,
        wrong_survivors,
        wrong_batches,
        wrong_sums,
        wrong_tensors,
        wrong_repeats,
    )
    for name, value in vars(module).items()
    if isinstance(value, type)
    and issubclass(value, Textbook)
    and value.__module__ == module.__name__
    and not name.startswith("_")
)
"""Every class of these modules, in the order of the rules."""
