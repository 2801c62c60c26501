"""What a request and the server's configuration may say about top-nσ, checked at the door.

Nothing here imports vLLM: the functions take what vLLM hands over, which is whatever a client sent.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, cast

from topnsigma_processor.parameter import validated
from topnsigma_processor.short_repr import short_repr
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
            a key that begins with `top_n_sigma` is unknown, or `extra_args` is no dict. The
            message names the key, the value (long ones shortened) and what is accepted. Nothing
            else is raised, whatever `extra_args` holds.
    """
    if extra_args is None:
        return RequestParameters()
    # Not isinstance, and dict's own items: a client in this process can hand over an object whose
    # class answers as it likes, or raises.
    if not issubclass(type(extra_args), dict):
        raise ValueError(f"extra_args must be a dict or None, got {short_repr(extra_args)}")
    entries = dict.items(cast(dict[object, object], extra_args))
    ours = _ours(entries, REQUEST_KEYS, "extra_args")
    return RequestParameters(
        n=validated(ours.get(N_KEY), N_KEY),
        neg_inf=_policy(ours.get(NEG_INF_KEY), NEG_INF_KEY),
    )


def plain_extra_args(extra_args: object) -> object:
    """Return `extra_args` such that what they say about top-nσ can be sent to another process.

    TNS-1 accepts numbers of every class, numpy's for one. vLLM can send Python's own only, and
    raises TypeError for others, after admission. So, if need be, the result is an equal dict with n
    as float and the rest of ours as str.

    Raises:
        ValueError: see `parse_extra_args`; or other keys can't be put into a new dict.
    """
    requested = parse_extra_args(extra_args)
    if extra_args is None:
        return None
    entries = dict.items(cast(dict[object, object], extra_args))
    plain = {N_KEY: requested.n, NEG_INF_KEY: requested.neg_inf}
    if all(
        type(key) is str and type(value) is type(plain[key])
        for key, value in entries
        if _own_key(key) is not None
    ):
        return extra_args
    try:
        return {
            _own_key(key) or key: plain.get(_own_key(key) or "", value) for key, value in entries
        }
    except Exception as error:  # `__hash__` and `__eq__` of the keys of others
        raise ValueError(
            f"extra_args must have keys that can be compared, got {short_repr(extra_args)}"
        ) from error


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
    entries = additional_config.items()
    ours = _ours(entries, (CONFIG_KEY,), "additional_config").get(CONFIG_KEY)
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


def _ours(
    entries: Iterable[tuple[object, object]], known: tuple[str, ...], where: str
) -> dict[str, object]:
    """The entries whose keys begin with `top_n_sigma`, under plain strings.

    Keys of others are not compared with anything: their `__eq__` and `__hash__` are not ours.
    """
    ours: dict[str, object] = {}
    for key, value in entries:
        text = _own_key(key)
        if text is not None:
            ours[text] = value
    for text in ours:
        if text not in known:
            raise ValueError(f"{where} has no key {short_repr(text)}; known are {_listed(known)}")
    return ours


def _own_key(key: object) -> str | None:
    """The key as a plain string if it begins with `top_n_sigma`, else None."""
    if not issubclass(type(key), str):
        return None
    text = str.__str__(cast(str, key))
    return text if text.startswith(N_KEY) else None


def _policy(value: object, name: str) -> Policy | None:
    if value is None:
        return None
    if issubclass(type(value), str):
        text = str.__str__(cast(str, value))
        if text in NEG_INF_POLICIES:
            return cast(Policy, text)
    accepted = " or ".join(repr(policy) for policy in NEG_INF_POLICIES)
    raise ValueError(f"{name} must be {accepted}, got {short_repr(value)}")


def _listed(keys: tuple[str, ...]) -> str:
    return ", ".join(repr(key) for key in keys)
