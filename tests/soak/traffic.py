"""The requests of a soak: kinds, in a mix drawn from a seed, as bodies of HTTP requests."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

from engine.bad_bodies import bad_bodies
from engine.features import FEATURES, MIN_TOKENS, REGEX, SCHEMA
from engine.known_rows import Setting

WATCHED = "watched-"
"""How the ids begin of requests whose rows the server keeps; the request's index follows."""

SLOTS = 16
"""Requests that the server runs at once."""

_BAD = list(bad_bodies())
_BAD_EVERY = 5
_NS = (1e-9, 0.3, 0.5, 1, 1.5, 2.0, 3.5, 1e300)
_KINDS = {
    "without n": 4,
    "n": 4,
    "exclude": 3,
    "greedy": 2,
    "other samplers": 5,
    "several choices": 2,
    "structured output": 2,
    "chat": 2,
}
_LEAVING = {"": 6, "disconnects": 1, "cancels": 1}
_LONGEST_PATIENCE = 0.3
"""Seconds after which a request is cancelled at the latest."""


@dataclasses.dataclass(frozen=True)
class Planned:
    """One request.

    Attributes:
        index: which of the soak's.
        kind: one of the mix, or "bad".
        path, body: of the HTTP request.
        streams: whether the answer comes as events.
        setting: what the processor has to apply; None if nothing.
        leaves: "" if it stays to the end; "disconnects" after the first event of a stream;
            "cancels" after `patience` seconds.
        watched: whether the server keeps its rows.
    """

    index: int
    kind: str
    path: str
    body: str
    streams: bool = False
    setting: Setting = None
    leaves: str = ""
    patience: float = 0.0
    watched: bool = False

    @property
    def bad(self) -> bool:
        """Whether it has to be answered with 400."""
        return self.kind == "bad"


def traffic(seed: int, watched: int) -> Iterator[Planned]:
    """Requests without end, the same ones for the same arguments.

    Args:
        seed: of every choice.
        watched: one in so many is watched, of the good ones that can be.
    """
    rng = random.Random(seed)
    for index in itertools.count():
        if index % _BAD_EVERY == _BAD_EVERY - 1:
            yield _bad(rng, index)
        else:
            yield _good(rng, index, watched)


def of_all_slots() -> str:
    """The body of a request that has not opted in and takes every slot at once."""
    body = {"model": "tiny", "prompt": "abc", "n": SLOTS, "max_tokens": 8, "ignore_eos": True}
    return json.dumps(body)


def _bad(rng: random.Random, index: int) -> Planned:
    path, body = rng.choice(_BAD)
    streams = rng.random() < 0.5
    if streams:
        body = body.replace('"max_tokens": 1', '"max_tokens": 1, "stream": true', 1)
    return Planned(index, "bad", path, body, streams)


def _good(rng: random.Random, index: int, watched: int) -> Planned:
    kind = _drawn(rng, _KINDS)
    leaves = _drawn(rng, _LEAVING)
    body: dict[str, Any] = {
        "model": "tiny",
        "prompt": "".join(rng.choices("abcdefgh", k=rng.randint(1, 40))),
        "temperature": rng.choice((0.7, 1.0, 2.0)),
        "max_tokens": rng.randint(20, 60) if leaves else rng.randint(MIN_TOKENS, 12),
        "seed": rng.randrange(1 << 31),
    }
    n: float | None = rng.choice(_NS)
    policy = rng.choice((None, "noop", "exclude"))
    if kind == "without n":
        n = policy = None
    elif kind == "exclude":
        policy = "exclude"
        body |= rng.choice(({}, FEATURES["min_tokens"].options, FEATURES["bad_words"].options))
    elif kind == "greedy":
        body["temperature"] = 0.0
    elif kind == "other samplers":
        body |= rng.choice(list(FEATURES.values())).options
    elif kind == "several choices":
        body["n"] = rng.randint(2, 4)
    elif kind == "structured output":
        body["structured_outputs"] = rng.choice(({"regex": REGEX}, {"json": SCHEMA}))
    arguments: dict[str, Any] = {"others": index}
    if n is not None:
        arguments["top_n_sigma"] = n
    if policy is not None:
        arguments["top_n_sigma_neg_inf"] = policy
    streams = leaves == "disconnects" or rng.random() < 0.5
    body |= {"vllm_xargs": arguments, "stream": streams}
    path = "/v1/completions"
    is_watched = rng.randrange(watched) == 0
    if kind == "chat":
        path = "/v1/chat/completions"
        body["messages"] = [{"role": "user", "content": body.pop("prompt")}]
    body["return_token_ids"] = is_watched
    return Planned(
        index,
        kind,
        path,
        json.dumps(body),
        streams,
        None if n is None or kind == "greedy" else (n, policy or "noop"),
        leaves,
        rng.uniform(0.0, _LONGEST_PATIENCE),
        is_watched,
    )


def _drawn(rng: random.Random, weights: dict[str, int]) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]
