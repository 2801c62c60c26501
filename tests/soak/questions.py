"""What the server's worker is asked, and what it has to say once every request is over."""

from __future__ import annotations

import json
import time

from engine import server
from soak.finding import Finding, finding
from soak.traffic import of_all_slots

_PATIENCE = 120.0
"""Seconds that requests whose clients have left may go on."""


def ask(address: str, method: str) -> dict[str, int]:
    """The answer of a method of `AskedWorker`.

    Raises:
        RuntimeError: there is none.
    """
    status, answer = server.post(address, "/collective_rpc", json.dumps({"method": method}))
    if status != 200:
        raise RuntimeError(f"{method}: {status} {answer}")
    state: dict[str, int] = json.loads(answer)["results"][0]
    return state


def state_at_the_end(address: str, runner: str) -> Finding:
    """That no slot is opted in when nothing runs, and that no request is left over.

    V1 is told of every request that ends. V2 is not: a slot keeps its setting until the next
    request takes it, so that one without n has to take them all first.
    """
    end = time.monotonic() + _PATIENCE
    state = ask(address, "soak_state")
    while state["requests"] and time.monotonic() < end:
        state = ask(address, "soak_state")
    states = [state] if runner == "V1" else [state | {"opted_in": 0}]
    status, answer = server.post(address, "/v1/completions", of_all_slots())
    state = ask(address, "soak_state")
    while state["requests"] and time.monotonic() < end:
        state = ask(address, "soak_state")
    wrong = [f"{state}" for state in [*states, state] if any(state.values())]
    if status != 200:
        wrong.append(f"a request that takes all slots: {status} {answer[:200]}")
    return finding("no request and no setting is left at the end", 3, wrong)
