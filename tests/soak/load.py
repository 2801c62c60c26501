"""Sends the traffic, many requests at once, and says what became of each."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
import time
from collections.abc import Callable
from typing import Any

import httpx
from soak.traffic import SLOTS, WATCHED, Planned, traffic

CONCURRENCY = SLOTS * 3 // 2
"""More than the server runs at once, so that some wait."""

_TIMEOUT = 300.0


@dataclasses.dataclass
class Outcome:
    """What became of a request.

    Attributes:
        planned: the request.
        status: of the answer, or of the error that came as an event; 0 if there was no answer.
        left: whether the client left before the end.
        detail: what the server said, where it refused or failed.
        tokens: that were received, by choice; of watched requests only.
    """

    planned: Planned
    status: int = 0
    left: bool = False
    detail: str = ""
    tokens: dict[int, list[int]] = dataclasses.field(default_factory=dict)


async def send_all(
    address: str,
    seed: int,
    watched: int,
    goes_on: Callable[[int], bool],
    finished: Callable[[Outcome], None],
) -> None:
    """Send the traffic of a seed.

    Args:
        address: of the server.
        seed, watched: see `traffic`.
        goes_on: asked before each request, with its index.
        finished: told what became of each, in the order in which they end.
    """
    plan = itertools.takewhile(lambda each: goes_on(each.index), traffic(seed, watched))
    # A connection each, as of so many clients. One that is kept may be closed by the server, which
    # waits a few seconds for the next request, just when that is sent.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)

    async def sender(client: httpx.AsyncClient) -> None:
        for planned in plan:
            finished(await _sent(client, planned))

    async with httpx.AsyncClient(base_url=address, timeout=_TIMEOUT, limits=limits) as client:
        await asyncio.gather(*(sender(client) for _ in range(CONCURRENCY)))


def goes_on_until(requests: int, minutes: float) -> Callable[[int], bool]:
    """Until there were so many requests and so many minutes have passed since now."""
    end = time.monotonic() + 60.0 * minutes
    return lambda index: index < requests or time.monotonic() < end


async def _sent(client: httpx.AsyncClient, planned: Planned) -> Outcome:
    outcome = Outcome(planned)
    try:
        # What is awaited is cancelled at the time-out, and with it the connection.
        async with asyncio.timeout(planned.patience if planned.leaves == "cancels" else None):
            await _answered(client, planned, outcome)
    except TimeoutError:
        outcome.left = True
    except httpx.HTTPError as error:
        outcome.detail = f"{type(error).__name__}: {error}"
    return outcome


async def _answered(client: httpx.AsyncClient, planned: Planned, outcome: Outcome) -> None:
    headers = {"Content-Type": "application/json"}
    if planned.watched:
        headers["X-Request-Id"] = f"{WATCHED}{planned.index}"
    arguments: Any = {"content": planned.body.encode(), "headers": headers}
    async with client.stream("POST", planned.path, **arguments) as response:
        outcome.status = response.status_code
        if response.status_code != 200 or not planned.streams:
            _take(json.loads(await response.aread()), outcome)
            return
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                _take(json.loads(line.removeprefix("data: ")), outcome)
                if planned.leaves == "disconnects":
                    outcome.left = True
                    return


def _take(answer: dict[str, Any], outcome: Outcome) -> None:
    # vLLM begins a stream before it looks at the request: then the error is an event.
    if "error" in answer:
        outcome.status = int(answer["error"]["code"])
        outcome.detail = str(answer["error"]["message"])
        return
    if outcome.planned.watched:
        for choice in answer["choices"]:
            tokens = outcome.tokens.setdefault(choice["index"], [])
            tokens += choice.get("token_ids") or []
