"""A case: a batch described so that it can be drawn, shrunk, written down and built again."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from topnsigma_conformance.batch import Batch, Layout
from topnsigma_conformance.families import family_row
from topnsigma_conformance.formats import Bits, Float32Array, decode, encode, special_bits, width
from topnsigma_conformance.placement import Place, place_tokens
from topnsigma_reference import Dialect

BAD_N: dict[str, Any] = {
    "zero": 0.0,
    "negative zero": -0.0,
    "integer zero": 0,
    "minus one": -1,
    "negative": -0.5,
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "true": True,
    "false": False,
    "string": "2.0",
    "empty string": "",
    "bytes": b"2",
    "list": [2.0],
    "empty list": [],
    "dict": {"n": 2.0},
    "complex": 2 + 0j,
    "object": object,
    "10**400": 10**400,
    "1/10**400": Fraction(1, 10**400),
}
"""Values outside the domain of TNS-1, by name. A name in a case's n stands for its value."""


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of logits [V]: ``values``, or a family of ``size`` tokens with a seed, or ``hex``.

    ``hex`` holds the bit patterns of one dtype, one after the other: 8 hexadecimal digits a token,
    or ``size`` tokens of 4 digits for the narrow dtypes. Families, and where tokens are placed, may
    change with the suite; ``hex`` means the same to every version.

    On top of that come, in this order: ``edits`` (index, float32 value), ``specials`` (index, name
    of a bit pattern) and ``places``, tokens moved to the edges of the row's own threshold.

    Raises:
        ValueError: ``hex`` is not of this form, or there are ``values`` or a family beside it.
    """

    values: tuple[float, ...] = ()
    family: str = ""
    size: int = 0
    seed: int = 0
    edits: tuple[tuple[int, float], ...] = ()
    specials: tuple[tuple[int, str], ...] = ()
    places: tuple[Place, ...] = ()
    hex: str = ""

    def __post_init__(self) -> None:
        if not self.hex:
            return
        if self.values or self.family:
            raise ValueError("a row takes one of values, family and hex; got hex and another")
        tokens = self.size or len(self.hex) // 8
        widths = (4, 8) if self.size else (8,)
        right = len(self.hex) in [digits * tokens for digits in widths]
        if not right or not re.fullmatch("[0-9a-fA-F]+", self.hex):
            raise ValueError(
                "hex must be 8 hexadecimal digits a token, or with size 4 or 8 digits for each of"
                f" so many tokens; got {self.hex!r}, size {self.size}"
            )

    def __len__(self) -> int:
        if self.hex:
            return self.size or len(self.hex) // 8
        return self.size if self.family else len(self.values)

    def bits(self, dtype: str, n: object, dialect: Dialect) -> Bits:
        """Bit patterns [V] in ``dtype``; n and dialect matter to ``places`` alone.

        Raises:
            ValueError: ``hex`` holds patterns of another width.
        """
        bits = self._plain_bits(dtype)
        if self.edits or self.specials:
            bits = bits.copy()
        for index, value in self.edits:
            bits[index] = encode(np.array([value], np.float32), dtype)[0]
        for index, name in self.specials:
            bits[index] = special_bits(dtype, name)
        if not self.places:
            return bits
        placed = place_tokens(decode(bits, dtype), self.places, n, dialect, dtype)
        return _keep_nan_bits(bits, placed, dtype)

    def floats(self) -> Float32Array:
        """The row as float32 values [V], without ``places`` (which need an n and a dialect).

        Raises:
            ValueError: ``hex`` holds patterns of another width.
        """
        return decode(
            dataclasses.replace(self, places=()).bits("float32", None, Dialect()), "float32"
        )

    def _plain_bits(self, dtype: str) -> Bits:
        if not self.hex:
            if self.family:
                return encode(family_row(self.family, self.size, self.seed), dtype)
            return encode(np.array(self.values, dtype=np.float32), dtype)
        kind = width(dtype)
        if len(self.hex) != 2 * kind.itemsize * len(self):
            raise ValueError(
                f"hex must hold {2 * kind.itemsize} digits a token in {dtype};"
                f" got {len(self.hex) // len(self)}"
            )
        return np.frombuffer(bytes.fromhex(self.hex), kind.newbyteorder(">")).astype(kind)


def _keep_nan_bits(bits: Bits, placed: Float32Array, dtype: str) -> Bits:
    moved = placed != decode(bits, dtype)
    moved &= np.isfinite(placed)
    return np.where(moved, encode(placed, dtype), bits).astype(bits.dtype)


@dataclasses.dataclass(frozen=True)
class Case:
    """Rows, their n, and how they lie in memory.

    Attributes:
        rows: B rows of one length.
        n: B entries: a number, None, or a name of :data:`BAD_N`.
        layout: in memory.
        params: what else a check draws (a permutation's seed, a power of two).
    """

    rows: tuple[Row, ...]
    n: tuple[Any, ...]
    layout: Layout = dataclasses.field(default_factory=Layout)
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def batch(self, dtype: str, dialect: Dialect) -> Batch:
        """Build the batch in ``dtype``, with tokens placed for ``dialect``."""
        n = tuple(BAD_N[entry] if isinstance(entry, str) else entry for entry in self.n)
        bits = np.stack([row.bits(dtype, m, dialect) for row, m in zip(self.rows, n, strict=True)])
        return Batch(bits, dtype, n, self.layout)

    def exact(self, dtype: str, dialect: Dialect) -> Case:
        """The case whose rows are the bit patterns in ``dtype`` that this one builds."""
        bits = self.batch(dtype, dialect).bits
        return dataclasses.replace(self, rows=tuple(exact_row(row, dtype) for row in bits))

    def to_json(self) -> str:
        """One line of JSON that :meth:`from_json` reads back."""
        return json.dumps(
            {
                "rows": [_compact(row) for row in self.rows],
                "n": list(self.n),
                **({"layout": _compact(self.layout)} if self.layout != Layout() else {}),
                **({"params": dict(self.params)} if self.params else {}),
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: str) -> Case:
        """Read a case.

        Raises:
            ValueError: ``text`` is not a case.
        """
        try:
            data = json.loads(text)
            case = cls(
                rows=tuple(_row(entry) for entry in data["rows"]),
                n=tuple(data["n"]),
                layout=Layout(**data.get("layout", {})),
                params=data.get("params", {}),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not a case: {error!r}") from error
        if len(case.n) != len(case.rows) or len({len(row) for row in case.rows}) != 1:
            raise ValueError("not a case: rows of one length and one n per row are needed")
        return case


def exact_row(bits: Bits, dtype: str) -> Row:
    """The :class:`Row` that holds exactly ``bits`` [V], whatever they are."""
    digits = bits.astype(width(dtype).newbyteorder(">")).tobytes().hex()
    return Row(hex=digits, size=0 if dtype == "float32" else bits.size)


def _compact(value: Any) -> dict[str, Any]:
    """The fields of a :class:`Row` or :class:`Layout` that are not at their defaults."""
    return {
        field: entry
        for field, entry in dataclasses.asdict(value).items()
        if entry != getattr(type(value), field)
    }


def _row(entry: dict[str, Any]) -> Row:
    plain = {key: entry[key] for key in ("family", "size", "seed", "hex") if key in entry}
    return Row(
        values=tuple(float(value) for value in entry.get("values", ())),
        edits=tuple((int(i), float(value)) for i, value in entry.get("edits", ())),
        specials=tuple((int(i), str(name)) for i, name in entry.get("specials", ())),
        places=tuple(Place(**place) for place in entry.get("places", ())),
        **plain,
    )
