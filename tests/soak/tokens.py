"""Whether rows and tokens are what the reference makes of the logits that the server recorded."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from engine.known_rows import Setting
from engine.recording import Row
from soak.finding import Finding, finding
from soak.load import Outcome
from soak.traffic import WATCHED

from topnsigma_reference import Dialect, Keep, classify

Bools = npt.NDArray[np.bool_]

# vLLM puts the endpoint before the client's name and a number behind it, and the number of the
# choice before all of it where there are several.
_NAME = re.compile(rf"(?:(\d+)_)?\w+-{WATCHED}(\d+)-")


def tokens(rows: Iterable[tuple[str, int, Row]], outcomes: Mapping[int, Outcome]) -> list[Finding]:
    """Hold each row to the verdict on its logits, and each token to its row.

    Where the reference leaves a choice (TNS-9), to keep a token is as right as to mask it.

    Args:
        rows: as `row_file.read` reads them; of two for one token the last counts, the other was
            of a prompt that was not complete.
        outcomes: of watched requests, by index.
    """
    wrong_rows: list[str] = []
    wrong_tokens: list[str] = []
    seen: dict[tuple[int, int], dict[int, Bools]] = defaultdict(dict)
    checked_rows = truncated = checked_tokens = 0
    for name, token, row in rows:
        index, choice = _owner(name)
        checked_rows += 1
        codes = _codes(row, outcomes[index].planned.setting)
        fault = _fault(row, codes)
        if fault:
            wrong_rows.append(f"{_of(outcomes[index])}, row of token {token}: {fault}")
        truncated += int(np.any(np.isneginf(row.after) & ~np.isneginf(row.before)))
        seen[index, choice][token] = (codes != Keep.MUST_DROP) & (row.before > -np.inf)
    for index, outcome in outcomes.items():
        for choice, received in outcome.tokens.items():
            of_choice = seen[index, choice]
            for position, token in enumerate(received):
                checked_tokens += 1
                if position not in of_choice:
                    wrong_tokens.append(f"{_of(outcome)}: token {position} without a row")
                elif not of_choice[position][token]:
                    wrong_tokens.append(f"{_of(outcome)}: token {position} is {token}: not kept")
    return [
        finding(
            "recorded rows are what the reference makes of them",
            checked_rows,
            wrong_rows,
            f"{truncated:,} of them truncated",
        ),
        finding("tokens are of the kept set of their row", checked_tokens, wrong_tokens),
    ]


def _owner(name: str) -> tuple[int, int]:
    match = _NAME.match(name)
    assert match, name
    return int(match[2]), int(match[1] or 0)


def _codes(row: Row, setting: Setting) -> npt.NDArray[np.int8]:
    if setting is None:
        return np.full(row.before.shape, Keep.MUST_KEEP, np.int8)
    n, policy = setting
    neg_inf: Any = policy
    return classify(row.before, n, Dialect(neg_inf=neg_inf)).codes


def _fault(row: Row, codes: npt.NDArray[np.int8]) -> str:
    same = row.after.view(np.int32) == row.before.view(np.int32)
    masked = np.isneginf(row.after)
    for what, where in (
        ("masked, and has to be kept", (codes == Keep.MUST_KEEP) & ~same),
        ("kept, and has to be masked", (codes == Keep.MUST_DROP) & ~masked),
        ("neither masked nor as it was", ~same & ~masked),
    ):
        if where.any():
            return f"token {int(np.argmax(where))} is {what}"
    return ""


def _of(outcome: Outcome) -> str:
    planned = outcome.planned
    return f"request {planned.index} ({planned.kind}, {planned.setting})"
