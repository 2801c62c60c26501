"""Ten functions of one line to complete, each with what its calls return."""

from collections.abc import Mapping
from typing import Any

from answers import Calls

from prompts.prompt import Kind, Prompt

CODE = Kind("code", 20, "\n")


def _code(
    name: str, head: str, task: str, values: Mapping[str, Any], right: str, wrong: str
) -> Prompt:
    text = f'def {head}:\n    """{task}"""\n    return'
    return Prompt(name, CODE, text, Calls(text, values), f" {right}\n", f" {wrong}\n")


CODES = (
    _code(
        "code-1",
        "add(a, b)",
        "Return the sum of a and b.",
        {"add(2, 3)": 5, "add(-4, 1)": -3},
        "a + b",
        "a * b",
    ),
    _code(
        "code-2",
        "is_even(n)",
        "Return True if n is even, False otherwise.",
        {"is_even(4)": True, "is_even(7)": False, "is_even(0)": True},
        "n % 2 == 0",
        "n % 2",
    ),
    _code(
        "code-3",
        "square(x)",
        "Return the square of x.",
        {"square(3)": 9, "square(-2)": 4},
        "x * x",
        "x * 2",
    ),
    _code(
        "code-4",
        "largest(numbers)",
        "Return the largest of a list of numbers.",
        {"largest([3, 9, 4])": 9, "largest([-5, -7])": -5},
        "max(numbers)",
        "numbers[-1]",
    ),
    _code(
        "code-5",
        "count_vowels(text)",
        "Return how many letters of text are among aeiou.",
        {"count_vowels('banana')": 3, "count_vowels('rhythm')": 0},
        "sum(letter in 'aeiou' for letter in text)",
        "len(set(text) & set('aeiou'))",
    ),
    _code(
        "code-6",
        "reverse(text)",
        "Return the text backwards.",
        {"reverse('stone')": "enots", "reverse('')": ""},
        "text[::-1]",
        "reversed(text)",
    ),
    _code(
        "code-7",
        "average(numbers)",
        "Return the mean of a list of numbers.",
        {"average([2, 4, 9])": 5, "average([7])": 7},
        "sum(numbers) / len(numbers)",
        "sum(numbers) / 2",
    ),
    _code(
        "code-8",
        "shout(text)",
        "Return the text in upper case.",
        {"shout('go home')": "GO HOME", "shout('Oh')": "OH"},
        "text.upper()",
        "text.title()",
    ),
    _code(
        "code-9",
        "fahrenheit(celsius)",
        "Convert degrees Celsius to Fahrenheit.",
        {"fahrenheit(0)": 32, "fahrenheit(100)": 212},
        "celsius * 9 / 5 + 32",
        "(celsius - 32) * 5 / 9",
    ),
    _code(
        "code-10",
        "area(width, height)",
        "Return the area of a rectangle.",
        {"area(3, 4)": 12, "area(1, 9)": 9},
        "width * height",
        "2 * (width + height)",
    ),
)
