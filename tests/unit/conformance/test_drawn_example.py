"""Drawings: they say what the reference says, at any width of the scale, without colour."""

from __future__ import annotations

import io
import re
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from rich.console import Console, RenderableType

from topnsigma_conformance import strategies
from topnsigma_conformance.case import Row
from topnsigma_conformance.drawn_example import (
    Scale,
    bits_table,
    number_line,
    results_table,
    text_table,
)
from topnsigma_conformance.formats import SPECIALS, special_bits
from topnsigma_reference import RFC, Dialect, Keep, classify, top_n_sigma


def text_of(part: RenderableType, *, colour: bool = False) -> str:
    """What is printed on a terminal of 80 columns."""
    file = io.StringIO()
    console = Console(
        width=80,
        file=file,
        force_terminal=colour,
        color_system="truecolor" if colour else None,
    )
    console.print(part)
    return file.getvalue()


class DrawnToken(NamedTuple):
    """One line of a number line."""

    token: int
    logit: str
    plot: str
    fate: str
    allowed: str


def drawn_tokens(text: str) -> list[DrawnToken]:
    """The lines of the number lines in ``text``."""
    line = re.compile(
        r"^ *(\d+) +(\S+)  (.{32}|.{40})  (kept|masked) +(MUST_KEEP|MUST_DROP|MAY, tight|MAY) *$",
        re.MULTILINE,
    )
    return [DrawnToken(int(token), *rest) for token, *rest in line.findall(text)]


def held_to_the_reference(drawn: list[DrawnToken], n: float, dialect: Dialect) -> np.ndarray:
    """The row that is drawn, once each of its tokens is seen to be what the reference says."""
    row = np.array([each.logit for each in drawn], np.float32)
    verdict = classify(row, n, dialect)
    assert verdict.tight is not None
    assert [each.token for each in drawn] == list(range(row.size))
    assert [each.fate == "kept" for each in drawn] == verdict.keep.tolist()
    assert [each.allowed.split(",")[0] for each in drawn] == [
        Keep(code).name for code in verdict.codes
    ]
    for value, each in zip(row.tolist(), drawn, strict=True):
        may = each.allowed.startswith("MAY")
        assert ("tight" in each.allowed) == (may and value in verdict.tight)
    return row


@settings(deadline=None, max_examples=150)
@given(strategies.small_rows(2, 8).flatmap(strategies.placed), strategies.valid_n())
def test_a_number_line_says_what_the_reference_says(made: Row, n: float) -> None:
    for dialect in (RFC, Dialect(sigma="population", boundary="drop")):
        row = made.bits("float32", n, dialect).view(np.float32)
        assume(np.unique(row).size > 1)
        drawn = drawn_tokens(text_of(number_line(row, n, dialect)))
        np.testing.assert_array_equal(held_to_the_reference(drawn, n, dialect), row)
        cut = classify(row, n, dialect).cut
        assert cut is not None
        for value, each in zip(row.tolist(), drawn, strict=True):
            mark = "●" if each.fate == "kept" else "○"
            assert each.plot.count(mark) == 1
            if "│" in each.plot:
                side = each.plot.index(mark) - each.plot.index("│")
                assert (side > 0) <= (value > cut)
                assert (side < 0) <= (value < cut)


def test_tokens_off_the_scale_are_shown_at_its_ends() -> None:
    row = np.array([10, 8, 6, 6, 5], np.float32)
    drawn = drawn_tokens(text_of(number_line(row, 1.0, scale=Scale(7.0, 9.0))))
    held_to_the_reference(drawn, 1.0, RFC)
    assert drawn[0].plot.endswith("▸")
    assert all(each.plot.startswith("◂") for each in drawn[2:])
    assert "●" in drawn[1].plot


def test_a_scale_puts_its_ends_at_its_ends() -> None:
    scale = Scale(-1.0, 3.0, width=5)
    assert [scale.column(value) for value in (-9.0, -1.0, 0.0, 1.0, 2.0, 3.0, 9.0)] == [
        0,
        0,
        1,
        2,
        3,
        4,
        4,
    ]
    assert [scale.value(column) for column in range(5)] == [-1.0, 0.0, 1.0, 2.0, 3.0]


def test_zones_lie_where_the_intervals_do() -> None:
    row = np.array([10, 8, 6, 6, 5], np.float32)
    accept, tight = classify(row, 1.0).accept, classify(row, 1.0).tight
    assert accept is not None
    assert tight is not None
    scale = Scale(8 - 1.6e-4, 8 + 1.6e-4, width=40)
    text = text_of(number_line(row, 1.0, scale=scale, zones=True))
    (zones,) = re.findall(r"^token +logit  (.{40})", text, re.MULTILINE)
    assert [zone.strip() for zone in zones.split("|")] == [
        "MUST_DROP",
        "MAY",
        "",
        "MAY",
        "MUST_KEEP",
    ]
    bars = [match.start() for match in re.finditer(r"\|", zones)]
    above = [scale.value(bar) for bar in bars]
    below = [scale.value(bar - 1) for bar in bars]
    for bar, end in enumerate((accept.lower, tight.lower)):
        assert below[bar] < end <= above[bar]
    for bar, end in ((2, tight.upper), (3, accept.upper)):
        assert below[bar] <= end < above[bar]


def test_a_row_without_a_threshold_has_no_number_line() -> None:
    with pytest.raises(ValueError, match=r"row must have a threshold; TNS-4 leaves \[1\.0, 1\.0\]"):
        number_line(np.ones(2, np.float32), 1.0)


def test_bits_before_and_after() -> None:
    names = [*SPECIALS, "-0.0"]
    row = np.array([special_bits("float32", name) for name in names], np.uint32)
    for bits, n in ((row, None), (np.array([1.0, -0.0, -9.0], np.float32).view(np.uint32), 1.0)):
        text = text_of(bits_table(bits, n))
        lines = re.findall(r"^ +\d+ +(\S+) +0x(\S{8}) +(\S+) +0x(\S{8}) +(\w+)", text, re.MULTILINE)
        after = top_n_sigma(bits.view(np.float32), n).view(np.uint32)
        assert [int(line[1], 16) for line in lines] == bits.tolist()
        assert [int(line[3], 16) for line in lines] == after.tolist()
        assert [line[4] == "same" for line in lines] == (bits == after).tolist()
        for line, pattern in zip(lines, bits, strict=True):
            np.testing.assert_equal(np.float32(line[0]), pattern.view(np.float32))


@pytest.mark.parametrize(
    "part",
    [
        number_line(np.array([10, 8, 6], np.float32), 1.0),
        bits_table(np.array([0x7FC00000, 0], np.uint32), None),
        results_table("n", [("1.0", np.array([1, -np.inf], np.float32), "[bold]")]),
        text_table(("n", "what"), [("[2.0]", "rejected")]),
    ],
)
def test_colour_adds_nothing_but_colour(part: RenderableType) -> None:
    plain, coloured = text_of(part), text_of(part, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert "\x1b" not in plain
