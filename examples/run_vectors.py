"""Run a sampler against a directory of frozen vectors; the model for a runner in any language.

topnsigma-conformance vectors export DIR && python examples/run_vectors.py DIR

It uses nothing but the standard library. The sampler gets a batch as a list of rows, each an array
of bit patterns (so that NaN payloads survive), with a list of n. It returns such rows, or raises
ValueError where an n is bad. ``--function MODULE:NAME`` names one of your own.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import struct
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Rows = list["array[int]"]
Sampler = Callable[[Rows, list[Any]], Rows]

RFC = {
    "sigma": "sample",
    "neg_inf": "noop",
    "boundary": "keep",
    "invalid_n": "reject",
    "fill": "-inf",
}


def load(directory: Path, dialect: str, dtype: str, *, extreme: bool) -> Iterator[dict[str, Any]]:
    """The vectors for one dialect and dtype, in the order of the manifest."""
    wanted = dict(part.split("=") for part in dialect.split(",")) if dialect != "RFC" else {}
    for file in json.loads((directory / "manifest.json").read_text("utf-8"))["files"]:
        for vector in json.loads((directory / file["name"]).read_text("utf-8")).get("vectors", ()):
            if (
                vector["dialect"] == RFC | wanted
                and vector["dtype"] == dtype
                and (extreme or vector["domain"] == "core")
            ):
                yield vector


def words(text: str, dtype: str) -> array[int]:
    """The bit patterns of a string of hexadecimal digits."""
    result = array("I" if dtype == "float32" else "H", bytes.fromhex(text))
    if sys.byteorder == "little":
        result.byteswap()
    return result


def number(entry: Any) -> Any:
    """What an entry of n stands for."""
    if entry is None or "bits" not in entry or isinstance(entry.get("value"), int):
        return entry and entry["value"]
    return struct.unpack(">d", bytes.fromhex(entry["bits"]))[0]


def problem_with(vector: dict[str, Any], sampler: Sampler) -> str:
    """What the sampler gets wrong, or an empty string. It is called twice."""
    given = [words(row, vector["dtype"]) for row in vector["rows"]]
    results: list[Rows] = []
    for _ in range(2):
        rows = [row[:] for row in given]
        try:
            results.append(sampler(rows, [number(entry) for entry in vector["n"]]))
        except ValueError as error:
            if not vector["error"]:
                return f"rejected: {error}"
            if rows != given:
                return "rejected after a logit was changed"
        else:
            if vector["error"]:
                return "accepted a bad n"
    if vector["error"]:
        return ""
    if [len(row) for row in results[0]] != [len(row) for row in given]:
        return "the result has another shape"
    if results[0] != results[1]:
        return "two calls gave two results"
    fill = words(vector["fill"], vector["dtype"])[0]
    ties: list[str] = []
    for index, (before, after) in enumerate(zip(given, results[0], strict=True)):
        expected = vector["expected"][index]
        kept: list[int] = []
        masked: list[int] = []
        for token, letter in enumerate(expected):
            if after[token] not in (before[token], fill):
                return f"row {index}, token {token}: neither its own bits nor the fill value"
            stays = after[token] == before[token]
            if (letter == "K" and not stays) or (letter == "D" and after[token] != fill):
                return f"row {index}, token {token} should {'stay' if letter == 'K' else 'go'}"
            if letter in "ET":
                (kept if stays else masked).append(order(before[token], vector["dtype"]))
            if letter == "T":
                ties.append("keep" if stays else "drop")
        if kept and masked and max(masked) >= min(kept):
            return f"row {index}: one token stays, but one that is equal or greater goes"
    if ties and vector["dialect"]["boundary"] not in ties:
        return "no token equal to the threshold fares as the dialect says"
    return ""


def order(word: int, dtype: str) -> int:
    """A number that compares as the value of the word does; 0.0 and -0.0 are one."""
    sign = 1 << (31 if dtype == "float32" else 15)
    return sign - word if word & sign else word


def top_n_sigma(rows: Rows, n: list[Any]) -> Rows:
    """A small sampler that is right: RFC dialect, float32, binary64 inside."""
    for entry in n:
        if entry is not None and (type(entry) not in (int, float) or not 0 < entry < math.inf):
            raise ValueError(f"n must be a finite number > 0; got {entry!r}")
    return [
        row if entry is None else one_row(row, entry) for row, entry in zip(rows, n, strict=True)
    ]


def one_row(row: array[int], n: float) -> array[int]:
    x = struct.unpack(f"={len(row)}f", row.tobytes())
    if not all(map(math.isfinite, x)) or len(set(x)) < 2:
        return row
    mean = math.fsum(x) / len(x)
    sigma = math.sqrt(math.fsum((value - mean) ** 2 for value in x) / (len(x) - 1))
    t = max(x) - n * sigma
    masked = (0xFF800000 if v < t else word for v, word in zip(x, row, strict=True))
    return array(row.typecode, masked)


def main() -> None:
    parser = argparse.ArgumentParser(description="Run a sampler against frozen vectors.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--function", default="", help="MODULE:NAME; the one in this file")
    parser.add_argument("--dialect", default="RFC", help="RFC or FIELD=VALUE,…")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--core", action="store_true", help="leave the extreme domain out")
    arguments = parser.parse_args()
    module, _, name = arguments.function.partition(":")
    sampler = getattr(importlib.import_module(module), name) if module else top_n_sigma
    counts, failing, claiming = Counter[str](), Counter[str](), Counter[str]()
    chosen = load(
        arguments.directory, arguments.dialect, arguments.dtype, extreme=not arguments.core
    )
    for vector in chosen:
        problem = problem_with(vector, sampler)
        counts["failed" if problem else "passed"] += 1
        claiming.update(vector["faults"])
        if problem:
            failing.update(vector["faults"])
            print(f"{vector['id']} {vector['rule']}: {problem}  {' '.join(vector['faults'])}")
    for fault, count in failing.most_common():
        if count == claiming[fault]:
            print(f"points at {fault}: all {count} vectors that catch it failed")
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    sys.exit(counts["failed"] > 0 or not counts["passed"])


if __name__ == "__main__":
    main()
