"""What is measured: batches of logits by size, dtype and what they ask for."""

from __future__ import annotations

import dataclasses
import math
from typing import Literal

import torch

Rows = Literal["enabled", "shifted", "half", "disabled", "noop", "exclude"]
"""All rows enabled, mean 0; the same with mean 10, beside which sums cancel; every second row
enabled; none; all enabled and a third of each row banned by -inf, under either policy."""

BATCHES = (1, 8, 32, 64, 256, 1024)
VOCABULARIES = (32_000, 50_257, 128_256, 151_936, 262_144)

N = 1.0
SIGMA = 2.5

_BANNED = 3
"""Every third token is banned where tokens are."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One batch of logits `[batch, vocabulary]` and how top-nσ is asked for.

    Attributes:
        batch: rows.
        vocabulary: logits in a row.
        dtype: "float32" or "bfloat16".
        rows: what the rows hold and which of them are enabled.
    """

    batch: int
    vocabulary: int
    dtype: Literal["float32", "bfloat16"] = "float32"
    rows: Rows = "enabled"

    def __str__(self) -> str:
        return f"{self.rows}-{self.dtype}-B{self.batch}-V{self.vocabulary}"

    @property
    def torch_dtype(self) -> torch.dtype:
        """The dtype, as PyTorch knows it."""
        return torch.float32 if self.dtype == "float32" else torch.bfloat16

    @property
    def n(self) -> list[float | None]:
        """One entry a row, None where it is disabled."""
        if self.rows == "disabled":
            return [None] * self.batch
        if self.rows == "half":
            return [N if row % 2 == 0 else None for row in range(self.batch)]
        return [N] * self.batch

    @property
    def neg_inf(self) -> Literal["noop", "exclude"]:
        """The policy that the call names."""
        return "exclude" if self.rows == "exclude" else "noop"

    @property
    def bytes_moved(self) -> int:
        """What has to be read and written at least: every logit once each way."""
        return 2 * self.batch * self.vocabulary * self.torch_dtype.itemsize

    def logits(self, device: torch.device) -> torch.Tensor:
        """The batch, the same for the same case."""
        generator = torch.Generator().manual_seed(self.batch * 31 + self.vocabulary)
        mean = 10.0 if self.rows == "shifted" else 0.0
        normal = torch.randn(self.batch, self.vocabulary, generator=generator) * SIGMA + mean
        if self.rows in ("noop", "exclude"):
            normal[:, ::_BANNED] = -math.inf
        return normal.to(device, self.torch_dtype)


def _others(batch: int, vocabulary: int) -> tuple[Case, ...]:
    kinds: tuple[Rows, ...] = ("shifted", "half", "disabled", "noop", "exclude")
    return (
        *(Case(batch, vocabulary, rows=rows) for rows in kinds),
        Case(batch, vocabulary, "bfloat16"),
    )


FULL = (
    *(Case(batch, vocabulary) for vocabulary in VOCABULARIES for batch in BATCHES),
    *_others(8, 151_936),
    *_others(64, 151_936),
)

_AT_ONCE = 64 * 151_936
"""Logits of the largest batch that a CPU measures in a second or two."""

DEFAULT = tuple(
    case
    for case in FULL
    if case.batch * case.vocabulary <= _AT_ONCE
    and (case.batch in (1, 8, 64) or case.vocabulary == 32_000)
)
"""Those that fit into a few minutes on two cores."""

GRIDS = {"default": DEFAULT, "full": FULL}
