"""The process of :class:`topnsigma_conformance.driver.Isolated`: one implementation, served."""

from __future__ import annotations

import os
import sys

from topnsigma_conformance.observation import observe
from topnsigma_conformance.target import load
from topnsigma_conformance.transport import decode_batch, encode_observation


def main(target: str, device: str) -> None:
    """Answer each batch on standard input with an observation, until the input ends."""
    # What the implementation prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    implementation = load(target, device)
    for line in sys.stdin:
        batch = decode_batch(line)
        answers.write(encode_observation(observe(implementation, batch), batch) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
