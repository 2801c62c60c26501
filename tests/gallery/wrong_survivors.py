"""Wrong samplers: what becomes of the tokens that stay (TNS-6 and TNS-7)."""

from __future__ import annotations

import numpy as np
from gallery.textbook import Mask, Row, Textbook

from topnsigma_conformance import Dialect


class _Rewrites(Textbook):
    """Writes the row anew, unless it is left alone."""

    def truncate(self, row: Row, n: float) -> None:
        if not self.left_alone(row):
            super().truncate(row, n)
            row[...] = self.rewritten(row)

    def rewritten(self, row: Row) -> Row:
        """The row as it comes back."""
        raise NotImplementedError


class SurvivorsShifted(_Rewrites):
    def rewritten(self, row: Row) -> Row:
        return np.asarray(row - row.max())


class SurvivorsScaled(_Rewrites):
    def rewritten(self, row: Row) -> Row:
        return row / np.float32(0.8)


class SurvivorsThroughFloat16(_Rewrites):
    def rewritten(self, row: Row) -> Row:
        rounded: Row = row.astype(np.float16).astype(np.float32)
        return rounded


class NegativeZeroNormalised(_Rewrites):
    def rewritten(self, row: Row) -> Row:
        return row + np.float32(0)


class SubnormalsFlushed(_Rewrites):
    def rewritten(self, row: Row) -> Row:
        tiny = np.abs(row) < np.finfo(np.float32).tiny
        return np.where(tiny, np.copysign(np.float32(0), row), row)


class OneOfTiedMaximaLost(Textbook):
    def masked(self, row: Row, threshold: float) -> Mask:
        masked = super().masked(row, threshold)
        masked[np.flatnonzero(row == row.max())[1:]] = True
        return masked


class MaximumLostAtSmallN(Textbook):
    """Says that it drops what equals t."""

    dialect = Dialect(boundary="drop")

    def masked(self, row: Row, threshold: float) -> Mask:
        return np.asarray(row <= np.float32(threshold))
