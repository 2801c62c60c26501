"""A harness that leaves every row as it is, for tests to insert something into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from topnsigma_conformance.batch import Batch
from topnsigma_conformance.formats import width
from topnsigma_conformance.harness import HarnessDriver

# Leaves every row as it is. What a test inserts may replace anything that stands above it.
ECHO = """
import json, os, signal, sys

claims = {{"type": "hello", "protocol": 1, "name": "echo"}}

def say(text):
    print(text, flush=True)

def answer(message, **changes):
    reply = {{"type": "result", "id": message["id"], "logits": message["logits"]}}
    say(json.dumps({{**reply, **changes}}))

def misbehave(message):
    answer(message)

def apply(message):
    misbehave(message) if 13.0 in message["n"] else answer(message)

{inserted}

for line in sys.stdin:
    message = json.loads(line)
    say(json.dumps(claims)) if message["type"] == "hello" else apply(message)
"""

Make = Callable[[str], list[str]]


def batch(*n: Any, dtype: str = "float32", tokens: int = 3) -> Batch:
    count = len(n) * tokens
    bits = np.arange(count, dtype=width(dtype)).reshape(len(n), tokens)
    return Batch(bits, dtype, n)


def assert_usable(driver: HarnessDriver) -> None:
    asked = batch(1.0, None)
    observation = driver.observe(asked)
    assert observation.outcome == "returned"
    np.testing.assert_array_equal(observation.bits, asked.bits)
