"""A sampler of the gallery as a harness: ``python -m gallery.served MODULE:CLASS``."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import numpy as np

from topnsigma_conformance.implementation import Implementation
from topnsigma_conformance.target import load


def answer(implementation: Implementation, message: dict[str, Any]) -> dict[str, Any]:
    """The reply to one message of the suite; logits are float32."""
    if message["type"] == "hello":
        return {"type": "hello", "protocol": 1, "name": implementation.name}
    shape = (message["rows"], message["tokens"])
    logits = np.frombuffer(base64.b64decode(message["logits"]), "<f4").reshape(shape).copy()
    n = [float(each["invalid"]) if isinstance(each, dict) else each for each in message["n"]]
    try:
        result = implementation.apply(logits, n)
    except ValueError as error:
        return {"type": "rejected", "id": message["id"], "message": str(error)}
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        return {"type": "error", "id": message["id"], "message": text}
    encoded = base64.b64encode(result.astype("<f4").tobytes()).decode()
    return {"type": "result", "id": message["id"], "logits": encoded}


def main(target: str) -> None:
    """Answer each line of standard input until it ends."""
    implementation = load(target)
    for line in sys.stdin:
        print(json.dumps(answer(implementation, json.loads(line))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
