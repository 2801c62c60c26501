"""Sixty prompts in six kinds of ten, each with what counts as right.

They were written for this project, for a model of 135 million parameters: what is asked is easy,
and where the form of an answer matters the prompt begins it. ``right`` and ``wrong`` are an answer
of each sort, by which the tests hold the checks to account.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from answers import Answer, Calls, Json, Number, Words


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


FACT = Kind("fact", 12, "\n")
ARITHMETIC = Kind("arithmetic", 16, "\n")
CODE = Kind("code", 20, "\n")
JSON = Kind("json", 26, "}")
CONTINUATION = Kind("continuation", 24)
DIALOGUE = Kind("dialogue", 14, "\n")

KINDS = (FACT, ARITHMETIC, CODE, JSON, CONTINUATION, DIALOGUE)


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


def _fact(name: str, question: str, words: str, right: str, wrong: str) -> Prompt:
    return Prompt(name, FACT, chat(question), Words(tuple(words.split("|"))), right, wrong)


def _arithmetic(name: str, question: str, start: str, value: int, rest: str) -> Prompt:
    """``rest`` is a right answer without its number."""
    text = f"Question: {question}\nAnswer: {start}"
    right, wrong = f" {value}{rest}", f" {value + 1}{rest}"
    return Prompt(name, ARITHMETIC, text, Number(value), right, wrong)


def _code(
    name: str, head: str, task: str, values: Mapping[str, Any], right: str, wrong: str
) -> Prompt:
    text = f'def {head}:\n    """{task}"""\n    return'
    return Prompt(name, CODE, text, Calls(text, values), f" {right}\n", f" {wrong}\n")


def _json(name: str, request: str, values: Mapping[str, Any], right: str, wrong: str) -> Prompt:
    """``values`` are the keys, in any order, and the one value of each; its case is free."""
    # The prompt ends with the opening brace: without it the model writes programs.
    keys = " and ".join(f'"{key}"' for key in values)
    text = chat(f"Write a JSON object with the keys {keys} {request}") + "{"
    schema = {
        "type": "object",
        "properties": {key: {"enum": _cases(value)} for key, value in values.items()},
        "required": list(values),
        "additionalProperties": False,
    }
    return Prompt(name, JSON, text, Json(schema), right, wrong)


def _cases(value: Any) -> list[Any]:
    if not isinstance(value, str):
        return [value]
    return sorted({value, value.lower(), value.upper(), value.title()})


def _continuation(name: str, text: str, words: str, right: str, wrong: str) -> Prompt:
    """``words`` are what a text that stays with the subject is likely to mention one of."""
    return Prompt(name, CONTINUATION, text, Words(tuple(words.split("|"))), right, wrong)


def _dialogue(name: str, turns: tuple[str, ...], words: str, right: str, wrong: str) -> Prompt:
    return Prompt(name, DIALOGUE, chat(*turns), Words(tuple(words.split("|"))), right, wrong)


FACTS = (
    _fact("fact-1", "What is the capital of Japan?", "Tokyo", "It is Tokyo.", "It is Kyoto."),
    _fact("fact-2", "How many days are in a week?", "seven|7", "There are 7 days.", "There are 6."),
    _fact(
        "fact-3",
        "Which gas do plants take from the air to grow?",
        "carbon dioxide|CO2",
        "Plants take in carbon dioxide.",
        "Plants take in helium.",
    ),
    _fact(
        "fact-4", "Who wrote Romeo and Juliet?", "Shakespeare", "Shakespeare did.", "Goethe did."
    ),
    _fact("fact-5", "Which planet is called the Red Planet?", "Mars", "That is Mars.", "Venus."),
    _fact(
        "fact-6",
        "What is the largest ocean on Earth?",
        "Pacific",
        "The Pacific Ocean.",
        "The Atlantic Ocean.",
    ),
    _fact(
        "fact-7",
        "At how many degrees Celsius does water boil at sea level?",
        "100|hundred",
        "At 100 degrees.",
        "At 1000 degrees.",
    ),
    _fact(
        "fact-8",
        "Which language do most people in Brazil speak?",
        "Portuguese",
        "They speak Portuguese.",
        "They speak Spanish.",
    ),
    _fact("fact-9", "What is the chemical symbol for gold?", "Au", "It is Au.", "It is Ag."),
    _fact(
        "fact-10",
        "What is the largest animal that lives today?",
        "blue whale",
        "It is the blue whale.",
        "It is the elephant.",
    ),
)

ARITHMETICS = (
    _arithmetic(
        "arithmetic-1",
        "Tom has 3 apples and buys 4 more. How many apples does he have now?",
        "Tom has",
        7,
        " apples.",
    ),
    _arithmetic(
        "arithmetic-2",
        "Mia had 9 marbles and lost 3 of them. How many marbles does she have left?",
        "Mia has",
        6,
        " marbles left.",
    ),
    _arithmetic(
        "arithmetic-3",
        "A box holds 6 eggs. How many eggs are in 2 boxes?",
        "In 2 boxes there are",
        12,
        " eggs.",
    ),
    _arithmetic(
        "arithmetic-4",
        "Ben reads 5 pages a day. How many pages does he read in 4 days?",
        "Ben reads",
        20,
        " pages.",
    ),
    _arithmetic(
        "arithmetic-5",
        "Two children share 10 sweets equally. How many sweets does each child get?",
        "Each child gets",
        5,
        " sweets.",
    ),
    _arithmetic(
        "arithmetic-6",
        "There are 8 people on a bus, and 5 more get on. How many are on the bus now?",
        "Now there are",
        13,
        " people on the bus.",
    ),
    _arithmetic(
        "arithmetic-7",
        "A pen costs 2 dollars. How many dollars do 5 pens cost?",
        "5 pens cost",
        10,
        " dollars.",
    ),
    _arithmetic(
        "arithmetic-8",
        "Lea is 7 years old. Her brother is 3 years older. How old is he?",
        "Her brother is",
        10,
        " years old.",
    ),
    _arithmetic(
        "arithmetic-9",
        "There were 15 birds in a tree, and 6 flew away. How many are left?",
        "In the tree there are",
        9,
        " birds left.",
    ),
    _arithmetic(
        "arithmetic-10",
        "A garden has 3 rows of 4 trees. How many trees are in the garden?",
        "The garden has",
        12,
        " trees.",
    ),
)

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

JSONS = (
    _json(
        "json-1",
        "for Ada, who is 36.",
        {"name": "Ada", "age": 36},
        '"name": "Ada", "age": 36}',
        '"name": "Ada", "age": "36"}',
    ),
    _json(
        "json-2",
        "for Paris in France.",
        {"city": "Paris", "country": "France"},
        '"city": "Paris", "country": "France"}',
        '"city": "Paris"}',
    ),
    _json(
        "json-3",
        "for the book Dune of 1965.",
        {"title": "Dune", "year": 1965},
        '\n  "title": "Dune",\n  "year": 1965\n}',
        '\n  "title": "Dune",\n  "year": 1965,\n}',
    ),
    _json(
        "json-4",
        "for a lamp that costs 20 dollars.",
        {"product": "lamp", "price": 20},
        '"price": 20, "product": "lamp"}',
        '"price": 20, "product": lamp}',
    ),
    _json(
        "json-5",
        "for a red shirt.",
        {"item": "shirt", "color": "red"},
        '"item": "shirt", "color": "red"}',
        '"item": "red shirt", "color": "red"}',
    ),
    _json(
        "json-6",
        "for a spider with 8 legs.",
        {"animal": "spider", "legs": 8},
        '"animal": "spider", "legs": 8}',
        '"animal": "spider", "legs": 6}',
    ),
    _json(
        "json-7",
        "for Grace Hopper.",
        {"first_name": "Grace", "last_name": "Hopper"},
        '"first_name": "Grace", "last_name": "Hopper"}',
        '"first_name": "Hopper", "last_name": "Grace"}',
    ),
    _json(
        "json-8",
        "for a shop in which 3 people work on Monday.",
        {"day": "Monday", "people": 3},
        '"day": "Monday", "people": 3}',
        '"day": "Monday", "people": 3, "open": true}',
    ),
    _json(
        "json-9",
        "for a point at x = 3 and y = 5.",
        {"x": 3, "y": 5},
        '"x": 3, "y": 5} is the point',
        '"x": 3, "y": 5',
    ),
    _json(
        "json-10",
        "for 2 bottles of milk.",
        {"item": "milk", "quantity": 2},
        '"item": "milk", "quantity": 2}',
        '"item": "milk", "quantity": 2.5}',
    ),
)

CONTINUATIONS = (
    _continuation(
        "continuation-1",
        "The old sailor pushed his boat into the cold water and",
        "boat|boats|water|sea|ocean|waves|wind|shore|sail|sailed|fish|island|row|rowed|swim|harbor",
        " rowed out into the bay.",
        " opened the fridge.",
    ),
    _continuation(
        "continuation-2",
        "When the snow began to fall, the children ran outside and",
        "snow|snowy|snowman|snowball|snowballs|snowflakes|cold|winter|ice|play|played|playing|white",
        " built a snowman.",
        " bought a car.",
    ),
    _continuation(
        "continuation-3",
        "In the kitchen, grandmother was baking bread. The smell",
        "bread|flour|oven|baking|kitchen|dough|cake|warm|fresh|delicious|butter|house",
        " of warm bread was everywhere.",
        " of petrol was strong.",
    ),
    _continuation(
        "continuation-4",
        "Deep in the forest there lived a fox who",
        "fox|forest|tree|trees|animals|animal|hunt|hunted|den|woods|rabbit|rabbits|wolf|clever|cunning",
        " was afraid of the wolf.",
        " sold insurance.",
    ),
    _continuation(
        "continuation-5",
        "The train was late again, and the people on the platform",
        "train|trains|platform|station|passengers|waiting|waited|late|rails|delay|delayed|crowd",
        " waited in silence.",
        " grew tomatoes.",
    ),
    _continuation(
        "continuation-6",
        "The teacher wrote a word on the board and asked the class",
        "class|word|words|teacher|students|student|board|read|write|spell|question|answer|meaning",
        " what the word meant.",
        " for a hammer.",
    ),
    _continuation(
        "continuation-7",
        "After the storm, the farmer walked through his field and",
        "field|fields|crop|crops|farm|farmer|storm|rain|corn|wheat|soil|plants|land|cows|harvest",
        " saw that the wheat lay flat.",
        " paid the pilot.",
    ),
    _continuation(
        "continuation-8",
        "At midnight the telephone rang. The detective",
        "detective|phone|telephone|call|called|caller|voice|case|crime|murder|police|answered|rang",
        " listened to the voice.",
        " watered the roses.",
    ),
    _continuation(
        "continuation-9",
        "The concert began, and the young pianist",
        "piano|pianist|music|concert|played|play|playing|audience|stage|keys|melody|notes|performance",
        " played as if nobody listened.",
        " ate a sandwich.",
    ),
    _continuation(
        "continuation-10",
        "The astronaut looked back at the Earth and",
        "Earth|space|planet|moon|stars|sky|sun|astronaut|spacecraft|orbit|world|spaceship|universe",
        " thought how small a planet it was.",
        " tied his shoes.",
    ),
)

DIALOGUES = (
    _dialogue(
        "dialogue-1",
        ("My name is Anna.", "Nice to meet you! How can I help you?", "What is my name?"),
        "Anna",
        "Your name is Anna.",
        "My name is SmolLM.",
    ),
    _dialogue(
        "dialogue-2",
        ("I have a cat called Luna.", "That is a lovely name.", "What is my cat called?"),
        "Luna",
        "Your cat is called Luna.",
        "Your cat is called Max.",
    ),
    _dialogue(
        "dialogue-3",
        ("I live in Oslo.", "It must be cold there in winter.", "In which city do I live?"),
        "Oslo",
        "You live in Oslo.",
        "You live in New York.",
    ),
    _dialogue(
        "dialogue-4",
        ("I like green best.", "Like the trees!", "What is my favorite color?"),
        "green",
        "It is green.",
        "It is blue.",
    ),
    _dialogue(
        "dialogue-5",
        ("I work as a nurse.", "That is an important job.", "What is my job?"),
        "nurse",
        "You are a nurse.",
        "You are a teacher.",
    ),
    _dialogue(
        "dialogue-6",
        ("I am learning French.", "Good luck!", "Which language am I learning?"),
        "French",
        "You are learning French.",
        "You are learning English.",
    ),
    _dialogue(
        "dialogue-7",
        ("Our train leaves at nine.", "Then be there early.", "When does our train leave?"),
        "nine|9|9:00",
        "It leaves at nine.",
        "It leaves at 19:30.",
    ),
    _dialogue(
        "dialogue-8",
        ("I want to order a pizza.", "Of course!", "What did I say I want to order?"),
        "pizza",
        "You want a pizza.",
        "You want a salad.",
    ),
    _dialogue(
        "dialogue-9",
        ("My brother Paul plays chess.", "How nice!", "Which game does Paul play?"),
        "chess",
        "Paul plays chess.",
        "Paul plays football.",
    ),
    _dialogue(
        "dialogue-10",
        ("It is raining outside.", "Then stay dry!", "Do I need an umbrella or sunglasses?"),
        "umbrella",
        "Take an umbrella.",
        "Take sunglasses.",
    ),
)

PROMPTS = FACTS + ARITHMETICS + CODES + JSONS + CONTINUATIONS + DIALOGUES
"""All of them, kind by kind."""
