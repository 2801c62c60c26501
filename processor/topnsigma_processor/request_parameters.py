"""What a request and the server's configuration may say about top-nσ, checked at the door.

Nothing here imports vLLM: the functions take what vLLM hands over, which is whatever a client sent.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, cast

from topnsigma_processor.parameter import short_repr, validated
from topnsigma_processor.top_n_sigma import NEG_INF_POLICIES

N_KEY = "top_n_sigma"
NEG_INF_KEY = "top_n_sigma_neg_inf"
REQUEST_KEYS = (N_KEY, NEG_INF_KEY)

# additional_config is shared with vLLM's platform plugins, so ours are kept under one key of it.
CONFIG_KEY = "top_n_sigma"
CONFIG_KEYS = ("neg_inf",)

Policy = Literal["noop", "exclude"]


class RequestParameters(NamedTuple):
    """What one request asks for. None stands for "not said": no top-nσ, the server's policy."""

    n: float | None = None
    neg_inf: Policy | None = None


def parse_extra_args(extra_args: object) -> RequestParameters:
    """Return what `SamplingParams.extra_args` (`vllm_xargs` over HTTP) says about top-nσ.

    Keys that do not begin with `top_n_sigma` belong to somebody else and are not looked at. A value
    of None counts as absent.

    Raises:
        ValueError: `top_n_sigma` is not in the domain of TNS-1, `top_n_sigma_neg_inf` is no policy,
            a key that begins with `top_n_sigma` is unknown, or `extra_args` is no mapping. The
            message names the key, the value and what is accepted.
    """
    if extra_args is None:
        return RequestParameters()
    if not isinstance(extra_args, Mapping):
        raise ValueError(f"extra_args must be a dict or None, got {short_repr(extra_args)}")
    _refuse_unknown(extra_args, REQUEST_KEYS, "extra_args")
    return RequestParameters(
        n=validated(extra_args.get(N_KEY), N_KEY),
        neg_inf=_policy(extra_args.get(NEG_INF_KEY), NEG_INF_KEY),
    )


def parse_additional_config(additional_config: object) -> Policy:
    """Return the policy of requests that do not choose one, from vLLM's `additional_config`.

    It is written `{"top_n_sigma": {"neg_inf": "exclude"}}`; without it, "noop".

    Raises:
        ValueError: the value of "top_n_sigma" is no mapping, or holds an unknown key or policy; or
            another key of `additional_config` begins with "top_n_sigma".
    """
    # Platforms may put an object of their own there: then it says nothing about us.
    if not isinstance(additional_config, Mapping):
        return "noop"
    _refuse_unknown(additional_config, (CONFIG_KEY,), "additional_config")
    ours = additional_config.get(CONFIG_KEY)
    if ours is None:
        return "noop"
    name = f"additional_config[{CONFIG_KEY!r}]"
    if not isinstance(ours, Mapping):
        raise ValueError(
            f"{name} must be a dict with the keys {_listed(CONFIG_KEYS)}, got {short_repr(ours)}"
        )
    for key in ours:
        if key not in CONFIG_KEYS:
            raise ValueError(
                f"{name} has no key {short_repr(key)}; known are {_listed(CONFIG_KEYS)}"
            )
    return _policy(ours.get("neg_inf"), f"{name}['neg_inf']") or "noop"


def _refuse_unknown(given: Mapping[object, object], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if isinstance(key, str) and key.startswith(N_KEY) and key not in known:
            raise ValueError(f"{where} has no key {short_repr(key)}; known are {_listed(known)}")


def _policy(value: object, name: str) -> Policy | None:
    if value is None:
        return None
    if isinstance(value, str) and value in NEG_INF_POLICIES:
        return cast(Policy, value)
    accepted = " or ".join(repr(policy) for policy in NEG_INF_POLICIES)
    raise ValueError(f"{name} must be {accepted}, got {short_repr(value)}")


def _listed(keys: tuple[str, ...]) -> str:
    return ", ".join(repr(key) for key in keys)
