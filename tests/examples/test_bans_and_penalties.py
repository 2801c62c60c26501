"""Bans, allowed tokens and penalties: right on rows that can be checked, and the committed ones."""

import math
from pathlib import Path
from typing import Any

import bans_and_penalties
import numpy as np
import pytest
import smollm2
from bans_and_penalties import penalised, rows_within

from examples import committed

FIVE = np.array([[10, 8, 6, 6, 5]], np.float32)
"""Mean 7, σ 2: n = 1 keeps the first two, n = 2 all but the last."""


@pytest.mark.parametrize("share", [0.001, 0.02, 0.2])
def test_the_formula_for_a_bias_on_many_tokens(share: float) -> None:
    logits = 3 * np.random.default_rng(1).standard_normal((4, 20_000), np.float32)
    (found,) = bans_and_penalties.bans(logits, (round(share * 20_000),))
    assert found["sigma"] == pytest.approx(math.sqrt(9 + 1e4 * share * (1 - share)), rel=0.02)


def test_no_ban_is_no_change_and_the_largest_is_never_banned() -> None:
    none, all_but_one = bans_and_penalties.bans(FIVE, (0, 4))
    assert none["sigma"] == 2
    assert none["sigma_ratio"] == 1
    assert (
        none["kept_with_bias"]
        == none["kept_with_exclude"]
        == {
            "0.5": 1,
            "1.0": 2,
            "1.5": 2,
            "2.0": 4,
        }
    )
    assert set(all_but_one["kept_with_exclude"].values()) == {1}
    # 10, -92, -94, -94, -95: the largest stands about √5 σ above the others.
    assert set(all_but_one["kept_with_bias"].values()) == {1}
    assert all_but_one["sigma"] == pytest.approx(103.75 / math.sqrt(5), rel=1e-3)


def test_one_ban_by_hand() -> None:
    # Whichever of the last four of 10, 8, 8, 8, 8 it is: the others have σ = 1 or 0.
    (found,) = bans_and_penalties.bans(np.array([[10, 8, 8, 8, 8]], np.float32), (1,))
    assert found["kept_with_exclude"] == {"0.5": 1, "1.0": 1, "1.5": 1, "2.0": 4}
    # -92 makes σ 44.8, and 8 is within a σ of 10.
    assert found["kept_with_bias"]["0.5"] == 4


def test_allowed_tokens_by_hand() -> None:
    (found,) = bans_and_penalties.allowed(FIVE, {"some": [1, 2, 4]})
    # Of 8, 6, 5 σ is 1.53.
    assert found["noop"] == 3
    assert found["exclude"]["1.0"]["median"] == 1
    assert found["exclude"]["1.5"]["median"] == 2
    assert found["exclude"]["2.0"]["median"] == 3
    total = 1 + math.exp(-2) + math.exp(-3)
    assert found["exclude"]["1.0"]["largest_share_dropped"] == pytest.approx(
        math.exp(-2) / total, rel=1e-3
    )
    assert found["exclude"]["2.0"]["largest_share_dropped"] == 0


def test_penalties_by_hand() -> None:
    logits = np.array([[4, -2, 1, 0]], np.float32)
    context = [[0, 1, 0]]
    assert penalised(logits, context, "repetition", 2).tolist() == [[2, -4, 1, 0]]
    assert penalised(logits, context, "presence", 1.5).tolist() == [[2.5, -3.5, 1, 0]]
    assert penalised(logits, context, "frequency", 1.5).tolist() == [[1, -3.5, 1, 0]]
    assert logits.tolist() == [[4, -2, 1, 0]]


def test_a_penalty_on_v1_cannot_bring_back_what_was_masked() -> None:
    logits = np.array([[8, 7, 0, 0, 0, 0, 0, 0]], np.float32)
    found = bans_and_penalties.penalties(logits, [[0]])
    repetition = found[0]
    # 8 / 1.3 is less than 7; σ is 3.47 before, and 3.0 after.
    assert repetition["rows_with_another_largest_token"] == 1
    half, one = (entry for entry in repetition["by_n"] if entry["n"] in (0.5, 1.0))
    assert (half["kept_v1"], one["kept_v1"], one["kept_v2"]) == (2, 2, 2)
    assert half["new_largest_masked_on_v1"] == 0
    alone = np.array([[8, 6.2, 0, 0, 0, 0, 0, 0]], np.float32)
    half = bans_and_penalties.penalties(alone, [[0]])[0]["by_n"][0]
    assert half["kept_v1"] == half["rows_with_one_token_on_v1"] == 1
    assert half["new_largest_masked_on_v1"] == half["rows_with_other_tokens"] == 1
    assert half["kept_v2"] == 2


def test_rows_within_prompts_are_those_after_them(
    smol: smollm2.SmolLM2, smol_rows: smollm2.Array
) -> None:
    # Two prompts of different length, whose last rows are the first that are generated.
    prompts = smollm2.PROMPTS[:2]
    rows, contexts = rows_within(smol, prompts)
    encoded = [smol.tokenizer.encode(prompt) for prompt in prompts]
    assert len(rows) == len(contexts) == sum(len(ids) - 3 for ids in encoded)
    for index, ids in enumerate(encoded):
        after = rows[contexts.index(ids)]
        assert np.abs(after - smol_rows[16 * index]).max() < 1e-2


def _close(fresh: list[dict[str, Any]], kept: list[dict[str, Any]], key: str) -> None:
    for one, other in zip(fresh, kept, strict=True):
        if isinstance(one[key], dict):
            assert one[key] == pytest.approx(other[key], rel=0.1, abs=1)
        else:
            assert one[key] == pytest.approx(other[key], rel=0.1)


def test_the_committed_figures_come_out_again(
    smol: smollm2.SmolLM2, smol_rows: smollm2.Array
) -> None:
    kept = committed.figures("bans-and-penalties.json")
    some = [entry for entry in kept["bans"] if entry["banned"] in (0, 1000)]
    assert len(some) == 2
    found = bans_and_penalties.bans(smol_rows, [entry["banned"] for entry in some])
    for key in ("sigma", "sigma_ratio", "kept_with_bias", "kept_with_exclude"):
        _close(found, some, key)
    tokens = bans_and_penalties.allowed_tokens(smol.tokenizer.tokens)
    within, contexts = rows_within(smol)
    fresh = {
        "allowed": bans_and_penalties.allowed(smol_rows, tokens),
        "penalties": bans_and_penalties.penalties(within, contexts),
    }
    for one, other in zip(fresh["allowed"], kept["allowed"], strict=True):
        assert (one["allowed"], one["noop"]) == (other["allowed"], other["noop"])
        _close([one["exclude"][n] for n in one["exclude"]], list(other["exclude"].values()), "most")
    assert len(within) == kept["rows_for_penalties"]
    for one, other in zip(fresh["penalties"], kept["penalties"], strict=True):
        assert one["penalty"] == other["penalty"]
        _close([one], [other], "rows_with_another_largest_token")
        for at, also in zip(one["by_n"], other["by_n"], strict=True):
            assert at == pytest.approx(also, rel=0.05, abs=2)


def test_what_the_page_says_in_words() -> None:
    found = committed.figures("bans-and-penalties.json")
    bans = {entry["banned"]: entry for entry in found["bans"]}
    assert bans[0]["kept_with_bias"]["1.0"] == 7
    assert 1000 < bans[1000]["kept_with_bias"]["1.0"] < 10_000
    assert bans[1000]["kept_with_exclude"]["1.0"] == 7
    assert round(100 * 1000 / found["vocabulary"]) == 2
    for count, entry in bans.items():
        share = count / found["vocabulary"]
        expected = math.sqrt(bans[0]["sigma"] ** 2 + 1e4 * share * (1 - share))
        assert entry["sigma"] == pytest.approx(expected, rel=0.02)
    two = found["allowed"][0]
    assert two["noop"] == 2
    assert two["exclude"]["1.0"]["most"] == 1
    assert two["exclude"]["1.5"]["least"] == 2
    for entry in found["penalties"]:
        assert abs(entry["sigma_ratio"] - 1) < 0.01
        masked = [at["new_largest_masked_on_v1"] for at in entry["by_n"]]
        assert masked == sorted(masked, reverse=True)


def test_what_is_written(tmp_path: Path) -> None:
    page = "when-not-to-use-it.md"
    text = (committed.DOCS / page).read_text(encoding="utf-8")
    (tmp_path / page).write_text(text, encoding="utf-8")
    found = committed.figures("bans-and-penalties.json")
    written = list(bans_and_penalties.write(tmp_path, found))
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(written)
    assert (tmp_path / page).read_text(encoding="utf-8") == text
    for path in written:
        assert (committed.DOCS / path.relative_to(tmp_path)).is_file()
