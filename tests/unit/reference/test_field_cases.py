"""Rows derived from public reports about top-nσ and its neighbours, one test each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topnsigma_reference import Dialect, classify, top_n_sigma

CASES = json.loads(
    (Path(__file__).parents[2] / "cases" / "field-cases.json").read_text(encoding="utf-8")
)["cases"]
DIALECTS = {
    "rfc": Dialect(),
    "sample": Dialect(),
    "population": Dialect(sigma="population"),
    "exclude": Dialect(neg_inf="exclude"),
}
INPUTS = {"id", "row", "rows", "n", "note"}


def check_row(row: list[float | str], n: Any, expected: Any, dialect: Dialect) -> None:
    logits = np.array([float(value) for value in row], dtype=np.float32)
    if expected == "error":
        for call in (classify, top_n_sigma):
            with pytest.raises(ValueError, match="n must be"):
                call(logits, n, dialect)
        return
    result = top_n_sigma(logits, n, dialect)
    verdict = classify(logits, n, dialect)
    if expected == "unchanged":
        assert verdict.unchanged
        assert result.tobytes() == logits.tobytes()
        return
    kept = np.isin(np.arange(logits.size), expected)
    assert np.flatnonzero(verdict.keep).tolist() == expected
    assert result[kept].tobytes() == logits[kept].tobytes()
    assert (result[~kept] == -np.inf).all()


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_field_case(case: dict[str, Any]) -> None:
    expectations = case.keys() - INPUTS
    assert expectations
    assert expectations <= DIALECTS.keys()
    for key in expectations:
        dialect, expected = DIALECTS[key], case[key]
        if "row" in case:
            check_row(case["row"], case["n"], expected, dialect)
            continue
        for row, n, each in zip(case["rows"], case["n"], expected, strict=True):
            check_row(row, n, each, dialect)
        rows = np.array(case["rows"], dtype=np.float32)
        one_by_one = [top_n_sigma(row, n, dialect) for row, n in zip(rows, case["n"], strict=True)]
        assert top_n_sigma(rows, case["n"], dialect).tobytes() == np.stack(one_by_one).tobytes()
