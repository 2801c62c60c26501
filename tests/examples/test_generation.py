"""The sampling loop: what stops a text, what chooses a token, and that rows are independent."""

import generation
import numpy as np
import numpy.typing as npt
import pytest
from generation import METHODS, Method, Prefix, Request
from smollm2 import Array, SmolLM2, Tokenizer

_BY_NAME = {method.name: method for method in METHODS}
_PLAIN, _GREEDY = _BY_NAME["plain"], _BY_NAME["greedy"]
_VOCABULARY = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *map(chr, range(33, 127)))


class _Random(SmolLM2):
    """SmolLM2's architecture with random weights: two layers, 97 tokens."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.tokenizer = Tokenizer(list(_VOCABULARY), [])
        self.heads, self.kv_heads, self.head_size, self.layers = 3, 1, 16, 2
        self.epsilon, self.rope_base = 1e-5, 1e4
        width, inner = 48, 96
        shapes = {
            "attn_q": (48, width),
            "attn_k": (16, width),
            "attn_v": (16, width),
            "attn_output": (width, 48),
            "ffn_gate": (inner, width),
            "ffn_up": (inner, width),
            "ffn_down": (width, inner),
        }
        self.weights = {
            f"blk.{layer}.{name}.weight": _normal(rng, shape)
            for layer in range(self.layers)
            for name, shape in shapes.items()
        }
        for layer in range(self.layers):
            for name in ("attn_norm", "ffn_norm"):
                self.weights[f"blk.{layer}.{name}.weight"] = np.ones(width, np.float32)
        self.weights["output_norm.weight"] = np.ones(width, np.float32)
        self.weights["token_embd.weight"] = 4 * _normal(rng, (len(_VOCABULARY), width))


def _normal(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    drawn: Array = rng.standard_normal(shape, np.float32) / np.float32(shape[1] ** 0.5)
    return drawn


@pytest.fixture(scope="module")
def model() -> SmolLM2:
    return _Random()


def _requests(model: SmolLM2, least: int = 5) -> list[Request]:
    """Their limits differ, so that texts leave the batch one after another, not in its order."""
    texts = ("a", "hello,", "12345678", "!", "<|im_start|>user", "zzzzzz", "(a+b)", "Q")
    return [
        Request(text, tuple(model.tokenizer.encode(text)), least + 3 * at % 8)
        for at, text in enumerate(texts)
    ]


def _alone(model: SmolLM2, ids: list[int]) -> Array:
    """Logits [V] after ``ids``, with nothing before or beside them and no cache to begin with."""
    size = len(ids)
    hidden = np.where(np.tri(size, dtype=bool), np.float32(0), np.float32(-np.inf))[None]
    shape = (model.layers, 2, 1, model.kv_heads, size, model.head_size)
    row: Array = model.forward(np.array([ids]), 0, hidden, np.zeros(shape, np.float32))[0]
    return row


def test_greedy_is_a_loop_of_argmax(model: SmolLM2) -> None:
    requests = _requests(model)
    stops = {model.tokenizer.ids[stop] for stop in generation.STOPS}
    for request, text in zip(
        requests, Prefix(model, requests).generate(_GREEDY, 1.0, 0), strict=True
    ):
        expected: list[int] = []
        while len(expected) < request.limit:
            token = int(_alone(model, [*request.ids, *expected]).argmax())
            if token in stops:
                break
            expected.append(token)
        assert text.ids == expected
        assert len(expected) > 1
        assert set(text.candidates) == {1}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_text_does_not_depend_on_the_others(model: SmolLM2, method: Method) -> None:
    """Bits of logits may differ in the last digits: what they move here is far below a draw's gap.

    Eight texts of five to twelve tokens by nine methods are 612 draws, each of which moves if it
    lies within 1e-6 or so of a boundary: one seed in a thousand would fail, and always the same.
    """
    requests = _requests(model)
    together = Prefix(model, requests).generate(method, 1.5, 7)
    shuffled = Prefix(model, requests[::-1]).generate(method, 1.5, 7)[::-1]
    for request, text, other in zip(requests, together, shuffled, strict=True):
        (single,) = Prefix(model, [request]).generate(method, 1.5, 7)
        assert text.ids == single.ids == other.ids
        assert text.candidates == single.candidates == other.candidates
        np.testing.assert_allclose(text.log_likelihoods, single.log_likelihoods, atol=1e-3)


def test_each_of_the_arguments_changes_the_draws(model: SmolLM2) -> None:
    prefix = Prefix(model, _requests(model))
    base = [text.ids for text in prefix.generate(_PLAIN, 3.0, 0)]
    assert base == [text.ids for text in prefix.generate(_PLAIN, 3.0, 0)]
    assert base != [text.ids for text in prefix.generate(_PLAIN, 3.0, 1)]
    # 1e-9 changes no logit, but the key of the random numbers is of thousandths.
    assert base == [text.ids for text in prefix.generate(_PLAIN, 3.0 + 1e-9, 0)]
    assert base != [text.ids for text in prefix.generate(_PLAIN, 3.001, 0)]
    assert base != [text.ids for text in prefix.generate(Method("another"), 3.0, 0)]
    twins = [Request(name, _requests(model)[0].ids, 12) for name in "ab"]
    one, other = Prefix(model, twins).generate(_PLAIN, 3.0, 0)
    assert one.ids != other.ids


def test_likelihoods_are_of_the_whole_distribution_at_temperature_one(model: SmolLM2) -> None:
    requests = _requests(model, least=1)
    texts = Prefix(model, requests).generate(_BY_NAME["top_n_sigma 1"], 3.0, 0)
    for request, text in zip(requests, texts, strict=True):
        for at, token in enumerate(text.ids):
            row = _alone(model, [*request.ids, *text.ids[:at]]).astype(np.float64)
            expected = row[token] - np.log(np.exp(row - row.max()).sum()) - row.max()
            assert text.log_likelihoods[at] == pytest.approx(expected, abs=1e-3)


class _Scripted(SmolLM2):
    """After each token comes the one with the next id, and after the last the first."""

    def __init__(self) -> None:
        self.tokenizer = Tokenizer(list(_VOCABULARY), [])
        self.kv_heads = self.layers = self.head_size = 1

    def forward(self, ids: npt.NDArray[np.int64], start: int, hidden: Array, cache: Array) -> Array:
        assert len(ids) == len(hidden) == cache.shape[2]
        following = (ids[:, -1] + 1) % len(_VOCABULARY)
        return 50 * np.eye(len(_VOCABULARY), dtype=np.float32)[following]


def test_stop_tokens_stop_and_the_limit_does() -> None:
    model = _Scripted()
    ids = model.tokenizer.ids
    requests = [
        Request("to the end of the text", (ids["|"],), 9),
        Request("to the end of the turn", (ids["<|im_start|>"],), 9),
        Request("to the limit", (ids["a"],), 3),
        Request("to a token that holds the string", (ids["a"],), 9, end="d"),
        Request("at once", (ids["~"],), 9),
    ]
    texts = Prefix(model, requests).generate(_PLAIN, 1.0, 0)
    assert [model.tokenizer.decode(text.ids) for text in texts] == ["}~", "", "bcd", "bcd", ""]
    assert [text.stopped for text in texts] == [True, True, False, True, True]
    assert [len(text.candidates) for text in texts] == [3, 1, 3, 3, 1]
    assert [len(text.log_likelihoods) for text in texts] == [3, 1, 3, 3, 1]


def test_tokens_come_as_often_as_the_softmax_says() -> None:
    logits = np.log(np.array([[1, 2, 3, 4]], np.float32))
    draws = (np.arange(1000) + 0.5) / 1000
    rows = np.repeat(logits, len(draws), axis=0)
    for temperature in (1.0, 2.0):
        chosen, candidates = generation.choose(rows, _PLAIN, temperature, draws)
        weights = np.array([1, 2, 3, 4]) ** (1 / temperature)
        counts = np.bincount(chosen, minlength=4)
        np.testing.assert_allclose(counts, 1000 * weights / weights.sum(), atol=1)
        assert set(candidates.tolist()) == {4}


def test_what_is_not_kept_is_never_chosen() -> None:
    rows = np.random.default_rng(0).standard_normal((200, 50)).astype(np.float32)
    draws = np.r_[0.0, np.nextafter(1.0, 0.0), np.linspace(0, 0.999, 198)]
    for method in METHODS:
        if method.keep is None:
            continue
        chosen, candidates = generation.choose(rows, method, 1.5, draws)
        kept = method.keep(rows / np.float32(1.5) if method.scaled else rows)
        assert kept[np.arange(200), chosen].all()
        np.testing.assert_array_equal(candidates, kept.sum(axis=1))


def test_what_has_no_probability_is_never_chosen() -> None:
    rows = np.array([[-200, 0, -200]], np.float32).repeat(2, axis=0)
    draws = np.array([0.0, np.nextafter(1.0, 0.0)])
    assert generation.choose(rows, _PLAIN, 1.0, draws)[0].tolist() == [1, 1]


def test_top_n_sigma_alone_cuts_before_temperature() -> None:
    seen: list[Array] = []

    def keep(logits: Array) -> npt.NDArray[np.bool_]:
        seen.append(logits)
        return np.ones(logits.shape, bool)

    rows = np.array([[1, 2, 3]], np.float32)
    for scaled in (False, True):
        generation.choose(rows, Method("any", keep, scaled), 2.0, np.zeros(1))
    np.testing.assert_array_equal(seen, [rows, rows / 2])
    before = [method.name for method in METHODS if not method.scaled]
    assert before == ["top_n_sigma 0.7", "top_n_sigma 1", "top_n_sigma 1.5"]


def test_top_n_sigma_keeps_the_same_at_every_temperature_and_the_others_do_not() -> None:
    rows = 3 * np.random.default_rng(1).standard_normal((64, 500)).astype(np.float32)
    draws = np.zeros(64)
    for method in METHODS:
        cool, hot = (generation.choose(rows, method, t, draws)[1].sum() for t in (0.7, 3.0))
        varies = method.name.startswith(("min_p", "top_p"))
        assert (cool != hot) == varies, method.name


@pytest.mark.parametrize("temperature", [0, -1.0, float("nan"), float("inf")])
def test_a_temperature_that_is_none_is_refused(model: SmolLM2, temperature: float) -> None:
    prefix = Prefix(model, _requests(model))
    with pytest.raises(ValueError, match="temperature must be a finite number > 0; got"):
        prefix.generate(_PLAIN, temperature, 0)


@pytest.mark.parametrize("requests", [[], [Request("a", (), 1)], [Request("a", (5,), 0)]])
def test_a_request_without_tokens_or_room_is_refused(
    model: SmolLM2, requests: list[Request]
) -> None:
    with pytest.raises(ValueError, match="requests must hold one at least"):
        Prefix(model, requests)
