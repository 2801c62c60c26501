"""Ten requests for a JSON object, each with its schema."""

from collections.abc import Mapping
from typing import Any

from answers import Json

from prompts.prompt import Kind, Prompt, chat

JSON = Kind("json", 26, "}")


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
