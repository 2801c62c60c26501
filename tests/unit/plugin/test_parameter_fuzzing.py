"""Whatever JSON or Python can put into extra_args is accepted or a ValueError, in a short time."""

import collections
import json
import math
import pickle
from collections.abc import Callable
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unit.plugin.unruly_values import (
    ACCEPTED,
    ODD_TEXT,
    REFUSED,
    AnyString,
    Policy,
    RaisingDict,
    RaisingString,
    SameHash,
)

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


@pytest.mark.parametrize("kind", [AnyString, RaisingString, np.str_, Policy])
def test_a_policy_may_be_of_a_class_derived_from_str(kind: Callable[[str], Any]) -> None:
    assert _outcome({NEG_INF: kind("exclude")}) == RequestParameters(neg_inf="exclude")


@pytest.mark.parametrize("kind", [AnyString, RaisingString, np.str_])
def test_a_key_is_what_its_text_says(kind: Callable[[str], Any]) -> None:
    assert _outcome({kind(N): 2.0}) == RequestParameters(n=2.0)
    assert _outcome({kind("other"): 2.0, 1: N}) == RequestParameters()
    _refused({kind("top_n_sigma_"): 2.0}, "extra_args has no key", "'top_n_sigma_'")


def test_a_long_key_is_shortened() -> None:
    _refused({N + 10_000_000 * "a": 1.0}, "extra_args has no key 'top_n_sigmaaaa", "known are")
    _refused({N + "\ud800": 1.0}, r"'top_n_sigma\ud800'")


def test_keys_of_others_are_not_compared() -> None:
    key = SameHash()
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
    assert _outcome(RaisingDict({N: 2.0})) == RequestParameters(n=2.0)
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
