"""What an implementer writes: one class that says what a sampler claims, and applies it."""

from __future__ import annotations

import abc
import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from topnsigma_reference import RFC, Dialect

DTYPES = ("float32", "float16", "bfloat16")


@dataclasses.dataclass(frozen=True)
class KnownFailure:
    """A check that is known to fail, and where that is tracked.

    The check still runs, is reported as ``waived``, and fails when it unexpectedly passes. After
    the waiver has expired, the check counts as what it is.

    Attributes:
        reason: what is wrong, in a sentence.
        issue: reference to the issue that tracks it (an address or ``#123``).
        expires: last day (UTC) on which it holds: a date, or one as ``YYYY-MM-DD``.

    Raises:
        ValueError: one of the three is empty, or ``expires`` is no date.
        TypeError: one of the three is of another type.
    """

    reason: str
    issue: str
    expires: datetime.date | str

    def __post_init__(self) -> None:
        for field in ("reason", "issue"):
            text = getattr(self, field)
            if not isinstance(text, str):
                raise TypeError(f"KnownFailure.{field} must be a string; got {text!r}")
            if not text.strip():
                raise ValueError(f"KnownFailure.{field} must not be empty")
        object.__setattr__(self, "expires", _date(self.expires))

    def has_expired(self, today: datetime.date) -> bool:
        """Whether ``today`` is later than the last day on which the waiver holds."""
        return today > _date(self.expires)


class Implementation(abc.ABC):
    """A top-nσ sampler under test.

    The attributes are claims. A claim about the *dialect* changes the expected answers; a claim
    about a capability (``dtypes``, ``extreme``, ``batched``, …) changes only which checks apply.
    The suite decides what runs; nothing here can switch a check off.

    Attributes:
        name: of the implementation, as reports show it.
        version: of the implementation.
        dialect: the reading of top-nσ it follows.
        arrays: what :meth:`apply` receives, ``numpy`` or ``torch``. With ``numpy``, bfloat16 logits
            are uint16 bit patterns.
        dtypes: of the logits it accepts, among float32, float16, bfloat16.
        devices: it can be constructed for; the first is the default.
        in_place: :meth:`apply` writes its result into its input. Checked both ways.
        batched: :meth:`apply` accepts more than one row.
        per_row_n: rows of a batch may have different n.
        strided: accepts logits that are not contiguous.
        extreme: claims the extreme domain of TNS-9 (every finite row), beyond the core domain.
        parameter: the name that its errors use for n.
        n_format: in which format it carries n. With ``binary32`` the suite keeps to n that are
            normal numbers there.
        isolated: run it in a process of its own, because it can crash.
        remote: it is reached through text alone, as a harness is: n is limited to what JSON can
            carry, and its memory cannot be seen. Set by the suite, not by implementers.
        known_failures: check id to :class:`KnownFailure`.
    """

    name: str
    version: str = "unknown"
    dialect: Dialect = RFC
    arrays: Literal["numpy", "torch"] = "numpy"
    dtypes: tuple[str, ...] = ("float32",)
    devices: tuple[str, ...] = ("cpu",)
    in_place: bool = False
    batched: bool = True
    per_row_n: bool = True
    strided: bool = True
    extreme: bool = False
    parameter: str = "n"
    n_format: Literal["binary64", "binary32"] = "binary64"
    isolated: bool = False
    remote: bool = False
    known_failures: Mapping[str, KnownFailure] = {}

    def __init__(self, device: str | None = None) -> None:
        """Construct for a device.

        Raises:
            ValueError: ``device`` is not among :attr:`devices`.
        """
        if device is not None and device not in self.devices:
            raise ValueError(
                f"device must be one of {', '.join(self.devices)} for {self.name}; got {device!r}"
            )
        self.device = device or self.devices[0]

    @abc.abstractmethod
    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        """Apply top-nσ.

        Args:
            logits: [B, V], a numpy array or a torch tensor (see :attr:`arrays`).
            n: B entries, each a number, or None for a disabled row. The suite also passes values
                outside the domain of TNS-1.

        Returns:
            The result, [B, V]: ``logits`` itself where :attr:`in_place`, a new array otherwise.

        Raises:
            ValueError: an entry of n is outside the domain of TNS-1 (in a dialect that rejects).
        """


@dataclasses.dataclass(frozen=True)
class Claims:
    """The declared attributes of an :class:`Implementation`, detached from the code it drives."""

    name: str
    version: str
    dialect: Dialect
    arrays: str
    dtypes: tuple[str, ...]
    device: str
    in_place: bool
    batched: bool
    per_row_n: bool
    strided: bool
    extreme: bool
    parameter: str
    n_format: str
    remote: bool
    known_failures: Mapping[str, KnownFailure]

    @classmethod
    def of(cls, implementation: Implementation) -> Claims:
        """Read and validate the claims.

        Raises:
            TypeError: a claim has the wrong type, or there is no name.
            ValueError: no dtype, or one that the suite does not know.
        """
        for field in ("name", "version", "device", "parameter"):
            text = getattr(implementation, field, None)
            if not isinstance(text, str):
                raise TypeError(f"{field} must be a string; got {text!r}")
        claims = cls(**{f.name: getattr(implementation, f.name) for f in dataclasses.fields(cls)})
        if not isinstance(claims.dialect, Dialect):
            raise TypeError(f"dialect must be a Dialect; got {claims.dialect!r}")
        if not claims.dtypes or not set(claims.dtypes) <= set(DTYPES):
            raise ValueError(f"dtypes must be some of {', '.join(DTYPES)}; got {claims.dtypes!r}")
        if claims.arrays not in ("numpy", "torch"):
            raise ValueError(f"arrays must be 'numpy' or 'torch'; got {claims.arrays!r}")
        for check_id, waiver in claims.known_failures.items():
            if not isinstance(waiver, KnownFailure):
                raise TypeError(
                    f"known_failures[{check_id!r}] must be a KnownFailure; got {waiver!r}"
                )
        return claims


def _date(value: object) -> datetime.date:
    accepted = "KnownFailure.expires must be a date, or one as 'YYYY-MM-DD'"
    # A datetime is a date that cannot be compared with one.
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    if not isinstance(value, str):
        raise TypeError(f"{accepted}; got {value!r}")
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        raise ValueError(f"{accepted}; got {value!r}") from None
