"""How an answer is checked: by words, by its number, by a JSON schema, or by running it.

Each class holds what is right for one prompt; ``accepts(text)`` says whether the text that follows
the prompt is. A check is a proxy: it looks for what a right answer must have, and a text that has
it by chance passes.
"""

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any, Protocol

import code_runner
import jsonschema

_NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")


class Answer(Protocol):
    """What is right for a prompt."""

    def accepts(self, text: str) -> bool:
        """Whether ``text`` is an answer to the prompt that counts as right."""
        ...


@dataclasses.dataclass(frozen=True)
class Words:
    """Any of these words or phrases, whole and in upper or lower case."""

    any_of: tuple[str, ...]

    def accepts(self, text: str) -> bool:
        phrases = "|".join(re.escape(phrase) for phrase in self.any_of)
        return re.search(rf"(?<!\w)(?:{phrases})(?!\w)", text, re.IGNORECASE) is not None


@dataclasses.dataclass(frozen=True)
class Number:
    """The number after the last ``=`` of the text, or its last number where it has no ``=``."""

    value: int

    def accepts(self, text: str) -> bool:
        _, sign, result = text.rpartition("=")
        found = _NUMBER.findall(result)
        if not found:
            return False
        number: str = found[0] if sign else found[-1]
        return float(number.replace(",", "")) == self.value


@dataclasses.dataclass(frozen=True)
class Json:
    """A JSON object of this schema, of which the prompt has the opening brace.

    What follows the object is of no account.
    """

    schema: Mapping[str, Any]

    def accepts(self, text: str) -> bool:
        try:
            value, _ = json.JSONDecoder().raw_decode("{" + text)
        except (ValueError, RecursionError):
            return False
        return jsonschema.Draft202012Validator(self.schema).is_valid(value)


@dataclasses.dataclass(frozen=True)
class Calls:
    """Python source that, with the text behind it, gives these values for these expressions."""

    start: str
    values: Mapping[str, Any]

    def accepts(self, text: str) -> bool:
        found = code_runner.evaluate(self.start + text, tuple(self.values))
        return found is not None and _same(found, list(self.values.values()))


def _same(found: object, expected: object) -> bool:
    """Equality that tells True from 1, which Python's does not; 6.0 is 6."""
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(map(_same, found, expected))
        )
    return isinstance(found, bool) == isinstance(expected, bool) and found == expected
