"""The HTTP server, started for real and driven by the openai client."""

import asyncio
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from engine import bad_bodies, server
from engine.features import REGEX

GREEDY_N = 1e-9


@pytest.fixture(scope="module")
def address(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("server") / "log"
    options = ("--enforce-eager", "--dtype", "float32", "--max-model-len", "128")
    with server.serve(tiny_model, log, *options, "--max-num-seqs", "16") as address:
        yield address


@pytest.fixture(scope="module")
def client(address: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)


def _complete(client: openai.OpenAI, **options: Any) -> str:
    defaults = {"temperature": 1.0, "max_tokens": 6, "seed": 1, "prompt": "abc"}
    arguments: dict[str, Any] = defaults | options
    text: str = client.completions.create(model="tiny", **arguments).choices[0].text
    return text


def _xargs(**keys: Any) -> dict[str, Any]:
    return {"extra_body": {"vllm_xargs": keys}}


def test_n_reaches_the_processor(client: openai.OpenAI) -> None:
    greedy = _complete(client, temperature=0.0)
    assert _complete(client, **_xargs(top_n_sigma=GREEDY_N)) == greedy
    assert _complete(client) != greedy
    # An integer is a number too, and so is one that keeps everything; keys of others are ignored.
    for n in (100, 1e300):
        assert _complete(client, **_xargs(top_n_sigma=n, other="x")) == _complete(client)


def test_chat_and_streams(client: openai.OpenAI) -> None:
    messages: Any = [{"role": "user", "content": "abc"}]
    options: dict[str, Any] = {"model": "tiny", "messages": messages, "max_tokens": 6, "seed": 1}
    greedy = client.chat.completions.create(temperature=0.0, **options)
    stream = client.chat.completions.create(
        temperature=2.0, stream=True, **options, **_xargs(top_n_sigma=GREEDY_N)
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert text == greedy.choices[0].message.content


def test_structured_output_under_both_policies(client: openai.OpenAI) -> None:
    def generate(**keys: Any) -> str:
        options: dict[str, Any] = {
            "extra_body": {"vllm_xargs": keys, "structured_outputs": {"regex": REGEX}}
        }
        return _complete(client, temperature=2.0, max_tokens=60, **options)

    without = generate(other=1)
    assert generate(top_n_sigma=0.5, top_n_sigma_neg_inf="noop") == without
    exclude = generate(top_n_sigma=0.5, top_n_sigma_neg_inf="exclude")
    assert exclude != without
    assert re.fullmatch(REGEX, exclude)


BAD: dict[str, tuple[str, tuple[str, ...]]] = {
    "zero": ('{"top_n_sigma": 0}', ("top_n_sigma", "0", "finite real number > 0")),
    "negative": ('{"top_n_sigma": -1.5}', ("top_n_sigma", "-1.5", "finite real number > 0")),
    "string": ('{"top_n_sigma": "2.0"}', ("top_n_sigma", "2.0", "finite real number > 0")),
    "nan": ('{"top_n_sigma": NaN}', ("top_n_sigma", "nan", "finite real number > 0")),
    "infinity": ('{"top_n_sigma": Infinity}', ("top_n_sigma", "inf", "finite real number > 0")),
    "1e400": ('{"top_n_sigma": 1e400}', ("top_n_sigma", "inf", "finite real number > 0")),
    # vLLM itself takes integers of 64 bits only.
    "400 digits": (f'{{"top_n_sigma": 1{"0" * 400}}}', ("extra_args integers",)),
    "list": ('{"top_n_sigma": [2.0]}', ("top_n_sigma", "[2.0]", "finite real number > 0")),
    "null": ('{"top_n_sigma": null}', ("top_n_sigma",)),
    "object": ('{"top_n_sigma": {"n": 2}}', ("top_n_sigma",)),
    "policy": (
        '{"top_n_sigma": 1.0, "top_n_sigma_neg_inf": "zero"}',
        ("top_n_sigma_neg_inf", "zero", "exclude"),
    ),
    "policy is a number": (
        '{"top_n_sigma": 1.0, "top_n_sigma_neg_inf": 1}',
        ("top_n_sigma_neg_inf", "1", "exclude"),
    ),
    "unknown key": ('{"top_n_sigma_n": 1.0}', ("top_n_sigma_n", "top_n_sigma_neg_inf")),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_request_is_answered_with_400_and_hurts_nobody(
    address: str, client: openai.OpenAI, name: str
) -> None:
    xargs, named = BAD[name]
    body = f'{{"model": "tiny", "prompt": "abc", "max_tokens": 2, "vllm_xargs": {xargs}}}'
    status, answer = server.post(address, "/v1/completions", body)
    assert status == 400, answer
    message = json.loads(answer)["error"]["message"]
    for part in named:
        assert part in message
    assert server.healthy(address)
    assert _complete(client, max_tokens=1)


def test_two_hundred_bad_bodies_change_nothing(address: str, client: openai.OpenAI) -> None:
    """Here, and not in a module of its own, which would start a server of its own."""
    right = _complete(client, **_xargs(top_n_sigma=0.5))
    statuses: Counter[int] = Counter()
    for path, body in bad_bodies.bad_bodies():
        status, answer = server.post(address, path, body)
        assert status == 400, (body[:500], answer[:500])
        message = json.loads(answer)["error"]["message"]
        if message.startswith("top_n_sigma"):
            assert len(message) < 300
        statuses[status] += 1
        if statuses.total() % 20 == 0:
            assert _complete(client, **_xargs(top_n_sigma=0.5)) == right
    assert statuses == {400: bad_bodies.COUNT}
    assert server.healthy(address)


def test_the_client_raises_what_the_server_says(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="top_n_sigma must be a finite real number"):
        _complete(client, **_xargs(top_n_sigma=-1))


def test_many_at_once_some_of_which_leave(address: str, client: openai.OpenAI) -> None:
    """200 requests of every kind at the same time; every fifth leaves after its first token."""

    async def one(client: openai.AsyncOpenAI, index: int) -> str:
        keys: list[dict[str, Any]] = [
            {"top_n_sigma": 0.5},
            {"top_n_sigma": 2},
            {"top_n_sigma": 1.0, "top_n_sigma_neg_inf": "exclude"},
            {"other": 1},
            {"top_n_sigma": 0},
            {"top_n_sigma": GREEDY_N},
        ]
        chosen = keys[index % len(keys)]
        leaves = index % 5 == 0
        try:
            stream = await client.completions.create(
                model="tiny",
                prompt="abcdef"[: 1 + index % 6],
                temperature=0.0 if index % 7 == 0 else 1.5,
                max_tokens=60 if leaves else 1 + index % 4,
                seed=index,
                stream=True,
                extra_body={"vllm_xargs": chosen},
            )
            async for _ in stream:
                if leaves:
                    await stream.close()
                    return "left"
        except openai.APIError as error:
            # vLLM begins a stream before it looks at the request: the error comes as an event.
            return f"refused: {error.message}"
        return "done"

    async def all_of_them() -> list[str]:
        async with openai.AsyncOpenAI(
            base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=300
        ) as client:
            return await asyncio.gather(*(one(client, index) for index in range(200)))

    outcomes = asyncio.run(all_of_them())
    for index, outcome in enumerate(outcomes):
        assert outcome.startswith("refused: top_n_sigma must be") == (index % 6 == 4), outcome
    assert outcomes.count("left") > 30
    assert outcomes.count("done") > 100
    assert server.healthy(address)
    greedy = _complete(client, temperature=0.0)
    assert _complete(client, **_xargs(top_n_sigma=GREEDY_N)) == greedy


def test_the_example_client(address: str) -> None:
    command = [
        sys.executable,
        str(server.ROOT / "examples" / "client.py"),
        "--url",
        f"{address}/v1",
    ]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = finished.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "n = 0.5",
        "n = 1.0",
        "n = 2.0",
        "without",
        "n = -1.0",
    ]
    assert "400, " in lines[-1]
    assert "top_n_sigma must be a finite real number > 0" in lines[-1]
