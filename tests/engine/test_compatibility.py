"""top-nσ together with vLLM's other sampling features, under both policies.

The table in processor/README.md says what these tests assert.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine import engines, oracle
from engine.engines import Request
from engine.features import FEATURES
from engine.processors import params
from engine.recording import Recording
from vllm import LLM

N = 1.0
PROMPT = [7, 77, 17, 71]
POLICIES = ["noop", "exclude"]


@pytest.fixture
def engine(tiny_model: Path) -> tuple[LLM, Recording]:
    return engines.start_recording(tiny_model)


def _generate(
    engine: tuple[LLM, Recording], n: float | None, policy: str, **options: Any
) -> list[int]:
    llm, recorder = engine
    recorder.rows.clear()
    request = params(n, policy, **({"seed": 5, "max_tokens": 10} | options))
    tokens = engines.run(llm, [Request("one", PROMPT, request)])
    recorder.verify(tokens, {"one": None if n is None else (n, policy)})
    return tokens["one"]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", FEATURES)
def test_feature(engine: tuple[LLM, Recording], name: str, policy: str) -> None:
    feature = FEATURES[name]
    tokens = _generate(engine, N, policy, **feature.options)
    assert len(tokens) > 1
    rows = dict(engine[1].rows_of("one"))
    for index in range(len(tokens)):
        before, after = rows[index].before, rows[index].after
        assert np.isneginf(before).any() == feature.bans_at(index)
        truncated = np.isneginf(after).sum() > np.isneginf(before).sum()
        assert truncated == (policy == "exclude" or not feature.bans_at(index))
    if feature.bans is None and policy == "noop":
        assert tokens == _generate(engine, None, policy, **feature.options)
    if feature.bans == 0:
        other = "noop" if policy == "exclude" else "exclude"
        assert tokens == _generate(engine, N, other, **feature.options)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_seed_repeats_a_text(engine: tuple[LLM, Recording], policy: str) -> None:
    once, again = (_generate(engine, N, policy, seed=9) for _ in range(2))
    assert once == again
    assert once != _generate(engine, N, policy, seed=10)


@pytest.mark.parametrize("policy", POLICIES)
def test_several_texts_of_one_prompt(engine: tuple[LLM, Recording], policy: str) -> None:
    llm, recorder = engine
    request = params(N, policy, seed=5, max_tokens=6, ignore_eos=True)
    request.n = 3
    tokens = engines.run(llm, [Request("many", PROMPT, request)])
    assert sorted(tokens) == ["0_many", "1_many", "2_many"]
    assert len(set(map(tuple, tokens.values()))) > 1
    assert recorder.verify(tokens, dict.fromkeys(tokens, (N, policy))) == 18


@pytest.mark.parametrize("policy", POLICIES)
def test_a_prompt_from_the_prefix_cache(engine: tuple[LLM, Recording], policy: str) -> None:
    llm, recorder = engine
    prompt: Any = {"prompt_token_ids": [*range(70), 3 if policy == "noop" else 4]}
    request = params(N, policy, seed=5, max_tokens=6, ignore_eos=True)
    first, second = (llm.generate([prompt], request.clone(), use_tqdm=False)[0] for _ in range(2))
    assert second.num_cached_tokens
    for output in (first, second):
        tokens = {output.request_id: list(output.outputs[0].token_ids)}
        assert recorder.verify(tokens, dict.fromkeys(tokens, (N, policy))) == 6
    assert first.outputs[0].token_ids == second.outputs[0].token_ids


def _first_logprobs(llm: LLM, n: float | None) -> dict[int, float]:
    request = params(n, seed=5, max_tokens=1, logprobs=20)
    prompt: Any = {"prompt_token_ids": PROMPT}
    output = llm.generate([prompt], request, use_tqdm=False)[0]
    assert output.outputs[0].logprobs
    return {token: entry.logprob for token, entry in output.outputs[0].logprobs[0].items()}


def test_raw_logprobs_are_those_of_the_model(engine: tuple[LLM, Recording]) -> None:
    shown, untouched = _first_logprobs(engine[0], N), _first_logprobs(engine[0], None)
    shared = shown.keys() & untouched.keys()
    assert len(shared) >= 20
    assert all(shown[token] == untouched[token] for token in shared)
    assert all(map(math.isfinite, shown.values()))


def test_processed_logprobs_show_what_is_left(tiny_model: Path) -> None:
    llm, recorder = engines.start_recording(tiny_model, logprobs_mode="processed_logprobs")
    shown = _first_logprobs(llm, 0.5)
    ((_, row),) = recorder.rows.items()
    left = set(np.flatnonzero(oracle.kept(row.before, 0.5, "noop")).tolist())
    assert 1 < len(left) < 20
    assert {token for token, logprob in shown.items() if logprob > -math.inf} == left
    assert math.fsum(math.exp(logprob) for logprob in shown.values()) == pytest.approx(1, abs=1e-5)


def test_the_policy_of_the_server_is_that_of_requests_without_one(tiny_model: Path) -> None:
    llm, recorder = engines.start_recording(
        tiny_model, additional_config={"top_n_sigma": {"neg_inf": "exclude"}}
    )
    options: dict[str, Any] = {
        "seed": 5,
        "max_tokens": 6,
        "allowed_token_ids": list(range(60, 90)),
    }
    requests = [
        Request("default", PROMPT, params(N, **options)),
        Request("noop", PROMPT, params(N, "noop", **options)),
    ]
    tokens = engines.run(llm, requests)
    recorder.verify(tokens, {"default": (N, "exclude"), "noop": (N, "noop")})
    for name, truncated in (("default", True), ("noop", False)):
        for row in recorder.rows_of(name).values():
            assert np.isneginf(row.before).any()
            assert (np.isneginf(row.after) != np.isneginf(row.before)).any() == truncated
