"""Whatever JSON or Python can put into extra_args is accepted or a ValueError, in a short time."""

import collections
import enum
import json
import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from topnsigma_processor.request_parameters import (
    REQUEST_KEYS,
    RequestParameters,
    parse_extra_args,
    plain_extra_args,
)

LONGEST_MESSAGE = 300
"""Characters; a client gets it back, and a log keeps it."""

N, NEG_INF = REQUEST_KEYS


def _outcome(extra_args: Any) -> RequestParameters | str:
    """What is made of them: parameters of Python's own types, or the message of the ValueError."""
    try:
        plain = plain_extra_args(extra_args)
    except ValueError as error:
        message = str(error)
        assert len(message) <= LONGEST_MESSAGE
        message.encode()  # a surrogate in it would break the answer, or the log
        return message
    found = parse_extra_args(extra_args)
    assert found == parse_extra_args(plain)
    assert found.n is None or (type(found.n) is float and 0 < found.n < math.inf)
    assert found.neg_inf is None or type(found.neg_inf) is str
    if plain is not None:
        assert isinstance(plain, dict)
        sent = {key: value for key, value in dict.items(plain) if type(key) is str and N in key}
        assert pickle.loads(pickle.dumps(sent)) == sent
        assert {type(value) for value in sent.values()} <= {float, str, type(None)}
    return found


def _refused(extra_args: Any, *named: str) -> None:
    outcome = _outcome(extra_args)
    assert isinstance(outcome, str), f"accepted as {outcome}"
    for part in named:
        assert part in outcome


class _Raising:
    """Raises whatever is asked of it, unless by a look at its type."""

    def _no(self, *_: Any) -> Any:
        raise RuntimeError("no")

    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = __bool__ = __float__ = __int__ = __index__ = _no
    __repr__ = __str__ = __format__ = __len__ = __iter__ = __getattr__ = __getitem__ = _no
    __hash__ = _no


class _ClassRaises:
    @property
    def __class__(self) -> Any:
        raise RuntimeError("no")

    @__class__.setter
    def __class__(self, _: Any) -> None:
        raise RuntimeError("no")


class _Pretends:
    """Says that it is of another class."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    @property
    def __class__(self) -> Any:
        return self._kind

    @__class__.setter
    def __class__(self, _: Any) -> None: ...


class _Metaclass(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("no")

    def __hash__(cls) -> int:
        raise RuntimeError("no")


class _Nameless(metaclass=_Metaclass):
    def __repr__(self) -> str:
        raise RuntimeError("no")


class _Liar(float):
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


class _OtherFloat(float):
    """A float whose __float__ is another."""

    def __float__(self) -> float:
        return _Liar("nan")


class _AnyString(str):
    def __eq__(self, _: object) -> bool:
        return True

    __hash__ = str.__hash__


class _RaisingString(str):
    def __eq__(self, _: object) -> bool:
        raise RuntimeError("no")

    def startswith(self, *_: Any) -> bool:
        raise RuntimeError("no")

    __hash__ = str.__hash__


class _RaisingDict(dict[Any, Any]):
    def _no(self, *_: Any) -> Any:
        raise RuntimeError("no")

    __iter__ = __len__ = __getitem__ = __contains__ = __bool__ = get = items = keys = _no
    __repr__ = _no


class _SameHash:
    """In a dict it is compared with `top_n_sigma`, and raises once the dict is made."""

    made = False

    def __hash__(self) -> int:
        return hash(N)

    def __eq__(self, _: object) -> bool:
        if self.made:
            raise RuntimeError("no")
        return False


class _LongName(_Raising):
    pass


_LongName.__name__ = 10_000 * "L"


class _SurrogateRepr:
    def __repr__(self) -> str:
        return "\ud800"


@Real.register
class _Third:
    def __float__(self) -> float:
        return 1 / 3


class _Policy(enum.StrEnum):
    EXCLUDE = "exclude"
    ZERO = "zero"


class _Number(enum.IntEnum):
    TWO = 2


def _raising_scalar() -> Any:
    array = np.empty((), dtype=object)
    array[()] = _Raising()
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
    "a registered Real": (_Third(), 1 / 3),
    "a float that lies": (_Liar(2.0), 2.0),
    "an enumerated integer": (_Number.TWO, 2.0),
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
    "raising": _Raising(),
    "raising inside": [{"n": _Raising()}],
    "class raises": _ClassRaises(),
    "pretends to be a float": _Pretends(float),
    "pretends to be a bool": _Pretends(bool),
    "pretends to be text": _Pretends(str),
    "metaclass raises": _Nameless(),
    "float that lies, nan": _Liar("nan"),
    "float that lies, zero": _Liar(0.0),
    "float whose float is another": _OtherFloat(2.0),
    "long name of its class": _LongName(),
    "repr with a surrogate": _SurrogateRepr(),
    "a class": float,
    "a function": max,
    "a generator": (n for n in [2.0]),
}

ODD_TEXT: dict[str, Any] = {
    "equal to every text": _AnyString("zero"),
    "comparison raises": _RaisingString("zero"),
    "enumerated": _Policy.ZERO,
    "numpy": np.str_("zero"),
    "bytes": b"exclude",
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_numbers_of_every_class_are_accepted(name: str) -> None:
    value, n = ACCEPTED[name]
    assert _outcome({N: value}) == RequestParameters(n=n)


@pytest.mark.filterwarnings("ignore:.*non-float:DeprecationWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_everything_else_is_a_value_error_that_names_the_key(name: str) -> None:
    _refused({N: REFUSED[name]}, "top_n_sigma must be a finite real number > 0", "got ")
    _refused({NEG_INF: REFUSED[name]}, "top_n_sigma_neg_inf must be 'noop' or 'exclude', got ")


@pytest.mark.parametrize("name", REFUSED)
def test_what_belongs_to_others_is_not_looked_at(name: str) -> None:
    assert _outcome({"other": REFUSED[name], N: 2.0}) == RequestParameters(n=2.0)
    assert _outcome({"other": REFUSED[name], N: np.float64(2)}) == RequestParameters(n=2.0)


@pytest.mark.parametrize("name", REFUSED)
def test_extra_args_that_are_something_else(name: str) -> None:
    value = REFUSED[name]
    if issubclass(type(value), dict):
        assert _outcome(value) == RequestParameters()
        return
    _refused(value, "extra_args must be a dict or None, got ")


@pytest.mark.parametrize("name", ODD_TEXT)
def test_a_policy_is_what_its_text_says(name: str) -> None:
    _refused({NEG_INF: ODD_TEXT[name]}, NEG_INF, "'noop' or 'exclude'")


@pytest.mark.parametrize("kind", [_AnyString, _RaisingString, np.str_, _Policy])
def test_a_policy_may_be_of_a_class_derived_from_str(kind: Callable[[str], Any]) -> None:
    assert _outcome({NEG_INF: kind("exclude")}) == RequestParameters(neg_inf="exclude")


@pytest.mark.parametrize("kind", [_AnyString, _RaisingString, np.str_])
def test_a_key_is_what_its_text_says(kind: Callable[[str], Any]) -> None:
    assert _outcome({kind(N): 2.0}) == RequestParameters(n=2.0)
    assert _outcome({kind("other"): 2.0, 1: N}) == RequestParameters()
    _refused({kind("top_n_sigma_"): 2.0}, "extra_args has no key", "'top_n_sigma_'")


def test_a_long_key_is_shortened() -> None:
    _refused({N + 10_000_000 * "a": 1.0}, "extra_args has no key 'top_n_sigmaaaa", "known are")
    _refused({N + "\ud800": 1.0}, r"'top_n_sigma\ud800'")


def test_keys_of_others_are_not_compared() -> None:
    key = _SameHash()
    others: dict[Any, Any] = {key: 1, (N,): -1, None: -1, math.nan: -1}
    ours = {N: 2.0, NEG_INF: "noop"}
    both, numpys = others | ours, others | {N: np.float64(2.0)}
    key.made = True
    assert _outcome(others) == RequestParameters()
    assert _outcome(both) == RequestParameters(2.0, "noop")
    # To put another n into a dict beside that key, it would have to be compared.
    _refused(numpys, "extra_args must have keys that can be compared")


@pytest.mark.parametrize(
    "mapping",
    [MappingProxyType({N: 2.0}), collections.UserDict({N: 2.0}), SimpleNamespace(top_n_sigma=2.0)],
)
def test_a_mapping_that_is_no_dict_is_refused(mapping: Any) -> None:
    _refused(mapping, "extra_args must be a dict or None")


def test_a_dict_that_answers_otherwise_is_read_as_it_is() -> None:
    assert _outcome(_RaisingDict({N: 2.0})) == RequestParameters(n=2.0)
    assert _outcome(collections.OrderedDict({N: 1})) == RequestParameters(n=1.0)
    counted: collections.defaultdict[str, float] = collections.defaultdict(float)
    assert _outcome(counted) == RequestParameters()
    assert not counted


class _Counting:
    """Counts what is asked of its instances."""

    asked = 0

    def __repr__(self) -> str:
        type(self).asked += 1
        return "c"

    def __lt__(self, _: object) -> bool:
        type(self).asked += 1
        return False


class _CountingList(list[Any]):
    pass


@pytest.mark.parametrize(
    "value",
    [
        [_Counting() for _ in range(10_000)],
        tuple(_Counting() for _ in range(10_000)),
        {_Counting() for _ in range(10_000)},
        frozenset(_Counting() for _ in range(10_000)),
        {_Counting(): _Counting() for _ in range(10_000)},
        _CountingList(_Counting() for _ in range(10_000)),
        collections.OrderedDict((i, _Counting()) for i in range(10_000)),
        collections.deque(_Counting() for _ in range(10_000)),
        [[[_Counting() for _ in range(100)] for _ in range(100)] for _ in range(10)],
    ],
    ids=lambda value: type(value).__name__,
)
def test_of_a_long_value_only_the_beginning_is_looked_at(value: Any) -> None:
    _Counting.asked = 0
    for extra_args in ({N: value}, {NEG_INF: value}):
        _refused(extra_args, "got ")
    assert _Counting.asked <= 500


def test_a_long_integer_is_not_written_out() -> None:
    """Python's own limit can be switched off, and it writes in the square of the digits."""
    written = []

    class Integer(int):
        def __repr__(self) -> str:
            written.append(self)
            return "1"

    for value in (10**100_000, Integer(10**100_000)):
        _refused({N: value}, "int of 332193 bits")
        _refused({N: [value]}, "int of 332193 bits")
    assert not written


_texts = st.text("n\0é\ud800\udfff'\\\n😀", max_size=8)
_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**400), 10**400)
    | st.floats()
    | _texts
    | st.sampled_from([5e-324, 2.0, "2.0", "exclude", "noop", json.loads("-1e400")])
)
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)
_keys = st.sampled_from([*REQUEST_KEYS, N + "s", "TOP_N_SIGMA", "top_n", ""]) | _texts


@settings(
    max_examples=1_000,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(extra_args=st.dictionaries(_keys, _values, max_size=4))
def test_whatever_json_can_say(extra_args: dict[str, Any]) -> None:
    sent = json.loads(json.dumps(extra_args))
    outcome = _outcome(sent)
    unknown = [key for key in sent if key.startswith(N) and key not in REQUEST_KEYS]
    number, policy = sent.get(N), sent.get(NEG_INF)
    good = not unknown and _is_n(number) and policy in (None, "noop", "exclude")
    if good:
        n = None if number is None else float(number)
        assert outcome == RequestParameters(n, policy)
    else:
        assert isinstance(outcome, str)


def _is_n(value: Any) -> bool:
    """TNS-1, for what JSON can say."""
    if value is None:
        return True
    if type(value) not in (int, float):
        return False
    # The nearest float64 is infinite from half a unit beyond the largest one.
    return 0 < value < 2**1024 - 2**970 and float(value) > 0
