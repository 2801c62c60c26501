"""A prompt, what the prompts of a kind have in common, and the model's chat markers."""

import dataclasses

from answers import Answer


@dataclasses.dataclass(frozen=True)
class Kind:
    """What the prompts of a kind have in common.

    Attributes:
        name: as in tables.
        limit: the most tokens of an answer.
        end: an answer ends with the first token that holds this; empty: at a stop token only.
    """

    name: str
    limit: int
    end: str = ""


@dataclasses.dataclass(frozen=True)
class Prompt:
    """A text to continue, what is right, and an example of a right and of a wrong answer."""

    name: str
    kind: Kind
    text: str
    answer: Answer
    right: str
    wrong: str


def chat(*turns: str) -> str:
    """The conversation of user and assistant in turns, in the model's own markers."""
    text = ""
    for at, turn in enumerate(turns):
        speaker = ("user", "assistant")[at % 2]
        text += f"<|im_start|>{speaker}\n{turn}<|im_end|>\n"
    return text + "<|im_start|>assistant\n"
