"""Texts sampled from SmolLM2 in batches, at any temperature and under any truncation.

An engine's sampler with two differences: temperatures above the 2 that engines admit are possible,
and what every step did is recorded. The order is that of engines: top-nσ sees the logits as they
come from the model, the other truncations see them divided by the temperature.
"""

import dataclasses
import math
import zlib
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import truncations
from smollm2 import Array, SmolLM2

_Mask = npt.NDArray[np.bool_]

STOPS = ("<|endoftext|>", "<|im_end|>")
"""Tokens that end a text."""


@dataclasses.dataclass(frozen=True)
class Method:
    """A way to choose the next token.

    Attributes:
        name: as in tables, ``min_p 0.05`` for example.
        keep: scaled logits [B, V] to the tokens [B, V] that stay; None where all do.
        scaled: whether ``keep`` gets logits that were divided by the temperature.
        greedy: whether the largest logit is taken; neither temperature nor seed matters then.
    """

    name: str
    keep: Callable[[Array], _Mask] | None = None
    scaled: bool = True
    greedy: bool = False


METHODS = (
    Method("plain"),
    Method("top_k 40", lambda logits: truncations.top_k(logits, 40)),
    Method("top_p 0.9", lambda logits: truncations.top_p(logits, 0.9)),
    Method("min_p 0.05", lambda logits: truncations.min_p(logits, 0.05)),
    Method("min_p 0.1", lambda logits: truncations.min_p(logits, 0.1)),
    Method("top_n_sigma 0.7", lambda logits: truncations.top_n_sigma(logits, 0.7), scaled=False),
    Method("top_n_sigma 1", lambda logits: truncations.top_n_sigma(logits, 1.0), scaled=False),
    Method("top_n_sigma 1.5", lambda logits: truncations.top_n_sigma(logits, 1.5), scaled=False),
    Method("greedy", greedy=True),
)


@dataclasses.dataclass(frozen=True)
class Request:
    """A prompt to continue.

    Attributes:
        name: of the prompt; the random numbers of a text depend on it and on no other prompt.
        ids: its tokens, one at least.
        limit: the most tokens to generate, one at least.
        end: the text ends with the first token that holds this string; empty: with no such token.
    """

    name: str
    ids: tuple[int, ...]
    limit: int
    end: str = ""


@dataclasses.dataclass
class Text:
    """What was generated.

    Attributes:
        ids: the tokens, without the one of ``STOPS`` that ended the text.
        stopped: whether such a token or the request's ``end`` ended it, and not the limit.
        log_likelihoods: natural logarithm of the probability of each token, a stop token included,
            under the whole distribution of the model at temperature 1.
        candidates: how many tokens could have been chosen, at each of these steps.
    """

    ids: list[int] = dataclasses.field(default_factory=list)
    stopped: bool = False
    log_likelihoods: list[float] = dataclasses.field(default_factory=list)
    candidates: list[int] = dataclasses.field(default_factory=list)


class Prefix:
    """Requests with the keys and values of their prompts, computed once and copied for each use.

    Prompts stand left-padded to the longest, so that all generate at the same position; padding is
    never seen, and the rotary embedding depends on distances alone.
    """

    def __init__(self, model: SmolLM2, requests: Sequence[Request]) -> None:
        if not requests or not all(request.ids and request.limit > 0 for request in requests):
            raise ValueError(
                f"requests must hold one at least, each with tokens and a limit > 0; got {requests}"
            )
        self.model, self.requests = model, tuple(requests)
        self.length = max(len(request.ids) for request in requests)
        self.size = self.length + max(request.limit for request in requests)
        ids = np.zeros((len(requests), self.length), np.int64)
        for row, request in zip(ids, requests, strict=True):
            row[self.length - len(request.ids) :] = request.ids
        padding = self.length - np.array([len(request.ids) for request in requests])
        query, key = np.indices((self.size, self.size))
        # Padding sees itself, or its softmax would be 0/0.
        visible = (key == query) | ((key < query) & (key >= padding[:, None, None]))
        self.hidden: Array = np.where(visible, np.float32(0), np.float32(-np.inf))
        shape = (model.layers, 2, len(requests), model.kv_heads, self.length, model.head_size)
        self.cache = np.zeros(shape, np.float32)
        self.logits = np.ascontiguousarray(model.forward(ids, 0, self.hidden, self.cache))

    def generate(self, method: Method, temperature: float, seed: int) -> list[Text]:
        """A text for each request.

        A text depends on its prompt, the three arguments and the machine's arithmetic, not on the
        other requests: its random numbers are its own. What they can change is the rounding of the
        logits, in about the sixth digit, which moves a token once in a hundred thousand or so.
        Raises ValueError unless ``temperature`` is a finite number > 0.
        """
        if not (0 < temperature < math.inf):
            raise ValueError(f"temperature must be a finite number > 0; got {temperature!r}")
        texts = [Text() for _ in self.requests]
        draws = [_draws(request, method, temperature, seed) for request in self.requests]
        stops = {self.model.tokenizer.ids[stop] for stop in STOPS}
        room = [(0, 0)] * 4 + [(0, self.size - self.length), (0, 0)]
        logits, hidden, cache = self.logits, self.hidden.copy(), np.pad(self.cache, room)
        rows = list(range(len(texts)))
        for step in range(self.size - self.length):
            uniforms = np.array([draws[row][step] for row in rows])
            chosen, candidates = choose(logits, method, temperature, uniforms)
            likelihoods = log_likelihoods(logits, chosen)
            done = []
            for at, row in enumerate(rows):
                text, token = texts[row], int(chosen[at])
                text.log_likelihoods.append(float(likelihoods[at]))
                text.candidates.append(int(candidates[at]))
                request, text.stopped = self.requests[row], token in stops
                if not text.stopped:
                    text.ids.append(token)
                    end = request.end
                    text.stopped = bool(end) and end in self.model.tokenizer.decode([token])
                if text.stopped or len(text.ids) == request.limit:
                    done.append(at)
            # The last row takes the place of one that is done: to copy all of them is slow.
            for at in reversed(done):
                last = rows.pop()
                if at < len(rows):
                    rows[at], chosen[at] = last, chosen[len(rows)]
                    hidden[at], cache[:, :, at] = hidden[len(rows)], cache[:, :, len(rows)]
            if not rows:
                break
            ids, alive = chosen[: len(rows), None], slice(len(rows))
            step_logits = self.model.forward(
                ids, self.length + step, hidden[alive], cache[:, :, alive]
            )
            # Columns lie together in what the product returns, and all that follows goes by rows.
            logits = np.ascontiguousarray(step_logits)
        return texts


def choose(
    logits: Array, method: Method, temperature: float, uniforms: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The next tokens [B] after ``logits`` [B, V], and how many were possible [B].

    ``uniforms`` [B] in [0, 1) decide: the first token in vocabulary order at which the cumulative
    probability exceeds that of the row.
    """
    if method.greedy:
        return logits.argmax(axis=1), np.ones(len(logits), np.int64)
    scaled = logits / np.float32(temperature)
    kept = np.ones(logits.shape, bool)
    if method.keep is not None:
        kept = method.keep(scaled if method.scaled else logits)
    chosen = np.empty(len(logits), np.int64)
    for row, uniform in enumerate(uniforms):
        tokens = np.flatnonzero(kept[row])
        weights = np.exp(scaled[row, tokens] - scaled[row].max())
        cumulative = np.cumsum(weights, dtype=np.float64)
        at = np.searchsorted(cumulative, uniform * cumulative[-1], side="right")
        # The product can round up to the total.
        chosen[row] = tokens[min(at, len(tokens) - 1)]
    return chosen, kept.sum(axis=1)


def log_likelihoods(logits: Array, chosen: npt.NDArray[np.int64]) -> Array:
    """[B]: natural logarithm of the softmax of ``logits`` [B, V] at ``chosen`` [B]."""
    top = logits.max(axis=1, keepdims=True)
    totals = np.exp(logits - top).sum(axis=1)
    picked = np.take_along_axis(logits, chosen[:, None], axis=1)
    found: Array = (picked - top)[:, 0] - np.log(totals)
    return found


def _draws(
    request: Request, method: Method, temperature: float, seed: int
) -> npt.NDArray[np.float64]:
    names = [zlib.crc32(name.encode()) for name in (request.name, method.name)]
    key = [seed, *names, round(temperature * 1000)]
    return np.random.default_rng(key).random(request.limit)
