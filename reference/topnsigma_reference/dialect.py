"""The choices on which real engines differ, as one closed value (SPEC.md, section "Dialects")."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Literal, get_args

Sigma = Literal["sample", "population"]
NegInf = Literal["noop", "exclude", "zero"]
Boundary = Literal["keep", "drop"]
InvalidN = Literal["reject", "disable"]
Fill = Literal["-inf", "lowest"]

DIALECT_CHOICES: dict[str, tuple[str, ...]] = {
    "sigma": get_args(Sigma),
    "neg_inf": get_args(NegInf),
    "boundary": get_args(Boundary),
    "invalid_n": get_args(InvalidN),
    "fill": get_args(Fill),
}


@dataclasses.dataclass(frozen=True)
class Dialect:
    """One reading of top-nσ. The defaults are the RFC dialect, :data:`RFC`.

    Attributes:
        sigma: divisor of the variance: ``sample`` is V-1, ``population`` is V.
        neg_inf: a row that holds -inf: ``noop`` leaves it alone; ``exclude`` leaves those tokens
            out of maximum, σ and count; ``zero`` counts them in σ as 0.0 and leaves them out of
            the maximum. In the last two they stay -inf, whatever ``fill`` is.
        boundary: a logit equal to the threshold: ``keep`` or ``drop``.
        invalid_n: an n outside the domain of TNS-1: ``reject`` raises, ``disable`` leaves the row.
        fill: what a masked logit becomes: ``-inf``, or ``lowest``, the lowest finite of the dtype.

    Raises:
        ValueError: a field holds a value that is not listed above.
    """

    sigma: Sigma = "sample"
    neg_inf: NegInf = "noop"
    boundary: Boundary = "keep"
    invalid_n: InvalidN = "reject"
    fill: Fill = "-inf"

    def __post_init__(self) -> None:
        for field, choices in DIALECT_CHOICES.items():
            value = getattr(self, field)
            if value not in choices:
                raise ValueError(f"{field} must be one of {', '.join(choices)}; got {value!r}")

    @classmethod
    def parse(cls, text: str) -> Dialect:
        """Read ``"RFC"`` or ``"sigma=population,neg_inf=exclude"``; fields not named are RFC's.

        Raises:
            ValueError: an unknown or repeated field, an unknown or missing value.
        """
        if text.strip().upper() == "RFC":
            return cls()
        fields: dict[str, str] = {}
        for entry in text.split(","):
            field, _, value = (part.strip() for part in entry.partition("="))
            if field not in DIALECT_CHOICES or field in fields:
                raise ValueError(
                    f"a dialect is RFC or a list of FIELD=VALUE, each FIELD once, out of"
                    f" {', '.join(DIALECT_CHOICES)}; got {text!r}"
                )
            fields[field] = value
        return cls(**fields)  # type: ignore[arg-type]

    def differences(self, other: Dialect) -> dict[str, str]:
        """Fields in which this dialect differs from ``other``, with this dialect's values."""
        return {
            field: getattr(self, field)
            for field in DIALECT_CHOICES
            if getattr(self, field) != getattr(other, field)
        }

    def __str__(self) -> str:
        """``RFC``, or the fields that differ from it, in the form that :meth:`parse` reads."""
        return ",".join(f"{k}={v}" for k, v in self.differences(RFC).items()) or "RFC"


RFC = Dialect()


def all_dialects() -> Iterator[Dialect]:
    """Every dialect there is, RFC first."""
    for values in itertools.product(*DIALECT_CHOICES.values()):
        yield Dialect(**dict(zip(DIALECT_CHOICES, values, strict=True)))  # type: ignore[arg-type]
