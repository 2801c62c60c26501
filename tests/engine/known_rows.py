"""Rows whose exact results are known beforehand, for tests that compare very many of them."""

import dataclasses
import functools
import itertools
from typing import Any, cast

import numpy as np
import torch
from engine import oracle, processors
from vllm import SamplingParams

from topnsigma_reference import Dialect, Keep, classify

VOCAB_SIZES = (4, 16, 64)

Setting = tuple[float, str] | None
"""(n, policy) as the processor has to apply them; None where a row has to stay as it is."""

_NS = (1e-9, 0.5, 1, 1.5, 1e300)
POLICIES = ("noop", "exclude")
SETTINGS: tuple[Setting, ...] = (None, *itertools.product(_NS, POLICIES))
_POSITIONS = {setting: position for position, setting in enumerate(SETTINGS)}


@dataclasses.dataclass(frozen=True)
class Wish:
    """What a request says; its parameters are built once, they are only read.

    Attributes:
        n: None if it has not opted in.
        policy: None if it leaves the choice to the server.
        greedy: whether its temperature is 0.
    """

    n: float | None
    policy: str | None = None
    greedy: bool = False

    @functools.cached_property
    def params(self) -> SamplingParams:
        return processors.params(self.n, self.policy, 0.0 if self.greedy else 1.0)

    def setting(self, default_policy: str) -> Setting:
        """What that means on a server with this policy."""
        if self.n is None or self.greedy:
            return None
        return self.n, self.policy or default_policy


# As in a server that serves many clients, about half of them have not opted in.
WISHES = (
    *4 * (Wish(None), Wish(None, "exclude"), Wish(1.0, "exclude", greedy=True)),
    *(Wish(n, policy) for n in _NS for policy in (None, *POLICIES)),
)


@dataclasses.dataclass(frozen=True)
class KnownRows:
    """Rows and their exact results, none of which leaves an implementation any choice.

    Attributes:
        rows: float32 [R, V]: normal ones, some with tokens banned by -inf, ties, equal logits,
            -0.0, NaN and +inf.
        results: float32 [S, R, V], for each of `SETTINGS`.
    """

    rows: torch.Tensor
    results: torch.Tensor

    def expected(self, chosen: list[int], settings: list[Setting]) -> torch.Tensor:
        """The results [B, V] for the rows of these indices, each under its setting."""
        return self.results[[_POSITIONS[setting] for setting in settings], chosen]


@functools.cache
def known_rows(vocab_size: int) -> KnownRows:
    rows = _rows(vocab_size)
    results = [rows if s is None else oracle.expected(rows, [s] * len(rows)) for s in SETTINGS]
    for setting, row in itertools.product(SETTINGS[1:], rows):
        n, policy = cast(tuple[float, Any], setting)
        verdict = classify(row.numpy(), n, Dialect(neg_inf=policy))
        assert not np.any(verdict.codes == Keep.MAY), "a row that leaves a choice"
    return KnownRows(rows, torch.stack(results))


def _rows(vocab_size: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(vocab_size)
    rows = 2.0 * torch.randn(24, vocab_size, generator=generator)
    rows[12:18, : vocab_size // 4] = -torch.inf
    rows[18, 1] = -0.0
    rows[19, :2] = rows[19].max() + 1.0
    rows[20] = 3.5
    rows[21] += 1e4
    rows[22, 0] = torch.nan
    rows[23, -1] = torch.inf
    return rows
