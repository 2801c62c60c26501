"""An adapter that has to be told which object of its peer to drive."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from topnsigma_conformance.adapters.object_path import load_object
from topnsigma_conformance.implementation import Implementation

BOOLEAN = ("true", "false")
ANY: tuple[str, ...] = ()


class NamedPeer(Implementation):
    """What adapters have in common whose target is ``ADAPTER:MODULE:NAME[,OPTION=VALUE…]``.

    Args:
        device: to construct for.
        path: ``MODULE:NAME`` of the object to drive.
        options: what is said about it; those of :attr:`options`, each given as text.

    Raises:
        ImportError: the object, or the peer, cannot be imported.
        TypeError: the object is not callable.
        ValueError: an unknown option or value, or a device that is not among :attr:`devices`.
    """

    adapter: ClassVar[str]
    """Name of the adapter, which is the first part of its targets."""

    options: ClassVar[Mapping[str, tuple[str, ...]]] = {"in_place": BOOLEAN, "parameter": ANY}
    """Options to the values that each accepts; none for any. ``in_place``: the object writes into
    the logits that it is given. ``parameter``: the name that its errors use for n."""

    def __init__(
        self, device: str | None = None, path: str = "", options: Mapping[str, str] | None = None
    ) -> None:
        name = path.rpartition(":")[2]
        self.name = f"{self.adapter}:{name}"
        super().__init__(device)
        given = dict(options or {})
        for option, value in given.items():
            _check(option, value, self.options, self.adapter)
        self.target = ",".join(
            [f"{self.adapter}:{path}", *(f"{option}={value}" for option, value in given.items())]
        )
        self.object: Any = load_object(path)
        if not callable(self.object):
            raise TypeError(f"{name} must be callable; got {self.object!r}")
        self.version = (
            ", ".join(filter(None, [_version_of(path), self.peer_version()])) or "unknown"
        )
        if "in_place" in given:
            self.in_place = given["in_place"] == "true"
        self.parameter = given.get("parameter", self.parameter)

    def peer_version(self) -> str:
        """Version of the peer that the object is for; empty where there is none."""
        return ""


def one_n(n: Sequence[Any]) -> Any:
    """The n that all rows share, None for no rows: for peers that take one n a call.

    Raises:
        RuntimeError: the entries differ, although ``per_row_n`` is False.
    """
    if not n:
        return None
    if any(entry is not n[0] and entry != n[0] for entry in n):
        raise RuntimeError(f"this peer takes one n a call; got {list(n)!r}")
    return n[0]


def _check(option: str, value: str, known: Mapping[str, tuple[str, ...]], adapter: str) -> None:
    if option not in known:
        raise ValueError(f"option must be one of {', '.join(known)} for {adapter}; got {option!r}")
    accepted = known[option]
    if accepted and value not in accepted:
        raise ValueError(f"{option} must be one of {', '.join(accepted)}; got {value!r}")
    if not value:
        raise ValueError(f"{option} must not be empty")


def _version_of(path: str) -> str:
    """What the object's package says of its version, if anything."""
    package = path.partition(":")[0].partition(".")[0]
    version = getattr(sys.modules[package], "__version__", "")
    return f"{package} {version}" if version else ""
