"""TNS-1 at the server's door: what is accepted, and what an error says."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from topnsigma_processor.request_parameters import (
    RequestParameters,
    parse_additional_config,
    parse_extra_args,
)


@pytest.mark.parametrize(
    ("extra_args", "expected"),
    [
        (None, RequestParameters()),
        ({}, RequestParameters()),
        ({"top_n_sigma": None}, RequestParameters()),
        ({"top_n_sigma": None, "top_n_sigma_neg_inf": None}, RequestParameters()),
        ({"top_n_sigma": 2}, RequestParameters(n=2.0)),
        ({"top_n_sigma": 5e-324}, RequestParameters(n=5e-324)),
        ({"top_n_sigma": 1.7e308}, RequestParameters(n=1.7e308)),
        ({"top_n_sigma": Fraction(1, 3)}, RequestParameters(n=1 / 3)),
        ({"top_n_sigma": 10**30}, RequestParameters(n=1e30)),
        ({"top_n_sigma_neg_inf": "exclude"}, RequestParameters(neg_inf="exclude")),
        (
            {"top_n_sigma": 1.5, "top_n_sigma_neg_inf": "noop"},
            RequestParameters(n=1.5, neg_inf="noop"),
        ),
        # Keys of others, some of them near: nothing to do with us.
        ({"kv_transfer_params": {"a": 1}, "top_n": 3, "n_sigma": -1, 7: 8}, RequestParameters()),
    ],
)
def test_what_a_request_may_say(extra_args: Any, expected: RequestParameters) -> None:
    assert parse_extra_args(extra_args) == expected


def test_n_is_kept_in_double_precision() -> None:
    assert parse_extra_args({"top_n_sigma": 0.1}).n == 0.1


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        0,
        0.0,
        -0.0,
        -1,
        -1.5,
        math.nan,
        math.inf,
        -math.inf,
        10**400,
        Fraction(1, 10**400),
        "2.0",
        "",
        b"2",
        [2.0],
        (2.0,),
        {"n": 2.0},
        2.0 + 0j,
        Decimal(2),
        object(),
    ],
)
def test_a_bad_n_is_an_error_that_names_key_value_and_accepted(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^top_n_sigma must be a finite real number > 0") as error:
        parse_extra_args({"top_n_sigma": value})
    assert repr(value)[:60] in str(error.value)


def test_an_n_without_a_repr_is_an_error_all_the_same() -> None:
    with pytest.raises(ValueError, match="top_n_sigma must be"):
        parse_extra_args({"top_n_sigma": 10**5000})


@pytest.mark.parametrize("value", ["", "Exclude", "exclude ", "zero", 1, True, ["noop"], {}])
def test_a_bad_policy_is_an_error_that_names_key_value_and_accepted(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^top_n_sigma_neg_inf must be") as error:
        parse_extra_args({"top_n_sigma": 1.0, "top_n_sigma_neg_inf": value})
    for part in ("'noop'", "'exclude'", repr(value)):
        assert part in str(error.value)


def test_a_bad_policy_is_an_error_without_n_too() -> None:
    with pytest.raises(ValueError, match="top_n_sigma_neg_inf"):
        parse_extra_args({"top_n_sigma_neg_inf": "zero"})


@pytest.mark.parametrize("key", ["top_n_sigma_neginf", "top_n_sigma_", "top_n_sigmas"])
def test_an_unknown_key_of_ours_is_an_error_that_names_the_known_ones(key: str) -> None:
    with pytest.raises(ValueError, match="extra_args has no key") as error:
        parse_extra_args({"top_n_sigma": 1.0, key: "exclude"})
    for part in (repr(key), "'top_n_sigma'", "'top_n_sigma_neg_inf'"):
        assert part in str(error.value)


@pytest.mark.parametrize("extra_args", ["top_n_sigma", 2.0, [("top_n_sigma", 2.0)]])
def test_extra_args_that_are_no_dict_are_an_error(extra_args: Any) -> None:
    with pytest.raises(ValueError, match="extra_args must be a dict"):
        parse_extra_args(extra_args)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (None, "noop"),
        ({}, "noop"),
        (object(), "noop"),
        ({"another_platform": {"neg_inf": 1}}, "noop"),
        ({"top_n_sigma": None}, "noop"),
        ({"top_n_sigma": {}}, "noop"),
        ({"top_n_sigma": {"neg_inf": "noop"}}, "noop"),
        ({"top_n_sigma": {"neg_inf": "exclude"}, "other": 1}, "exclude"),
    ],
)
def test_what_the_server_may_be_configured_with(config: Any, expected: str) -> None:
    assert parse_additional_config(config) == expected


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"top_n_sigma": "exclude"}, ("additional_config['top_n_sigma']", "'exclude'", "dict")),
        ({"top_n_sigma": {"neg_inf": "zero"}}, ("['neg_inf']", "'zero'", "'noop' or 'exclude'")),
        ({"top_n_sigma": {"neg_inf": True}}, ("['neg_inf']", "True", "'noop' or 'exclude'")),
        ({"top_n_sigma": {"n": 2.0}}, ("'n'", "'neg_inf'")),
        ({"top_n_sigma": {"neg_inf": "noop", 1: 2}}, ("1", "'neg_inf'")),
        ({"top_n_sigma_neg_inf": "exclude"}, ("'top_n_sigma_neg_inf'", "'top_n_sigma'")),
    ],
)
def test_a_bad_configuration_is_an_error_that_names_what_is_known(
    config: Any, named: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match="additional_config") as error:
        parse_additional_config(config)
    for part in named:
        assert part in str(error.value)
