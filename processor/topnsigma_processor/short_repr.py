"""Values in error messages: short whatever they are, and never an error of their own."""

import reprlib
from itertools import islice
from typing import Any

_LENGTH = 80
_TYPE_LENGTH = 40

# More digits than are ever shown, and fewer than Python refuses to write (4,300).
_INTEGER_BITS = 10_000

_BUILT_IN = (int, str, bytes, list, tuple, dict, set, frozenset)


def short_repr(value: object) -> str:
    """Return `repr(value)`, shortened, for an error message; never raises.

    Of built-in integers, strings and containers, and of classes derived from them, no more is
    looked at than is shown. Surrogates come out escaped, so that the text can be sent and logged.
    """
    try:
        text = str.__str__(_SHORT.repr(value)).encode("utf-8", "backslashreplace").decode()
    except Exception:  # whatever a class does in its `__repr__` or instead of it
        return f"a value of type {_type_name(value)} that has no repr"
    if len(text) > _LENGTH:
        return f"{text[:_LENGTH]}… ({_type_name(value)})"
    return text


def _type_name(value: object) -> str:
    try:
        name = str.__str__(type(value).__name__).encode("utf-8", "backslashreplace").decode()
    except Exception:  # a metaclass may do anything there too
        return "unknown"
    return name if len(name) <= _TYPE_LENGTH else f"{name[:_TYPE_LENGTH]}…"


class _Short(reprlib.Repr):
    """`reprlib` with limits beyond what is shown, for subclasses too, and without sorting."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        # It leaves out the middle: half of it has to be more than is shown.
        self.maxstring = self.maxlong = self.maxother = 4 * _LENGTH

    def repr_int(self, x: int, level: int) -> str:
        bits = x.bit_length()
        return f"<an int of {bits} bits>" if bits > _INTEGER_BITS else super().repr_int(x, level)

    def repr_bytes(self, x: bytes, level: int) -> str:
        return repr(x[: self.maxother])

    def repr_dict(self, x: dict[Any, Any], level: int) -> str:
        return super().repr_dict(dict(islice(x.items(), self.maxdict + 1)), level)

    def repr_set(self, x: set[Any], level: int) -> str:
        return super().repr_set(set(islice(x, self.maxset + 1)), level)

    def repr_frozenset(self, x: frozenset[Any], level: int) -> str:
        return super().repr_frozenset(frozenset(islice(x, self.maxfrozenset + 1)), level)

    def repr_instance(self, x: Any, level: int) -> str:
        kinds = () if isinstance(x, bool) else _BUILT_IN
        for kind in kinds:
            if issubclass(type(x), kind):
                shown: str = getattr(self, f"repr_{kind.__name__}")(x, level)
                return f"{_type_name(x)}({shown})"
        return repr(x)[: self.maxother]


_SHORT = _Short()
