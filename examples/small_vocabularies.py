"""What top-nσ can and can't do to a row of few tokens, whatever the logits are.

Of a row of V logits that are not all equal, let range be max - min and lead be max less the next
smaller logit. With σ the sample standard deviation:

- range <= σ √(2(V-1)), reached by one logit at either end and all others half-way: the two ends
  alone add range²/2 to the (V-1)σ². At n of √(2(V-1)) or more no row ever loses a token.
- range >= 2σ √((V-1)/V), for odd V 2σ √(V/(V+1)), reached by one half of the logits at either end:
  no other row of that range deviates more. At n below it every row loses a token.
- lead <= σ √V, reached by one logit above V-1 equal ones: no other row of that lead deviates less.
  At n of √V or more no token is ever left alone, however probable it is.

The last supposes that the largest logit is there once. Prints the bounds for V of 2 to 8, and the
extremes of random rows, which must lie within; ``--write docs`` puts the table into
docs/when-not-to-use-it.md and the figures beside it as JSON.

    pip install numpy
    python examples/small_vocabularies.py
"""

import argparse
import math
from pathlib import Path
from typing import Any

import figures
import marked_blocks
import numpy as np
import numpy.typing as npt

SIZES = tuple(range(2, 9))
N_VALUES = (1.0, 1.5, 2.0)
ROWS = 20_000
_SEED = 0

_Rows = npt.NDArray[np.float64]


def always_loses_below(size: int) -> float:
    """The n below which every row of ``size`` logits, not all equal, loses a token."""
    return 2 * math.sqrt(size / (size + 1) if size % 2 else (size - 1) / size)


def never_loses_from(size: int) -> float:
    """The n from which on no row of ``size`` logits loses a token."""
    return math.sqrt(2 * (size - 1))


def never_alone_from(size: int) -> float:
    """The n from which on no row of ``size`` logits is left with one token."""
    return math.sqrt(size)


def widest(size: int) -> _Rows:
    """[V]: of the largest range, in σ."""
    return np.array([1.0, -1.0] + [0.0] * (size - 2))


def narrowest(size: int) -> _Rows:
    """[V]: of the smallest range, in σ."""
    return np.array([1.0] * (size // 2) + [-1.0] * (size - size // 2))


def loneliest(size: int) -> _Rows:
    """[V]: of the largest lead, in σ."""
    return np.array([1.0] + [0.0] * (size - 1))


def extents(rows: _Rows) -> tuple[_Rows, _Rows]:
    """Range and lead of rows [B, V], [B] each, in σ of the row."""
    ordered, sigma = np.sort(rows, axis=1), rows.std(axis=1, ddof=1)
    return (ordered[:, -1] - ordered[:, 0]) / sigma, (ordered[:, -1] - ordered[:, -2]) / sigma


def random_rows(size: int, rows: int = ROWS, seed: int = _SEED) -> _Rows:
    """[rows, size]: normals to powers from 1/4 to 4: some rows are flat, some peaked."""
    rng = np.random.default_rng([seed, size])
    normals = rng.standard_normal((rows, size))
    powers = 4.0 ** rng.uniform(-1, 1, (rows, 1))
    drawn: _Rows = np.sign(normals) * np.abs(normals) ** powers
    return drawn


def measure() -> list[dict[str, Any]]:
    """For each size its bounds, and the extremes of ``ROWS`` random rows."""
    found = []
    for size in SIZES:
        spans, leads = extents(random_rows(size))
        found.append(
            {
                "V": size,
                "every_row_loses_a_token_below": always_loses_below(size),
                "no_token_is_left_alone_from": never_alone_from(size),
                "no_row_loses_a_token_from": never_loses_from(size),
                "random_rows": {
                    "smallest_range": float(f"{spans.min():.4g}"),
                    "largest_range": float(f"{spans.max():.4g}"),
                    "largest_lead": float(f"{leads.max():.4g}"),
                },
            }
        )
    return found


def fate(entry: dict[str, Any], n: float) -> str:
    """What n does to rows of that size whose largest logit is there once, in a few words."""
    if n >= entry["no_row_loses_a_token_from"]:
        return "never masks"
    parts = []
    if n < entry["every_row_loses_a_token_below"]:
        parts.append("leaves one" if entry["V"] == 2 else "masks one or more")
    if n >= entry["no_token_is_left_alone_from"]:
        parts.append("never leaves one alone")
    return ", ".join(parts) or "depends on the row"


def block(found: list[dict[str, Any]]) -> str:
    """Markdown table."""
    return marked_blocks.table(
        (
            "V",
            "every row loses a token at n <",
            "no token is left alone at n ≥",
            "no row loses a token at n ≥",
            "random rows: range / σ",
            "largest lead / σ",
            *(f"n = {n:g}" for n in N_VALUES),
        ),
        (
            (
                entry["V"],
                f"{entry['every_row_loses_a_token_below']:.3f}",
                f"{entry['no_token_is_left_alone_from']:.3f}",
                f"{entry['no_row_loses_a_token_from']:.3f}",
                f"{entry['random_rows']['smallest_range']:.3f} to"
                f" {entry['random_rows']['largest_range']:.3f}",
                f"{entry['random_rows']['largest_lead']:.3f}",
                *(fate(entry, n) for n in N_VALUES),
            )
            for entry in found
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", type=Path, metavar="DOCS", help="the folder docs/ to write to")
    arguments = parser.parse_args()
    found = measure()
    print(block(found))
    if arguments.write is not None:
        path = figures.write(arguments.write, "small-vocabularies", found)
        page = arguments.write / "when-not-to-use-it.md"
        marked_blocks.fill(page, {"small vocabularies": block(found)})
        print(f"wrote {path}\nwrote {page}")


if __name__ == "__main__":
    main()
