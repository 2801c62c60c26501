"""Values that JSON or Python can put into extra_args, most of them as unruly as they can be."""

import collections
import enum
import json
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
import torch

N = "top_n_sigma"


class Raising:
    """Raises whatever is asked of it, unless by a look at its type."""

    def _no(self, *_: Any) -> Any:
        raise RuntimeError("no")

    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = __bool__ = __float__ = __int__ = __index__ = _no
    __repr__ = __str__ = __format__ = __len__ = __iter__ = __getattr__ = __getitem__ = _no
    __hash__ = _no


class ClassRaises:
    @property
    def __class__(self) -> Any:
        raise RuntimeError("no")

    @__class__.setter
    def __class__(self, _: Any) -> None:
        raise RuntimeError("no")


class Pretends:
    """Says that it is of another class."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    @property
    def __class__(self) -> Any:
        return self._kind

    @__class__.setter
    def __class__(self, _: Any) -> None: ...


class Metaclass(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("no")

    def __hash__(cls) -> int:
        raise RuntimeError("no")


class Nameless(metaclass=Metaclass):
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Liar(float):
    """A float that compares as larger than everything, and is what it was made as."""

    def __gt__(self, _: object) -> bool:
        return True

    def __lt__(self, _: object) -> bool:
        return False

    def __eq__(self, _: object) -> bool:
        return True

    def __ne__(self, _: object) -> bool:
        return False

    __le__, __ge__ = __lt__, __gt__
    __hash__ = float.__hash__


class OtherFloat(float):
    """A float whose __float__ is another."""

    def __float__(self) -> float:
        return Liar("nan")


class AnyString(str):
    def __eq__(self, _: object) -> bool:
        return True

    __hash__ = str.__hash__


class RaisingString(str):
    def __eq__(self, _: object) -> bool:
        raise RuntimeError("no")

    def startswith(self, *_: Any) -> bool:
        raise RuntimeError("no")

    __hash__ = str.__hash__


class RaisingDict(dict[Any, Any]):
    def _no(self, *_: Any) -> Any:
        raise RuntimeError("no")

    __iter__ = __len__ = __getitem__ = __contains__ = __bool__ = get = items = keys = _no
    __repr__ = _no


class SameHash:
    """In a dict it is compared with `top_n_sigma`, and raises once the dict is made."""

    made = False

    def __hash__(self) -> int:
        return hash(N)

    def __eq__(self, _: object) -> bool:
        if self.made:
            raise RuntimeError("no")
        return False


class LongName(Raising):
    pass


LongName.__name__ = 10_000 * "L"


class SurrogateRepr:
    def __repr__(self) -> str:
        return "\ud800"


@Real.register
class Third:
    def __float__(self) -> float:
        return 1 / 3


class Policy(enum.StrEnum):
    EXCLUDE = "exclude"
    ZERO = "zero"


class Number(enum.IntEnum):
    TWO = 2


def _raising_scalar() -> Any:
    array = np.empty((), dtype=object)
    array[()] = Raising()
    return array


def _recursive() -> list[Any]:
    inner: list[Any] = []
    inner.append({"again": inner})
    return inner


def _deep() -> Any:
    inner: Any = 2.0
    for _ in range(100_000):
        inner = [inner]
    return inner


ACCEPTED: dict[str, tuple[Any, float]] = {
    "denormal": (5e-324, 5e-324),
    "largest": (1.7976931348623157e308, 1.7976931348623157e308),
    "10**308": (10**308, 1e308),
    "fraction": (Fraction(1, 3), 1 / 3),
    "fraction of huge integers": (Fraction(10**5000, 10**4999), 10.0),
    "numpy float64": (np.float64(2.5), 2.5),
    "numpy float32": (np.float32(0.1), float(np.float32(0.1))),
    "numpy float16": (np.float16(0.5), 0.5),
    "numpy int64": (np.int64(3), 3.0),
    "numpy uint8": (np.uint8(3), 3.0),
    "numpy longdouble": (np.longdouble("0.5"), 0.5),
    "a registered Real": (Third(), 1 / 3),
    "a float that lies": (Liar(2.0), 2.0),
    "an enumerated integer": (Number.TWO, 2.0),
}

REFUSED: dict[str, Any] = {
    "1e400": json.loads("1e400"),
    "10**400": 10**400,
    "10**100_000": 10**100_000,
    "-10**100_000": -(10**100_000),
    "fraction that is 0 as float": Fraction(1, 10**400),
    "fraction beyond repr": Fraction(10**10_000, 3),
    "text": "2.0",
    "text of digits": "１",
    "empty text": "",
    "long text": 10_000_000 * "x",
    "surrogate": "\ud800",
    "long surrogates": 10_000 * "\udfff",
    "nul": "\0",
    "bytes": b"2.0",
    "long bytes": bytes(10_000_000),
    "bool": True,
    "numpy bool": np.True_,
    "numpy nan": np.float32("nan"),
    "numpy inf": np.float16("inf"),
    "numpy zero": np.float64(-0.0),
    "numpy longdouble beyond float64": np.longdouble("1e400"),
    "numpy complex": np.complex64(2),
    "numpy 0-d": np.array(2.0),
    "numpy 0-d object": _raising_scalar(),
    "numpy datetime": np.datetime64("2026-01-01"),
    "numpy array": np.zeros(1_000_000),
    "torch 0-d": torch.tensor(2.0),
    "torch tensor": torch.zeros(1_000_000),
    "Decimal": Decimal("2.0"),
    "Decimal nan": Decimal("sNaN"),
    "long Decimal": Decimal("1" * 100_000),
    "complex": 2 + 0j,
    "list": [2.0],
    "tuple": (2.0,),
    "nested": {"n": [{"n": [{"n": [2.0]}]}]},
    "long list": [2.0] * 1_000_000,
    "long dict": dict.fromkeys(range(100_000)),
    "long set": set(range(1_000_000)),
    "recursive": _recursive(),
    "deep": _deep(),
    "default dict": collections.defaultdict(list, n=2.0),
    "raising": Raising(),
    "raising inside": [{"n": Raising()}],
    "class raises": ClassRaises(),
    "pretends to be a float": Pretends(float),
    "pretends to be a bool": Pretends(bool),
    "pretends to be text": Pretends(str),
    "metaclass raises": Nameless(),
    "float that lies, nan": Liar("nan"),
    "float that lies, zero": Liar(0.0),
    "float whose float is another": OtherFloat(2.0),
    "long name of its class": LongName(),
    "repr with a surrogate": SurrogateRepr(),
    "a class": float,
    "a function": max,
    "a generator": (n for n in [2.0]),
}

ODD_TEXT: dict[str, Any] = {
    "equal to every text": AnyString("zero"),
    "comparison raises": RaisingString("zero"),
    "enumerated": Policy.ZERO,
    "numpy": np.str_("zero"),
    "bytes": b"exclude",
}
