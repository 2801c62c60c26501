"""Lines that a harness might answer with, drawn from a seed: right, and wrong in every way."""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from topnsigma_conformance.batch import Batch

ASKED = Batch(np.arange(6, dtype=np.uint32).reshape(2, 3), "float32", (1.0, None))
LOGITS = base64.b64encode(ASKED.bits.tobytes()).decode()

Message = dict[str, Any]

RIGHT: tuple[Message, ...] = (
    {"type": "result", "id": 1, "logits": LOGITS},
    {"type": "rejected", "id": 1, "message": "n must be finite and > 0; got 0"},
    {"type": "error", "id": 1, "message": "out of memory ≤ \U0001f9e0"},
)
"""Answers to the first question, which is about :data:`ASKED`."""

HELLO: tuple[Message, ...] = (
    {"type": "hello", "protocol": 1, "name": "echo"},
    {
        "type": "hello",
        "protocol": 1,
        "name": "mine",
        "version": "2.3",
        "dialect": {"sigma": "population"},
        "dtypes": ["bfloat16", "float32"],
        "batched": False,
        "n_format": "binary32",
    },
)

_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 1.0, 0.5, 1e308, 2**63, 10**400, "", "1", "result", "hello"),
    *("\x00", "\ud800", "A", "AAAA", [], [1], {}, {"id": 1}, [[[]]], "n" * 300),
    *(["float32", "float32"], ["float32", 1], [["float32"]], {"sigma": "both"}, {"sigma": []}),
)
_TOKENS = (
    *(b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400", b"1e-400", b"-0", b"01", b"1."),
    *(b"9" * 4300, b"9" * 4301, b"9" * 20_000, b"1e999999999", b"0x1", b"\x00", b"'1'", b"1.0"),
)
_NOT_UTF8 = (
    *(b"\xff", b"\xfe\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"),
    *(b"\xef\xbb\xbf", b"\x80", b"\xc3"),
)

Draw = Callable[[random.Random, Message], bytes]


def line_of(message: Any, **options: Any) -> bytes:
    return json.dumps(message, **options).encode("utf-8", "surrogatepass") + b"\n"


def _as_written_otherwise(rng: random.Random, message: Message) -> bytes:
    members = list(message.items())
    rng.shuffle(members)
    separators = rng.choice(((",", ":"), (" ,\r\t ", " \r: ")))
    text = line_of(dict(members), separators=separators, ensure_ascii=rng.random() < 0.5)[:-1]
    if rng.random() < 0.3:
        text = re.sub(rb"[a-z](?=[a-z])", lambda found: b"\\u%04x" % found[0][0], text, count=3)
    return rng.choice((b"", b" \t\r")) + text + rng.choice((b"\n", b"\r\n", b"   \n"))


def _noise(rng: random.Random, _: Message) -> bytes:
    return rng.randbytes(rng.randrange(200)) + rng.choice((b"\n", b""))


def _mutated(rng: random.Random, message: Message) -> bytes:
    text = bytearray(line_of(message))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text))
        choice = rng.randrange(4)
        if choice == 0:
            text[at] = rng.randrange(256)
        elif choice == 1:
            text[at : at + rng.randint(1, 9)] = b""
        elif choice == 2:
            text[at:at] = rng.choice((rng.randbytes(3), b'"', b"\\", b"{", b"}", b",", b"\n", b"0"))
        else:
            start = rng.randrange(len(text))
            text[at:at] = text[start : start + rng.randint(1, 30)]
        if not text:
            break
    return bytes(text)


def _truncated(rng: random.Random, message: Message) -> bytes:
    text = line_of(message)
    return text[: rng.randrange(len(text))] + rng.choice((b"", b"\n"))


def _member(rng: random.Random, message: Message) -> str:
    return rng.choice(list(message))


def _with(message: Message, member: str, token: bytes) -> bytes:
    """``message`` with ``token``, which need not be JSON, as the value of ``member``."""
    return line_of(message | {member: "@"}).replace(b'"@"', token)


def _odd_number(rng: random.Random, message: Message) -> bytes:
    return _with(message, _member(rng, message), rng.choice(_TOKENS))


def _nested(rng: random.Random, message: Message) -> bytes:
    # Around the depth at which Python gives up, wherever the stack stands, every depth counts.
    depth = rng.choice((rng.randint(1, 50), rng.randint(900, 1000), rng.randint(1000, 100_000)))
    opened, closed = rng.choice(((b"[", b"]"), (b'{"a":', b"}")))
    text = opened * depth + b"1" + closed * depth * rng.randint(0, 1)
    return text + b"\n" if rng.random() < 0.2 else _with(message, _member(rng, message), text)


def _doubled(rng: random.Random, message: Message) -> bytes:
    member, first = _member(rng, message), line_of(message)
    second = json.dumps(rng.choice((message[member], rng.choice(_VALUES)))).encode()
    return first[:-2] + b', "%s": %s}\n' % (member.encode(), second)


def _other_type(rng: random.Random, message: Message) -> bytes:
    return line_of(message | {_member(rng, message): rng.choice(_VALUES)})


def _other_members(rng: random.Random, message: Message) -> bytes:
    changed = dict(message)
    if rng.random() < 0.5:
        del changed[_member(rng, message)]
    if rng.random() < 0.5:
        changed[rng.choice(("seconds", "", "__proto__", "Type", "logits", "message"))] = rng.choice(
            _VALUES
        )
    return line_of(rng.choice((changed, [changed], changed, json.dumps(changed))))


def _other_size(rng: random.Random, message: Message) -> bytes:
    size = rng.choice((0, 1, 3, 12, 23, 24, 24, 25, 48, 4096))
    return line_of(message | {"logits": base64.b64encode(rng.randbytes(size)).decode()})


def _bad_base64(rng: random.Random, message: Message) -> bytes:
    at = rng.randrange(len(LOGITS))
    odd = rng.choice(("=", "-", "_", " ", "\n", "*", "é", "\x00", "\ud800", "A", "AA", "====", "a"))
    text = rng.choice((LOGITS[:at] + odd + LOGITS[at:], LOGITS[:at] + odd + LOGITS[at + 1 :]))
    return line_of(message | {"logits": text}, ensure_ascii=rng.random() < 0.5)


def _not_utf8(rng: random.Random, message: Message) -> bytes:
    text = line_of(message, ensure_ascii=False)
    at = rng.randrange(len(text))
    return text[:at] + rng.choice(_NOT_UTF8) + text[at:]


def _long(rng: random.Random, message: Message) -> bytes:
    size = rng.choice((1000, 60_000, 70_000))
    text = rng.choice((b" ", b"A", b"[", b'"\\u0000', b"\r", b"9"))
    padded = line_of(message)[:-1] + text * size + b"\n"
    return rng.choice((padded, _with(message, _member(rng, message), b'"%s"' % (text * size))))


def _several(rng: random.Random, message: Message) -> bytes:
    lines = [line_of(message), b"\n", b"log\n", _mutated(rng, message), b"\xe2\x80\xa8", b"\x0c"]
    return b"".join(rng.choices(lines, k=rng.randint(0, 9)))


KINDS: dict[str, Draw] = {
    "as written otherwise": _as_written_otherwise,
    "noise": _noise,
    "mutated": _mutated,
    "truncated": _truncated,
    "odd number": _odd_number,
    "nested": _nested,
    "member twice": _doubled,
    "other type": _other_type,
    "other members": _other_members,
    "other size": _other_size,
    "bad base64": _bad_base64,
    "not UTF-8": _not_utf8,
    "long": _long,
    "several lines": _several,
}
"""Kind of reply to what draws one from a right message."""


def draw(rng: random.Random, messages: tuple[Message, ...]) -> tuple[str, bytes]:
    """A kind, and what a harness writes instead of, or as, one of ``messages``."""
    # What is long costs as much as a hundred others.
    weights = [1 if kind in ("nested", "long") else 12 for kind in KINDS]
    (kind,) = rng.choices(list(KINDS), weights)
    return kind, KINDS[kind](rng, rng.choice(messages))


def message_in(written: bytes, longest: int) -> Any:
    """The JSON value of the first line of ``written``; None where that is not one, or too long."""
    line, end, _ = written.decode("utf-8", "replace").partition("\n")
    if not end or len(line) >= longest:
        return None
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def is_right_answer(message: Any) -> bool:
    """Whether PROTOCOL.md lets a harness answer the first question, on :data:`ASKED`, so."""
    if not isinstance(message, dict) or not _is_one(message.get("id")):
        return False
    text = "logits" if message.get("type") == "result" else "message"
    if message.keys() != {"type", "id", text} or not isinstance(message[text], str):
        return False
    if text == "message":
        return message["type"] in ("rejected", "error")
    # 24 bytes: four characters for each three of them, and none to fill up.
    return re.fullmatch("[A-Za-z0-9+/]{32}", message["logits"], re.ASCII) is not None


def is_right_hello(message: Any) -> bool:
    """Whether PROTOCOL.md lets a harness answer ``hello`` so."""
    if not isinstance(message, dict) or not {"type", "protocol", "name"} <= message.keys():
        return False
    return all(name in _CLAIMS and _CLAIMS[name](value) for name, value in message.items())


def _is_one(value: Any) -> bool:
    return type(value) in (int, float) and value == 1


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _are_dtypes(value: Any) -> bool:
    known = ("float32", "float16", "bfloat16")
    if not isinstance(value, list) or not value:
        return False
    return all(each in known for each in value) and len(value) == len(set(value))


_FIELDS = {
    "sigma": ("sample", "population"),
    "neg_inf": ("noop", "exclude", "zero"),
    "boundary": ("keep", "drop"),
    "invalid_n": ("reject", "disable"),
    "fill": ("-inf", "lowest"),
}


def _is_dialect(value: Any) -> bool:
    return isinstance(value, dict) and all(
        field in _FIELDS and choice in _FIELDS[field] for field, choice in value.items()
    )


_CLAIMS: dict[str, Callable[[Any], bool]] = {
    "type": lambda value: value == "hello",
    "protocol": _is_one,
    "name": _is_name,
    "version": lambda value: isinstance(value, str),
    "dialect": _is_dialect,
    "dtypes": _are_dtypes,
    "batched": _is_bool,
    "per_row_n": _is_bool,
    "extreme": _is_bool,
    "n_format": lambda value: value in ("binary64", "binary32"),
    "parameter": _is_name,
}
