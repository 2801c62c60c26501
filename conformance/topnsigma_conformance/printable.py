"""Text of others, for a terminal: it moves no cursor, turns no line around and ends no line."""

from __future__ import annotations


def printable(text: str) -> str:
    """``text`` on one line, with an escape for each character that cannot be seen as itself.

    Control characters, line ends, marks that change the direction of writing, and halves of
    surrogate pairs become what they are in a literal of Python (``\\x1b``, ``\\u202e``).
    """
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )


def printable_lines(text: str) -> str:
    """As :func:`printable`, but line feeds stay."""
    return "\n".join(map(printable, text.split("\n")))
