"""What four truncations keep of rows that the vLLM RFC argues with.

    python examples/comparison.py                 # numpy alone
    pip install matplotlib && python examples/comparison.py --write docs

The rows: a worked example with maximum 10 and σ 2, small enough to be checked by hand, with a logit
on the cut of n = 1 and one on that of n = 2; the bimodal row and the flat row of the RFC's author
(see ``synthetic_rows``); and the flat row once more with σ 0.1.

The RFC calls normals of σ 5 flat, "large std", and expects top-nσ to keep more of them. As
probabilities they are anything but flat: the larger σ, the more probable the first token. Those of
σ 0.1 are. And σ alone does not change what top-nσ keeps: that is its invariance to temperature,
and the last table shows it. Of the remarks in the RFC's table, "over-retains in bimodal
distributions" and "poor for flat distributions", the script prints for whom they hold on these
rows, by criteria that it states.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import figures
import numpy as np
import synthetic_rows
import truncations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SETTINGS = ("top_k 50", "top_p 0.9", "min_p 0.05", "top_n_sigma 1", "top_n_sigma 2")
CASES: dict[str, Callable[[], synthetic_rows.Row]] = {
    "worked example": synthetic_rows.worked_example,
    "bimodal": synthetic_rows.rfc_bimodal,
    "flat logits": synthetic_rows.rfc_flat,
    "flat probabilities": lambda: synthetic_rows.rfc_flat(0.1),
}
RAISED = [*range(5), *range(100, 105)]
"""The tokens of the two peaks of the bimodal row."""
SCALES = (0.5, 1.0, 2.0, 5.0)
"""σ from what the RFC's author calls sharp to what he calls flat."""


def case(logits: synthetic_rows.Row) -> dict[str, Any]:
    """What each of SETTINGS keeps of ``logits`` [1, V] at temperature 1.

    ``threshold`` is that of the method where it is one of logits, otherwise the least logit that is
    kept; ``mass`` is the probability of what is kept.
    """
    maximum, sigma = float(logits.max()), float(logits.std(ddof=1, dtype=np.float64))
    weights = np.exp(logits.astype(np.float64) - maximum)
    kept = {}
    for setting in SETTINGS:
        mask = truncations.keep(setting, logits)
        name, value = setting.split()
        threshold = {
            "min_p": maximum + np.log(float(value)),
            "top_n_sigma": maximum - float(value) * sigma,
        }.get(name, float(logits[mask].min()))
        kept[setting] = {
            "tokens": int(mask.sum()),
            "mass": _rounded(weights[mask].sum() / weights.sum()),
            "threshold": _rounded(threshold),
        }
    return {
        "vocabulary": logits.shape[1],
        "maximum": _rounded(maximum),
        "sigma": _rounded(sigma),
        "kept": kept,
    }


def peaks() -> dict[str, dict[str, int]]:
    """Setting to how many tokens it keeps of the bimodal row: of its peaks, and of its noise."""
    logits = synthetic_rows.rfc_bimodal()
    found = {}
    for setting in SETTINGS:
        mask = truncations.keep(setting, logits)[0]
        raised = int(mask[RAISED].sum())
        found[setting] = {"raised": raised, "noise": int(mask.sum()) - raised}
    return found


def scales() -> dict[str, list[int]]:
    """Setting to how many tokens it keeps of one row of normals at each of SCALES."""
    rows = np.concatenate([synthetic_rows.rfc_flat(sigma) for sigma in SCALES])
    return {name: truncations.keep(name, rows).sum(axis=1).tolist() for name in SETTINGS}


def remarks(document: dict[str, Any]) -> dict[str, list[str]]:
    """Each remark of the RFC's table, with its criterion, to the settings for which it holds."""
    flat = document["cases"]["flat probabilities"]
    hundredth = flat["vocabulary"] / 100
    return {
        "over-retains in bimodal distributions: keeps more noise than raised tokens": [
            name for name, kept in document["peaks"].items() if kept["noise"] > kept["raised"]
        ],
        "poor for flat distributions: keeps less than 1 % of tokens that are all alike": [
            name for name, kept in flat["kept"].items() if kept["tokens"] < hundredth
        ],
        "sharp keeps fewer, flat keeps more: grows with σ": [
            name
            for name, counts in document["scales"].items()
            if counts[-1] > counts[0] and counts == sorted(counts)
        ],
    }


def evidence() -> dict[str, Any]:
    """All findings, ready for JSON; the same on every machine."""
    document: dict[str, Any] = {
        "cases": {name: case(rows()) for name, rows in CASES.items()},
        "peaks": peaks(),
        "sigmas": SCALES,
        "scales": scales(),
    }
    return document | {"remarks": remarks(document)}


def _rounded(value: float) -> float:
    """To six digits: the last ones of a sum are not those of every machine."""
    return float(f"{value:.6g}")


def show(document: dict[str, Any]) -> None:
    """Print the findings as tables."""
    for name, found in document["cases"].items():
        facts = "V = {vocabulary:,}, maximum {maximum:g}, σ {sigma:g}".format(**found)
        print(f"{name}: {facts}\n  {'':14}{'tokens':>8}{'mass':>10}{'threshold':>12}")
        for setting, kept in found["kept"].items():
            values = "{tokens:>8,}{mass:>10.4f}{threshold:>12g}".format(**kept)
            print(f"  {setting:14}{values}")
    print("bimodal: tokens of the two peaks that are kept, and noise")
    for setting, kept in document["peaks"].items():
        print(f"  {setting:14}{kept['raised']:>4} of {len(RAISED)}, noise {kept['noise']:,}")
    sigmas = "".join(f"{f'σ={sigma:g}':>9}" for sigma in document["sigmas"])
    print(f"the same normals with another σ: tokens kept\n  {'':14}{sigmas}")
    for setting, counts in document["scales"].items():
        print(f"  {setting:14}" + "".join(f"{count:>9,}" for count in counts))
    for remark, settings in document["remarks"].items():
        print(f"{remark}: {', '.join(settings) or 'none'}")


def write(document: dict[str, Any], folder: Path) -> None:
    """Write evidence/comparison.json and the picture under ``folder``."""
    # Whoever wants the numbers alone needs no matplotlib.
    import pictures

    figures.write(folder, "comparison", document)

    def paint(figure: Figure) -> None:
        parts: Any = figure.subfigures(2, 2, wspace=0.05, hspace=0.05)
        for part, (name, found) in zip(parts.flat, document["cases"].items(), strict=True):
            curve, bars = part.subplots(2, sharex=True, height_ratios=(3, 2))
            _paint_case(curve, bars, name, found)

    pictures.draw(folder / "images" / "comparison", paint, (12, 9))


def _paint_case(curve: Axes, bars: Axes, name: str, found: dict[str, Any]) -> None:
    """The logits in descending order, and under them how far down each setting goes."""
    import pictures

    logits = -np.sort(-CASES[name]()[0])
    curve.plot(np.arange(1, len(logits) + 1), logits, ".-", color=pictures.COLOURS["plain"], ms=4)
    for line, (setting, kept) in enumerate(found["kept"].items()):
        method, last = setting.partition(" ")[0], kept["tokens"]
        colour = pictures.COLOURS[method]
        bars.barh(line, last - 0.7, left=0.7, height=0.62, color=colour)
        curve.plot(last, logits[last - 1], pictures.MARKERS[method], ms=8, color=colour)
    curve.set_title(f"{name}: V = {found['vocabulary']:,}, σ = {found['sigma']:.3g}")
    curve.set_ylabel("logit")
    curve.margins(y=0.12)
    bars.set(xscale="log", xlabel="rank of the token", xlim=(0.7, 1.4 * len(logits)))
    bars.set_ylim(len(SETTINGS) - 0.4, -0.6)
    shown = [name.replace("top_n_sigma", "top-nσ, n =") for name in SETTINGS]
    bars.set_yticks(range(len(SETTINGS)), labels=shown)
    kept_ones = [f"{kept['tokens']:,}, {kept['mass']:.1%}" for kept in found["kept"].values()]
    right = bars.secondary_yaxis("right")
    right.set_yticks(range(len(SETTINGS)), labels=kept_ones)
    right.spines["right"].set_visible(False)
    bars.text(1.01, 1.01, "tokens, mass", transform=bars.transAxes, va="bottom")
    for axis in (bars.yaxis, right.yaxis):
        axis.set_tick_params(length=0)
    pictures.frame(curve)
    pictures.frame(bars)
    bars.yaxis.grid(False)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="JSON and picture under it")
    arguments = parser.parse_args()
    document = evidence()
    show(document)
    if arguments.write:
        write(document, arguments.write)


if __name__ == "__main__":
    main()
