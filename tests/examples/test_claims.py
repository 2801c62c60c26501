"""The verdicts on claims follow from the figures, and fall when these change."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import claims
import pytest

from examples import committed

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def figures() -> dict[str, Any]:
    return copy.deepcopy({**claims.load(committed.DOCS / "evidence")})


def _verdicts(figures: dict[str, Any]) -> list[str]:
    return [claim.verdict for claim in claims.claims(figures)]


def test_verdicts(figures: dict[str, Any]) -> None:
    own_rows = "reproduced on its own rows, different on others"
    assert _verdicts(figures) == [
        "reproduced",
        own_rows,
        own_rows,
        "reproduced",
        "different",
        "different",
        "not reproduced",
    ]
    text = " ".join(claim.statement + claim.found for claim in claims.claims(figures))
    for number in ("19,665", "20,000", "34,818", "39,366", "1.00 on 5 families", "+0.02"):
        assert number in text


def _invariance(figures: dict[str, Any]) -> None:
    figures["temperature-invariance"]["claims"][0]["verdict"] = "different"


def _top_p(figures: dict[str, Any]) -> None:
    figures["temperature-invariance"]["families"]["rfc"]["ratios"]["top_p 0.9"] = 19_666.0


def _min_p(figures: dict[str, Any]) -> None:
    figures["temperature-invariance"]["families"]["rfc"]["ratios"]["min_p 0.05"] = 19_999.0


def _worked(figures: dict[str, Any]) -> None:
    kept = figures["comparison"]["cases"]["worked example"]["kept"]
    kept["top_n_sigma 2"]["threshold"] = 6.1


@pytest.mark.parametrize(
    ("index", "change"), [(0, _invariance), (1, _top_p), (2, _min_p), (3, _worked)]
)
def test_other_figures_are_not_reproduced(
    figures: dict[str, Any], index: int, change: Change
) -> None:
    before = _verdicts(figures)
    change(figures)
    after = _verdicts(figures)
    assert after[index] == "not reproduced"
    assert after[:index] + after[index + 1 :] == before[:index] + before[index + 1 :]


def test_if_sigma_followed_the_entropy_that_would_be_reproduced(figures: dict[str, Any]) -> None:
    figures["choosing-n"]["rank_correlation_with_entropy"]["sigma"] = 0.6
    assert _verdicts(figures)[6] == "reproduced"


def test_what_the_page_says_in_words(figures: dict[str, Any]) -> None:
    families = figures["temperature-invariance"]["families"]
    uniform = families["nearly uniform"]
    assert uniform["shape"][1] == 151_936
    assert set(uniform["kept"]["top_n_sigma 2"]) == {2068}
    assert figures["temperature-invariance"]["smollm2"]["shape"][0] == 128
    peaks, cases = figures["comparison"]["peaks"], figures["comparison"]["cases"]
    assert peaks["top_n_sigma 2"]["raised"] < peaks["min_p 0.05"]["raised"] == 10
    flat = cases["flat logits"]["kept"]
    assert (flat["top_n_sigma 2"]["tokens"], flat["top_p 0.9"]["tokens"]) == (942, 45)


def _line(method: str, temperature: float | None, correct: float) -> dict[str, Any]:
    none = temperature is None
    return {
        "method": method,
        "temperature": temperature,
        "correct": correct,
        "correct_low": correct - 0.1,
        "correct_high": correct + 0.1,
        "difference": None if none else 0.0,
        "difference_low": None if none else -0.05,
        "difference_high": None if none else 0.05,
        "log_likelihood": -1.25,
        "distinct_2": 0.9,
        "self_overlap": None if none else 0.2,
        "candidates": 1234.5,
    }


def test_texts() -> None:
    quality = {
        "model": "a model",
        "note": "A sketch.",
        "settings": {
            "temperatures": [1.0, 2.0],
            "methods": ["top_n_sigma 1", "greedy"],
            "baseline": "min_p 0.1",
        },
        "figures": [
            _line("top_n_sigma 1", 1.0, 0.5),
            _line("top_n_sigma 1", 2.0, 0.4),
            _line("greedy", None, 0.3),
        ],
    }
    found = claims.texts(quality)
    assert found["setting"] == "a model. A sketch."
    rows = found["right answers"].splitlines()
    assert rows[2] == "| top-nσ at n = 1 | 0.50 (0.40 to 0.60) | 0.40 (0.30 to 0.50) |"
    assert rows[3] == "| greedy | 0.30 (0.20 to 0.40) | 0.30 (0.20 to 0.40) |"
    hot = found["hot"].splitlines()
    difference = "+0.00 (-0.05 to +0.05)"
    assert hot[2] == f"| top-nσ at n = 1 | {difference} | -1.25 | 0.90 | 0.20 | 1,234.5 |"
    assert hot[3] == "| greedy |  | -1.25 | 0.90 |  | 1,234.5 |"
    assert {*claims.texts(None)} == {*found}


def test_figures_that_are_not_there_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "comparison.json").write_text('{"a": 1}', encoding="utf-8")
    assert claims.load(tmp_path) == {"comparison": {"a": 1}}
