"""Rows of logits drawn for a terminal of 80 columns, with what the reference says of each token.

All that is drawn is computed by the reference, and can be read without colour.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from topnsigma_conformance.formats import Bits, Float32Array, decode
from topnsigma_reference import RFC, Dialect, Keep, Verdict, classify, top_n_sigma

KEPT, MASKED = "kept", "masked"

_STYLES = {KEPT: "green", MASKED: "red"}


@dataclasses.dataclass(frozen=True)
class Scale:
    """Logits from ``low`` to ``high`` on ``width`` columns."""

    low: float
    high: float
    width: int = 32

    def column(self, value: float) -> int:
        """The column of ``value``, at one of the ends where it lies off the scale."""
        share = (value - self.low) / (self.high - self.low)
        return min(max(round(share * (self.width - 1)), 0), self.width - 1)

    def value(self, column: int) -> float:
        """The value in the middle of ``column``."""
        return self.low + (self.high - self.low) * column / (self.width - 1)


def float32(value: float) -> str:
    """The shortest decimal of a float32."""
    return str(np.float32(value))


def row_text(row: Float32Array) -> str:
    """A row as a list of decimals."""
    return f"[{', '.join(float32(value) for value in row)}]"


def formula(verdict: Verdict, n: float) -> str:
    """The threshold, and what it is made of."""
    threshold = verdict.threshold
    assert threshold is not None
    assert verdict.maximum is not None
    return (
        f"max = {float32(verdict.maximum)}, σ = {threshold.sigma:.7g}, n = {n!r},"
        f" t = max - n·σ = {threshold.cut:.9g}"
    )


def number_line(
    row: Float32Array,
    n: float,
    dialect: Dialect = RFC,
    *,
    scale: Scale | None = None,
    zones: bool = False,
) -> Table:
    """One line a token: where it lies relative to the threshold, and what becomes of it.

    Args:
        row: finite logits [V] that have a threshold.
        n: of the row.
        dialect: the reading of top-nσ to apply.
        scale: to draw on; from the smallest logit to the largest by default.
        zones: also draw the acceptance interval and the tight band on the scale.

    Raises:
        ValueError: the row has no threshold.
    """
    verdict = classify(row, n, dialect)
    if verdict.threshold is None:
        raise ValueError(f"row must have a threshold; {verdict.rule} leaves {row_text(row)} alone")
    drawn_on = scale or Scale(float(row.min()), float(row.max()))
    header = _ruler(verdict.threshold.cut, drawn_on)
    if zones:
        header = f"{header}\n{_zones(verdict, drawn_on)}"
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    table.add_column("token", justify="right", no_wrap=True)
    table.add_column("logit", justify="right", no_wrap=True)
    table.add_column(Text(header), no_wrap=True)
    table.add_column("exactly", no_wrap=True)
    table.add_column("allowed", no_wrap=True)
    for token, value in enumerate(row.tolist()):
        kept = KEPT if verdict.keep[token] else MASKED
        table.add_row(
            str(token),
            float32(value),
            Text(_plotted(value, verdict.threshold.cut, kept, drawn_on), style=_STYLES[kept]),
            Text(kept, style=_STYLES[kept]),
            _allowed(verdict, token, value),
        )
    return table


def bits_table(bits: Bits, n: float | None, dialect: Dialect = RFC) -> Table:
    """A row of float32 ``bits`` [V] before and after: each token in decimal and hexadecimal."""
    before = decode(bits, "float32")
    after = top_n_sigma(before, n, dialect)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="")
    for title in ("token", "before", "", "after", "", "bits"):
        table.add_column(title, justify="left" if title == "bits" else "right", no_wrap=True)
    for token, (old, new) in enumerate(
        zip(bits.tolist(), after.view(np.uint32).tolist(), strict=True)
    ):
        table.add_row(
            str(token),
            float32(before[token]),
            f"0x{old:08x}",
            float32(after[token]),
            f"0x{new:08x}",
            Text("same", style="green") if old == new else Text("other", style="red"),
        )
    return table


def results_table(title: str, rows: Sequence[tuple[str, Float32Array, str]]) -> Table:
    """Labelled rows of logits, a column for each token, and a remark at the end of each.

    Args:
        title: of the labels.
        rows: (label, logits [V], remark).
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="")
    table.add_column(title, no_wrap=True)
    for token in range(len(rows[0][1])):
        table.add_column(str(token), justify="right", no_wrap=True)
    table.add_column("")
    for label, values, remark in rows:
        cells = [Text(float32(x), style="red" if x == -np.inf else "") for x in values]
        table.add_row(label, *cells, remark)
    return table


def text_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Cells of text under titles."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="")
    for title in titles:
        table.add_column(Text(title), overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _allowed(verdict: Verdict, token: int, value: float) -> str:
    code = Keep(verdict.codes[token])
    tight = verdict.tight is not None and value in verdict.tight
    return f"{code.name}, tight" if code is Keep.MAY and tight else code.name


def _plotted(value: float, cut: float, kept: str, scale: Scale) -> str:
    cells = [" "] * scale.width
    if scale.low <= cut <= scale.high:
        cells[scale.column(cut)] = "│"
    mark = "●" if kept == KEPT else "○"
    if value < scale.low:
        mark = "◂"
    elif value > scale.high:
        mark = "▸"
    cells[scale.column(value)] = mark
    return "".join(cells)


def _ruler(cut: float, scale: Scale) -> str:
    label = f"t = {cut:.9g}"
    start = min(scale.column(cut), scale.width - len(label))
    return (" " * start + label).ljust(scale.width)


def _zones(verdict: Verdict, scale: Scale) -> str:
    """``MUST_DROP | MAY | tight | MAY | MUST_KEEP``, each over its part of the scale if it fits."""
    assert verdict.accept is not None
    assert verdict.tight is not None
    accept, tight = verdict.accept, verdict.tight

    def zone_of(column: int) -> str:
        value = scale.value(column)
        if value in tight:
            return "tight"
        if value in accept:
            return "MAY"
        return "MUST_DROP" if value < accept.lower else "MUST_KEEP"

    parts = [
        (zone, len(list(columns)))
        for zone, columns in itertools.groupby(range(scale.width), key=zone_of)
    ]
    marked = [(zone, width - (place > 0)) for place, (zone, width) in enumerate(parts)]
    return "|".join(f"{zone if len(zone) <= width else '':^{width}}" for zone, width in marked)
