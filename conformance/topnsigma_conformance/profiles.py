"""How much each profile tries."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Profile:
    """Examples per check, scale and dtype.

    Attributes:
        name: as on the command line.
        small: examples of small rows.
        large: examples of large rows.
        shrink_small, shrink_large: how many further examples a failure may cost to be made smaller.
    """

    name: str
    small: int
    large: int
    shrink_small: int
    shrink_large: int

    def examples(self, scale: str, *, first_dtype: bool) -> int:
        """Examples at ``scale``; dtypes after the first get a quarter."""
        count = self.small if scale == "small" else self.large
        return count if first_dtype else max(1, count // 4)


PROFILES = {
    "quick": Profile("quick", small=60, large=8, shrink_small=400, shrink_large=60),
    "full": Profile("full", small=500, large=60, shrink_small=1000, shrink_large=150),
    # A round of the soak; rounds with new seeds follow one another until somebody stops them.
    "soak": Profile("soak", small=500, large=60, shrink_small=1000, shrink_large=150),
}


def profile_named(name: str) -> Profile:
    """The profile of that name.

    Raises:
        ValueError: there is none.
    """
    if name not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(PROFILES)}; got {name!r}")
    return PROFILES[name]
