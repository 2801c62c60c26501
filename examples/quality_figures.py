"""What the answers of ``quality.py`` come to: one line of figures for a method and temperature."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise, permutations
from statistics import fmean, stdev

from prompts import CONTINUATION, KINDS, Prompt
from quality_cells import Cell, Key, Sample, Settings

BASELINE = "min_p 0.1"
"""The method that the others are compared with, prompt by prompt."""

_Z = 1.96  # Standard normal: 95 %.


@dataclasses.dataclass(frozen=True)
class Figures:
    """Of one method at one temperature, over all prompts and seeds.

    Attributes:
        method: its name.
        temperature: None for greedy, which has none.
        correct: share of answers that are right.
        correct_low, correct_high: 95 % interval of it, by ``wilson``.
        difference: of ``correct`` from that of ``BASELINE`` at the same temperature; None for
            greedy, and where the baseline was not measured.
        difference_low, difference_high: 95 % interval of it, by ``paired``.
        by_kind: share of right answers in each kind.
        log_likelihood: natural logarithm of the probability under the untruncated model at
            temperature 1, mean over all tokens of all answers.
        distinct_2: of the continuations of a prompt by all seeds, the share of token pairs that are
            different from one another; mean over the prompts.
        self_overlap: of the different token pairs of an answer, the share that the one by another
            seed has too; mean over pairs of seeds and prompts. None with a single seed.
        candidates: from how many tokens one was chosen; mean over all tokens of all answers.
        tokens: of an answer, mean.
    """

    method: str
    temperature: float | None
    correct: float
    correct_low: float
    correct_high: float
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    by_kind: Mapping[str, float]
    log_likelihood: float
    distinct_2: float
    self_overlap: float | None
    candidates: float
    tokens: float


def figures(settings: Settings, cells: Mapping[Key, Cell]) -> list[Figures]:
    """Method by method, each by rising temperature; KeyError where a cell is missing."""
    lines = []
    for method in settings.methods:
        for temperature in (None,) if method == "greedy" else settings.temperatures:
            runs = _runs(settings, cells, method, temperature)
            base = None
            if temperature is not None and BASELINE in settings.methods:
                base = _runs(settings, cells, BASELINE, temperature)
            lines.append(_line(method, temperature, settings.chosen(), runs, base))
    return lines


def wilson(share: float, count: int) -> tuple[float, float]:
    """95 % interval of a share of ``count`` independent trials (Wilson 1927).

    ``count`` is the number of prompts here, however many seeds each had: answers to one prompt are
    alike, so seeds are no independent trials; and the mean of a prompt's answers varies at most as
    one answer does, so that the interval is rather too wide than too narrow.
    """
    z = _Z * _Z / count
    middle = (share + z / 2) / (1 + z)
    half = _Z / (1 + z) * math.sqrt(share * (1 - share) / count + z / (4 * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def paired(ours: Sequence[float], base: Sequence[float]) -> tuple[float, float, float]:
    """Mean difference over prompts, and its 95 % interval, of a share for each prompt.

    By the normal approximation, from how the differences of the prompts scatter; at least two.
    """
    differences = [mine - theirs for mine, theirs in zip(ours, base, strict=True)]
    mean, half = fmean(differences), _Z * stdev(differences) / math.sqrt(len(differences))
    return mean, mean - half, mean + half


def distinct_2(texts: Sequence[Sequence[int]]) -> float:
    """Share of different ones among the pairs of neighbours in ``texts``; 0 where there is none."""
    pairs = [pair for ids in texts for pair in pairwise(ids)]
    return len(set(pairs)) / len(pairs) if pairs else 0.0


def self_overlap(texts: Sequence[Sequence[int]]) -> float | None:
    """Share of the different pairs of one text that another has; None where there is no pair."""
    sets = [set(pairwise(ids)) for ids in texts]
    shares = [len(one & other) / len(one) for one, other in permutations(sets, 2) if one]
    return fmean(shares) if shares else None


def _runs(
    settings: Settings, cells: Mapping[Key, Cell], method: str, temperature: float | None
) -> list[Cell]:
    # Greedy would give every seed the same.
    if temperature is None:
        return [cells[method, None, None]] * settings.seeds
    return [cells[method, temperature, seed] for seed in range(settings.seeds)]


def _line(
    method: str,
    temperature: float | None,
    prompts: Sequence[Prompt],
    runs: Sequence[Cell],
    base: Sequence[Cell] | None,
) -> Figures:
    shares = _shares(runs)
    correct = fmean(shares)
    low, high = wilson(correct, len(shares))
    difference: tuple[float | None, float | None, float | None] = (None, None, None)
    if base is not None:
        difference = paired(shares, _shares(base))
    answers: list[tuple[Sample, ...]] = list(zip(*(run.samples for run in runs), strict=True))
    samples = [sample for of_prompt in answers for sample in of_prompt]
    steps = sum(sample.steps for sample in samples)
    texts = [[sample.ids for sample in of_prompt] for of_prompt in answers]
    overlaps = [found for of_prompt in texts if (found := self_overlap(of_prompt)) is not None]
    return Figures(
        method,
        temperature,
        correct,
        low,
        high,
        *difference,
        by_kind={
            kind.name: fmean(
                share for share, prompt in zip(shares, prompts, strict=True) if prompt.kind is kind
            )
            for kind in KINDS
        },
        log_likelihood=sum(sample.log_likelihood for sample in samples) / steps,
        distinct_2=fmean(
            distinct_2(of_prompt)
            for of_prompt, prompt in zip(texts, prompts, strict=True)
            if prompt.kind is CONTINUATION
        ),
        self_overlap=fmean(overlaps) if overlaps else None,
        candidates=sum(sample.candidates for sample in samples) / steps,
        tokens=steps / len(samples),
    )


def _shares(runs: Sequence[Cell]) -> list[float]:
    """For each prompt the share of seeds with a right answer."""
    answers = zip(*(run.samples for run in runs), strict=True)
    return [fmean(sample.correct for sample in of_prompt) for of_prompt in answers]
