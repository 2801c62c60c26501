"""Ten word problems, each with the number that answers it."""

from answers import Number

from prompts.prompt import Kind, Prompt

ARITHMETIC = Kind("arithmetic", 16, "\n")


def _arithmetic(name: str, question: str, start: str, value: int, rest: str) -> Prompt:
    """``rest`` is a right answer without its number."""
    text = f"Question: {question}\nAnswer: {start}"
    right, wrong = f" {value}{rest}", f" {value + 1}{rest}"
    return Prompt(name, ARITHMETIC, text, Number(value), right, wrong)


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
