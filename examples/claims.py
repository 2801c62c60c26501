"""The claims that are made for top-nσ, one by one, beside what the scripts here have found.

Reads the figures that the other scripts have written, measures nothing, and prints the tables of
docs/evidence.md; ``--write`` puts them there.

    python examples/claims.py
"""

import argparse
import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import marked_blocks

Figures = Mapping[str, Any]

SOURCES = ("temperature-invariance", "comparison", "choosing-n", "bans-and-penalties", "quality")
"""Files of figures, each of the script of that name."""

_SETTINGS = ("top_n_sigma 1", "top_n_sigma 2", "top_p 0.9", "min_p 0.05", "top_k 50")
HOT = 2.0
"""The highest temperature that engines admit."""
_TEMPERATURES = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)


@dataclasses.dataclass(frozen=True)
class Claim:
    """A statement of the RFC, how it fared, what was found, and by which script.

    The verdict is *reproduced*, *not reproduced*, or *different*: on some rows, or by some methods.
    """

    statement: str
    verdict: str
    found: str
    script: str


def claims(figures: Mapping[str, Figures]) -> list[Claim]:
    """Those that numbers decide; ``figures`` by the names of ``SOURCES``."""
    temperature, comparison = figures["temperature-invariance"], figures["comparison"]
    rows = [*temperature["claims"], *temperature["smollm2"]["claims"]]
    invariance = [claim for claim in rows if claim["setting"].startswith("top_n_sigma")]
    ties = temperature["ties"]["kept"]["top_n_sigma 2"]
    worked = comparison["cases"]["worked example"]
    one, two = (worked["kept"][f"top_n_sigma {n}"] for n in (1, 2))
    bimodal, flat, grows = comparison["remarks"].values()
    correlation = figures["choosing-n"]["rank_correlation_with_entropy"]
    scales = comparison["scales"]
    return [
        Claim(
            "The number of candidates does not change between T = 0.1 and T = 10.",
            "reproduced" if _all_reproduced(invariance) else "not reproduced",
            f"largest over smallest count {', '.join(sorted({c['found'] for c in invariance}))} on"
            f" {len(invariance)} families of rows, SmolLM2's among them. Where a logit lies on the"
            f" cut, rounding decides: {min(ties):g} or {max(ties):g} tokens of the worked example.",
            "temperature_invariance",
        ),
        *(
            Claim(
                f"Over these temperatures that of {name} varies {stated} times.",
                "reproduced on its own rows, different on others"
                if stated == _ratio(temperature, setting, "rfc")
                else "not reproduced",
                f"{_ratio(temperature, setting, 'rfc')} on the rows of the RFC's author,"
                f" {_ratio(temperature, setting, 'smollm2')} on SmolLM2's,"
                f" {_others(temperature, setting)} on others. The number belongs to the rows.",
                "temperature_invariance",
            )
            for name, setting, stated in (
                ("top_p", "top_p 0.9", "19,665"),
                ("min_p", "min_p 0.05", "20,000"),
            )
        ),
        Claim(
            "With maximum 10 and σ = 2 the cut lies at 8 for n = 1 and at 6 for n = 2.",
            "reproduced" if (one["threshold"], two["threshold"]) == (8, 6) else "not reproduced",
            f"at {one['threshold']:g} and {two['threshold']:g}; {one['tokens']} and"
            f" {two['tokens']} of {worked['vocabulary']} tokens stay, those on the cut among them.",
            "comparison",
        ),
        Claim(
            "Of other truncations: “over-retains in bimodal distributions”.",
            "different",
            f"holds for {_and(bimodal)}: they keep more noise than tokens of the two peaks, which"
            f" are ten. {_peaks(comparison)}",
            "comparison",
        ),
        Claim(
            "Of other truncations: “poor for flat distributions”.",
            "different",
            f"holds for {_and(flat)}: they keep less than 1 % of tokens that are all alike."
            f" {_flat(comparison)}",
            "comparison",
        ),
        Claim(
            "σ measures how peaked a row is: small and narrow where the model is sure, large and"
            " wide where it is not.",
            "reproduced" if abs(correlation["sigma"]) > 0.5 or grows else "not reproduced",
            f"rank correlation of σ with the entropy {correlation['sigma']:+.2f} on SmolLM2's rows;"
            f" normals of any σ keep {scales['top_n_sigma 1'][0]} tokens at n = 1. That the number"
            " of tokens follows the entropy is true"
            f" ({correlation['tokens kept at n = 1']:+.2f}), but not through σ.",
            "choosing_n",
        ),
    ]


def _all_reproduced(rows: Sequence[Figures]) -> bool:
    return all(row["verdict"] == "reproduced" for row in rows)


def _ratio(temperature: Figures, setting: str, family: str) -> str:
    entry = temperature["smollm2"] if family == "smollm2" else temperature["families"][family]
    return f"{entry['ratios'][setting]:,.0f}"


def _others(temperature: Figures, setting: str) -> str:
    ratios = [
        entry["ratios"][setting] for name, entry in temperature["families"].items() if name != "rfc"
    ]
    return f"{min(ratios):,.1f} to {max(ratios):,.0f}"


def _named(setting: str) -> str:
    return setting.replace("top_n_sigma", "top-nσ at n =")


def _and(settings: Sequence[str]) -> str:
    return " and ".join(map(_named, settings)) or "none"


def _peaks(comparison: Figures) -> str:
    return (
        "Of the peaks "
        + ", ".join(
            f"{_named(setting)} keeps {comparison['peaks'][setting]['raised']}"
            for setting in ("min_p 0.05", "top_n_sigma 1", "top_n_sigma 2")
        )
        + "; none of these keeps noise."
    )


def _flat(comparison: Figures) -> str:
    kept = comparison["cases"]["flat probabilities"]["kept"]
    return (
        ", ".join(
            f"{_named(setting)} {'keeps ' if setting == 'top_n_sigma 1' else ''}"
            f"{kept[setting]['tokens']:,}"
            for setting in ("top_n_sigma 1", "top_n_sigma 2", "top_p 0.9", "min_p 0.05")
        )
        + "."
    )


def temperatures(temperature: Figures) -> str:
    """Table: tokens kept of SmolLM2's rows, the mean, at some temperatures."""
    at = [temperature["temperatures"].index(value) for value in _TEMPERATURES]
    entry = temperature["smollm2"]
    return marked_blocks.table(
        ("", *(f"T = {value:g}" for value in _TEMPERATURES), "largest / smallest"),
        (
            (
                _named(setting),
                *(f"{entry['kept'][setting][index]:,.1f}" for index in at),
                f"{entry['ratios'][setting]:,.2f}",
            )
            for setting in _SETTINGS
        ),
    )


def blocks(figures: Mapping[str, Figures]) -> dict[str, str]:
    """Name to Markdown, for docs/evidence.md."""
    return {
        "claims": marked_blocks.table(
            ("the RFC says", "verdict", "found", "script"),
            (
                (claim.statement, f"**{claim.verdict}**", claim.found, _script(claim.script))
                for claim in claims(figures)
            ),
            numbers=False,
        ),
        "temperatures": temperatures(figures["temperature-invariance"]),
        **texts(figures.get("quality")),
    }


def _script(name: str) -> str:
    return f"[`{name}.py`](../examples/{name}.py)"


def texts(quality: Figures | None) -> dict[str, str]:
    """Blocks: share of right answers by temperature, and other figures at temperature 2."""
    if quality is None:
        return dict.fromkeys(("setting", "right answers", "hot"), "(`quality.py` has not run yet.)")
    settings, lines = quality["settings"], quality["figures"]
    columns = [f"T = {value:g}" for value in settings["temperatures"]]
    hot = [line for line in lines if line["temperature"] in (HOT, None)]
    return {
        "setting": f"{quality['model']}. {quality['note']}",
        "right answers": marked_blocks.table(
            ("", *columns),
            (
                (_named(method), *_by_temperature(lines, method, settings["temperatures"]))
                for method in settings["methods"]
            ),
        )
        + _picture("quality-accuracy", "share of right answers against temperature, by method"),
        "hot": marked_blocks.table(
            (
                "",
                f"right, less that of {settings['baseline']}",
                "log p a token",
                "distinct-2",
                "self-overlap",
                "candidates",
            ),
            (
                (
                    _named(line["method"]),
                    _difference(line),
                    f"{line['log_likelihood']:.2f}",
                    f"{line['distinct_2']:.2f}",
                    "" if line["self_overlap"] is None else f"{line['self_overlap']:.2f}",
                    f"{line['candidates']:,.1f}",
                )
                for line in hot
            ),
        )
        + _picture("quality-trade-off", "share of right answers against diversity"),
    }


def _picture(name: str, description: str) -> str:
    return f"""

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="images/{name}-dark.png">
  <img alt="{description}" src="images/{name}-light.png">
</picture>"""


def _by_temperature(
    lines: Sequence[Figures], method: str, temperatures: Sequence[float]
) -> list[str]:
    """Share of right answers with its interval; greedy has the same at every temperature."""
    found = []
    for temperature in temperatures:
        (line,) = (
            line
            for line in lines
            if line["method"] == method and line["temperature"] in (temperature, None)
        )
        interval = f"{line['correct_low']:.2f} to {line['correct_high']:.2f}"
        found.append(f"{line['correct']:.2f} ({interval})")
    return found


def _difference(line: Figures) -> str:
    if line["difference"] is None:
        return ""
    interval = f"{line['difference_low']:+.2f} to {line['difference_high']:+.2f}"
    return f"{line['difference']:+.2f} ({interval})"


def load(folder: Path) -> dict[str, Figures]:
    """The figures that there are, by the names of ``SOURCES``."""
    paths = {name: folder / f"{name}.json" for name in SOURCES}
    return {
        name: json.loads(path.read_text(encoding="utf-8"))
        for name, path in paths.items()
        if path.exists()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="where the figures are")
    parser.add_argument("--write", action="store_true", help="the tables into its evidence.md")
    arguments = parser.parse_args()
    written = blocks(load(arguments.docs / "evidence"))
    for name, block in written.items():
        print(f"{name}\n\n{block}\n")
    if arguments.write:
        page = arguments.docs / "evidence.md"
        marked_blocks.fill(page, written)
        print(f"wrote {page}")


if __name__ == "__main__":
    main()
