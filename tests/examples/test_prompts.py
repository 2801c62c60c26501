"""The sixty prompts: how many of which kind, and that each check tells right from wrong."""

import re
from collections import Counter

import prompts
import pytest
import smollm2

_NAMES = [prompt.name for prompt in prompts.PROMPTS]


def test_there_are_ten_of_each_of_six_kinds() -> None:
    counts = Counter(prompt.kind for prompt in prompts.PROMPTS)
    assert counts == dict.fromkeys(prompts.KINDS, 10)
    assert len(prompts.KINDS) == 6


def test_names_and_texts_differ() -> None:
    assert len(set(_NAMES)) == len({prompt.text for prompt in prompts.PROMPTS}) == 60


@pytest.mark.parametrize("prompt", prompts.PROMPTS, ids=_NAMES)
def test_the_check_accepts_a_right_answer(prompt: prompts.Prompt) -> None:
    assert prompt.answer.accepts(prompt.right)


@pytest.mark.parametrize("prompt", prompts.PROMPTS, ids=_NAMES)
def test_the_check_refuses_a_wrong_answer(prompt: prompts.Prompt) -> None:
    assert not prompt.answer.accepts(prompt.wrong)
    assert not prompt.answer.accepts("")


@pytest.mark.parametrize("prompt", prompts.PROMPTS, ids=_NAMES)
def test_a_right_answer_fits_and_is_not_cut(smol: smollm2.SmolLM2, prompt: prompts.Prompt) -> None:
    tokenizer = smol.tokenizer
    ids = tokenizer.encode(prompt.right)
    assert len(ids) <= prompt.kind.limit
    if prompt.kind.end:
        until = [prompt.kind.end in tokenizer.decode([token]) for token in ids]
        cut = ids[: until.index(True) + 1] if True in until else ids
        assert prompt.answer.accepts(tokenizer.decode(cut))


def test_a_prompt_is_itself_again_after_the_tokenizer(smol: smollm2.SmolLM2) -> None:
    tokenizer = smol.tokenizer
    for prompt in prompts.PROMPTS:
        assert tokenizer.decode(tokenizer.encode(prompt.text)) == prompt.text


def test_a_conversation_alternates() -> None:
    text = prompts.chat("One.", "Two.", "Three.")
    assert re.findall(r"<\|im_start\|>(\w+)\n", text) == ["user", "assistant", "user", "assistant"]
    assert text.count("<|im_end|>") == 3
    assert text.endswith("<|im_start|>assistant\n")
