"""A batch as the implementation under test gets it: rows of bits, n per row, memory layout."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from topnsigma_conformance.formats import Bits, width

GUARD_VALUE = 8192.0
"""Fills the memory around a batch's rows. Large, so that counting it shows, and finite and exact in
every dtype, so that no test for non-finite values hides it."""

GUARD_BITS = {"float32": 0x46000000, "float16": 0x7000, "bfloat16": 0x4600}


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where the logits [B, V] lie in memory, in elements.

    Attributes:
        offset: elements before the first row (misaligns the base pointer).
        padding: unused elements after each row.
        spacing: distance between neighbouring tokens of a row.
        transposed: tokens of all rows interleaved: row stride 1, token stride B (+ padding).
    """

    offset: int = 0
    padding: int = 0
    spacing: int = 1
    transposed: bool = False

    @property
    def contiguous(self) -> bool:
        """Whether rows follow one another without gaps (the offset does not matter)."""
        return self.padding == 0 and self.spacing == 1 and not self.transposed

    def strides(self, rows: int, tokens: int) -> tuple[int, int]:
        """(row stride, token stride), in elements."""
        if self.transposed:
            return 1, rows + self.padding
        return tokens * self.spacing + self.padding, self.spacing

    def extent(self, rows: int, tokens: int) -> int:
        """Elements of the memory that holds the batch, with a guard behind it."""
        row_stride, token_stride = self.strides(rows, tokens)
        return self.offset + max(rows, 1) * row_stride + max(tokens, 1) * token_stride + 8


@dataclasses.dataclass(frozen=True, eq=False)
class Batch:
    """Input of one call.

    Attributes:
        bits: [B, V] bit patterns (uint32 for float32, else uint16).
        dtype: float32, float16 or bfloat16.
        n: B entries: numbers, None, or values outside the domain.
        layout: of the logits in memory.
    """

    bits: Bits
    dtype: str
    n: tuple[Any, ...]
    layout: Layout = Layout()

    @property
    def shape(self) -> tuple[int, int]:
        """(B, V)."""
        rows, tokens = self.bits.shape
        return rows, tokens

    def single_rows(self) -> list[Batch]:
        """Each row as a batch of its own, in the same layout."""
        return [
            dataclasses.replace(self, bits=self.bits[row : row + 1], n=(n,))
            for row, n in enumerate(self.n)
        ]


def lay_out(batch: Batch) -> tuple[Bits, Bits]:
    """(memory, view): a guarded flat buffer, and the batch's bits [B, V] inside it."""
    rows, tokens = batch.shape
    row_stride, token_stride = batch.layout.strides(rows, tokens)
    memory = np.full(
        batch.layout.extent(rows, tokens), GUARD_BITS[batch.dtype], dtype=width(batch.dtype)
    )
    view = np.lib.stride_tricks.as_strided(
        memory[batch.layout.offset :],
        shape=(rows, tokens),
        strides=(row_stride * memory.itemsize, token_stride * memory.itemsize),
    )
    view[...] = batch.bits
    return memory, view


def guards_intact(memory: Bits, batch: Batch) -> bool:
    """Whether everything in ``memory`` outside of the batch's rows still holds the guard."""
    rows, tokens = batch.shape
    row_stride, token_stride = batch.layout.strides(rows, tokens)
    outside = np.ones(memory.size, dtype=bool)
    inside = np.lib.stride_tricks.as_strided(
        outside[batch.layout.offset :], shape=(rows, tokens), strides=(row_stride, token_stride)
    )
    inside[...] = False
    return bool((memory[outside] == GUARD_BITS[batch.dtype]).all())
