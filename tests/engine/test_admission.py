"""What the processor refuses, what it is configured with, and what it warns about."""

import logging
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from engine.processors import params, v1
from vllm import SamplingParams
from vllm.v1.sample.logits_processor import BatchUpdate

from topnsigma_processor.vllm_plugin import TopNSigma


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """Messages of the processor's logger. vLLM's own logger hands nothing on to pytest's."""
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("vllm.topnsigma_processor")
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)  # the engine environment asks vLLM for errors only
    yield messages
    logger.setLevel(logging.NOTSET)
    logger.removeHandler(handler)


@pytest.mark.parametrize(
    ("extra_args", "named"),
    [
        ({"top_n_sigma": math.nan}, ("top_n_sigma", "nan", "finite real number > 0")),
        ({"top_n_sigma": math.inf}, ("top_n_sigma", "inf", "finite real number > 0")),
        ({"top_n_sigma": 0}, ("top_n_sigma", "0", "finite real number > 0")),
        ({"top_n_sigma": -1.0}, ("top_n_sigma", "-1.0", "finite real number > 0")),
        ({"top_n_sigma": True}, ("top_n_sigma", "True", "finite real number > 0")),
        ({"top_n_sigma": "2.0"}, ("top_n_sigma", "'2.0'", "finite real number > 0")),
        ({"top_n_sigma": [2.0]}, ("top_n_sigma", "[2.0]", "finite real number > 0")),
        ({"top_n_sigma_neg_inf": "zero"}, ("top_n_sigma_neg_inf", "'zero'", "'exclude'")),
        ({"top_n_sigmas": 1}, ("'top_n_sigmas'", "'top_n_sigma_neg_inf'")),
    ],
)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_bad_request_is_refused_at_admission(
    extra_args: dict[str, Any], named: tuple[str, ...], temperature: float
) -> None:
    request = SamplingParams(temperature=temperature, extra_args=extra_args)
    with pytest.raises(ValueError, match="top_n_sigma") as error:
        TopNSigma.validate_params(request)
    for part in named:
        assert part in str(error.value)


def test_other_requests_are_not() -> None:
    for request in (SamplingParams(), params(), params(2.0, "exclude"), params(1)):
        TopNSigma.validate_params(request)


def test_a_bad_configuration_stops_the_engine_at_its_start() -> None:
    with pytest.raises(ValueError, match="'noop' or 'exclude', got 'zero'"):
        v1({"top_n_sigma": {"neg_inf": "zero"}})


def _add(processor: TopNSigma, *requests: SamplingParams) -> None:
    added: list[Any] = [(index, request, [1], []) for index, request in enumerate(requests)]
    update = BatchUpdate(batch_size=len(added), removed=[], added=added, moved=[])
    processor.update_state(update)


@pytest.mark.parametrize(
    ("feature", "request_with_it"),
    [
        ("allowed_token_ids", lambda **k: params(**k, allowed_token_ids=[1, 2])),
        ("bad_words", lambda **k: params(**k, bad_words=["no"])),
        ("min_tokens", lambda **k: params(**k, min_tokens=2, stop_token_ids=[3])),
        ("logit_bias", lambda **k: params(**k, logit_bias={1: -math.inf})),
        ("structured output", lambda **k: params(**k, **_structured())),
    ],
)
def test_the_literal_rule_with_a_feature_that_bans_is_warned_about_once(
    feature: str, request_with_it: Callable[..., SamplingParams], logged: list[str]
) -> None:
    processor = v1()
    _add(processor, params(1.0), request_with_it(n=1.0, policy="exclude"))
    _add(processor, request_with_it(n=None), request_with_it(n=1.0, temperature=0.0))
    assert logged == []
    _add(processor, request_with_it(n=1.0), request_with_it(n=1.0))
    assert len(logged) == 1
    assert feature in logged[0]
    assert "'top_n_sigma_neg_inf': 'exclude'" in logged[0]


def _structured() -> dict[str, Any]:
    from vllm.sampling_params import StructuredOutputsParams

    return {"structured_outputs": StructuredOutputsParams(regex="[a-z]+")}


def test_no_warning_where_the_server_excludes(logged: list[str]) -> None:
    processor = v1({"top_n_sigma": {"neg_inf": "exclude"}})
    _add(processor, params(1.0, allowed_token_ids=[1, 2]))
    assert logged == []
