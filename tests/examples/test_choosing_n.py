"""The figures about n: right on rows of known shape, and the committed ones still come out."""

import math
from pathlib import Path
from typing import Any

import choosing_n
import numpy as np
import pytest
import smollm2
import truncations

from examples import committed

NAMES = [f"token{index}" for index in range(200)]


def _bell(scale: float) -> smollm2.Array:
    """[1, 200] logits, evenly spaced but for one above; largest first."""
    logits = np.linspace(2, -2, 200)
    logits[0] = 4
    return np.asarray(scale * logits[None], np.float32)


def _at(found: dict[str, Any], n: float) -> dict[str, Any]:
    (entry,) = [entry for entry in found["by_n"] if entry["n"] == n]
    entry = dict(entry)
    return entry


def test_two_rows_by_hand() -> None:
    # σ of either is 1: the squares of ±1/√2 about the mean add up to 1.
    near, far = [0.0, -math.sqrt(2)], [0.0, -math.sqrt(2) + 0.001]
    found = choosing_n.measure(np.array([near, far], np.float32), NAMES[:2], tokens=1)
    assert (found["rows"], found["prompts"], found["vocabulary"]) == (2, 2, 2)
    share = 1 / (1 + math.exp(-math.sqrt(2)))
    for n, kept, mass in ((1.0, 1, share), (1.5, 2, 1.0)):
        entry = _at(found, n)
        assert entry["kept"] == {"10%": kept, "median": kept, "90%": kept, "most": kept}
        assert entry["share_of_rows_with_one_token"] == float(kept == 1)
        assert entry["mass"]["median"] == pytest.approx(mass, rel=1e-3)
    entropy = -share * math.log(share) - (1 - share) * math.log(1 - share)
    assert found["entropy"]["10%"] == pytest.approx(entropy, rel=2e-3)
    assert found["sigma"]["median"] == pytest.approx(1, rel=1e-3)
    assert found["after_prompts"][1]["kept"]["1.5"] == 2
    first = found["largest"][0]
    assert first["token"] == "token0"
    assert first["probability_at_temperature_1"] == pytest.approx(share, rel=1e-3)
    hot = 1 / (1 + math.exp(-math.sqrt(2) / 2))
    assert first["probability_at_temperature_2"] == pytest.approx(hot, rel=1e-3)
    assert found["largest"][1]["below_max_in_sigma"] == pytest.approx(math.sqrt(2), rel=1e-3)


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("temperature", [1, 2])
def test_the_min_p_of_the_table_cuts_where_n_does(scale: float, temperature: int) -> None:
    logits = _bell(scale)
    found = choosing_n.measure(logits, NAMES, tokens=1)
    for n in choosing_n.N_VALUES:
        min_p = _at(found, n)[f"min_p_at_temperature_{temperature}"]["median"]
        kept = truncations.min_p(logits / np.float32(temperature), min_p)
        assert kept.sum() == _at(found, n)["kept"]["median"]


def test_rank_correlation() -> None:
    x = np.array([3.0, 1.0, 2.0, 10.0])
    assert choosing_n.rank_correlation(x, np.exp(x)) == pytest.approx(1)
    assert choosing_n.rank_correlation(x, -x) == pytest.approx(-1)
    assert math.isnan(choosing_n.rank_correlation(x, np.ones(4)))
    # Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 over the root of 4.5 times 5.
    tied = choosing_n.rank_correlation(np.array([0, 7, 7, 9]), np.arange(4))
    assert tied == pytest.approx(math.sqrt(0.9))


def test_the_committed_figures_come_out_again(
    smol: smollm2.SmolLM2, smol_rows: smollm2.Array
) -> None:
    kept = committed.figures("choosing-n.json")
    fresh = choosing_n.measure(smol_rows, smol.tokenizer.tokens)
    for one, other in zip(fresh["after_prompts"], kept["after_prompts"], strict=True):
        assert one["prompt"] == other["prompt"]
        assert one["sigma"] == pytest.approx(other["sigma"], rel=2e-3)
        assert one["entropy"] == pytest.approx(other["entropy"], rel=1e-2)
        # Another machine rounds differently, which moves tokens that lie on a cut.
        assert one["kept"] == pytest.approx(other["kept"], rel=0.01, abs=1)
    for one, other in zip(fresh["largest"], kept["largest"], strict=True):
        assert one.pop("token") == other.pop("token")
        assert one == pytest.approx(other, rel=1e-2, abs=2e-3)
    # There a text may also take another turn, once in a long while.
    assert fresh["rows"] == kept["rows"]
    for one, other in zip(fresh["by_n"], kept["by_n"], strict=True):
        assert one["n"] == other["n"]
        assert one["kept"]["median"] == pytest.approx(other["kept"]["median"], rel=0.1, abs=1)
        assert one["mass"]["median"] == pytest.approx(other["mass"]["median"], abs=0.02)
        for key in ("min_p_at_temperature_1", "min_p_at_temperature_2"):
            assert one[key]["median"] == pytest.approx(other[key]["median"], rel=0.1)
    assert fresh["rank_correlation_with_entropy"] == pytest.approx(
        kept["rank_correlation_with_entropy"], abs=0.05
    )


def test_what_the_pages_say_in_words() -> None:
    found = committed.figures("choosing-n.json")
    sure = [row for row in found["after_prompts"] if row["entropy"] < 0.5]
    assert len(sure) == 4
    assert all(row["kept"]["1.0"] == 1 for row in sure)
    open_ended = [row for row in found["after_prompts"] if row["entropy"] > 4]
    assert all(10 <= row["kept"]["1.0"] < 1000 for row in open_ended)
    correlation = found["rank_correlation_with_entropy"]
    assert abs(correlation["sigma"]) < 0.1
    assert correlation["(max - mean) / sigma"] < -0.7
    assert correlation["tokens kept at n = 1"] > 0.8
    france = found["after_prompts"][0]
    assert france["prompt"] == "The capital of France is"
    assert [france["kept"][n] for n in ("1.0", "2.0", "3.0")] == [2, 38, 513]
    yes = found["after_prompts"][3]
    assert yes["prompt"].startswith("yes yes yes")
    assert yes["kept"]["2.0"] > 2000
    assert math.isqrt(2 * (found["vocabulary"] - 1)) == 313


def test_what_is_written(tmp_path: Path) -> None:
    for page in ("top-n-sigma.md", "choosing-n.md"):
        text = (committed.DOCS / page).read_text(encoding="utf-8")
        (tmp_path / page).write_text(text, encoding="utf-8")
    logits = np.concatenate([_bell(1), _bell(2)])
    found = choosing_n.measure(logits, NAMES, tokens=1)
    written = list(choosing_n.write(tmp_path, found, logits))
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(written)
    for path in written:
        assert (committed.DOCS / path.relative_to(tmp_path)).is_file()
        assert path.stat().st_size > 1000
    assert "(V = 200)" in (tmp_path / "choosing-n.md").read_text(encoding="utf-8")
    assert "token0" in (tmp_path / "top-n-sigma.md").read_text(encoding="utf-8")
