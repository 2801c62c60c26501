"""The truncations again, a token at a time, with how near each came to deciding otherwise.

A margin tells by how much the closest comparison was decided, so that a
test can leave out rows on which rounding may decide.
"""

import itertools
import math
from collections.abc import Callable, Sequence

Kept = tuple[set[int], float]
"""Tokens that stay, and the margin."""


def probabilities(row: Sequence[float]) -> list[float]:
    maximum = max(row)
    weights = [math.exp(x - maximum) for x in row]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def top_k(row: Sequence[float], k: int) -> Kept:
    least = sorted(row, reverse=True)[min(k, len(row)) - 1]
    return {token for token, x in enumerate(row) if x >= least}, math.inf


def top_p(row: Sequence[float], p: float) -> Kept:
    order = sorted(range(len(row)), key=lambda token: (-row[token], token))
    return _until(order, probabilities(row), p)


def min_p(row: Sequence[float], p: float) -> Kept:
    return _at_least(row, p * max(probabilities(row)))


def epsilon(row: Sequence[float], probability: float) -> Kept:
    return _at_least(row, probability)


def typical(row: Sequence[float], mass: float) -> Kept:
    shares = probabilities(row)
    entropy = -math.fsum(share * math.log(share) for share in shares)
    distance = [abs(-math.log(share) - entropy) for share in shares]
    order = sorted(range(len(row)), key=lambda token: (distance[token], token))
    kept, margin = _until(order, shares, mass)
    gaps = [abs(distance[a] - distance[b]) for a in order for b in order if row[a] != row[b]]
    return kept | _largest(row), min([margin, *gaps])


def top_n_sigma(row: Sequence[float], n: float) -> Kept:
    if len(row) == 1:
        return {0}, math.inf
    mean = math.fsum(row) / len(row)
    variance = math.fsum((x - mean) ** 2 for x in row) / (len(row) - 1)
    cut = max(row) - n * math.sqrt(variance)
    kept = {token for token, x in enumerate(row) if x >= cut}
    return kept | _largest(row), min(abs(x - cut) for x in row)


def _at_least(row: Sequence[float], least: float) -> Kept:
    shares = probabilities(row)
    kept = {token for token, share in enumerate(shares) if share >= least}
    largest = _largest(row)
    below = [abs(share / least - 1) for token, share in enumerate(shares) if token not in largest]
    return kept | largest, min(below, default=math.inf)


def _until(order: list[int], shares: list[float], mass: float) -> Kept:
    sums = list(itertools.accumulate(shares[token] for token in order))
    count = next((i + 1 for i, total in enumerate(sums) if total >= mass), len(order))
    return set(order[:count]), min(abs(total - mass) for total in sums)


def _largest(row: Sequence[float]) -> set[int]:
    maximum = max(row)
    return {token for token, x in enumerate(row) if x == maximum}


NAIVE: dict[str, Callable[[Sequence[float], float], Kept]] = {
    "top_k": lambda row, k: top_k(row, int(k)),
    "top_p": top_p,
    "min_p": min_p,
    "typical": typical,
    "epsilon": epsilon,
    "top_n_sigma": top_n_sigma,
}
