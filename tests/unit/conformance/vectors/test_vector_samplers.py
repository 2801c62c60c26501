"""Frozen vectors: what they see of the gallery, through the runner of the examples."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import run_vectors
from gallery import right, wrong
from gallery.textbook import Textbook

from topnsigma_conformance.faults import FAULTS

UNSEEN = {
    "StridesIgnored": "a vector has no strides: whoever runs it lays the rows out",
    "DeviceChanged": "bit patterns have no device",
    "InputAltered": "whether the input may be written to is not for a vector to say",
    "InputNotAltered": "the result is right; that it is another memory is not part of it",
    "WritesOutsideItsRows": "what lies around the rows is the runner's own",
    "MemoryLeaked": "memory is no part of a result",
}
"""Faults that no vector can catch, and why. The property-based suite does."""


def sampler(implementation: Textbook, dtype: str = "float32") -> run_vectors.Sampler:
    """A class of the gallery as the runner takes it: on memory that it shares with the runner."""
    code = "I" if dtype == "float32" else "H"

    def given(words: Any) -> Any:
        if implementation.arrays == "torch":
            import torch

            signed = torch.from_numpy(words.view(words.dtype.str.replace("u", "i")))
            return signed.view(getattr(torch, dtype))
        return words if dtype == "bfloat16" else words.view(dtype)

    def taken(result: Any) -> array[int]:
        if implementation.arrays == "torch":
            import torch

            result = result.view(torch.int32 if code == "I" else torch.int16).numpy()
        return array(code, np.asarray(result).tobytes())

    def apply(logits: Any, n: list[Any]) -> Sequence[Any]:
        if implementation.batched:
            return list(implementation.apply(logits, n))
        return [
            implementation.apply(logits[row : row + 1], n[row : row + 1])[0]
            for row in range(len(n))
        ]

    def call(rows: run_vectors.Rows, n: list[Any]) -> run_vectors.Rows:
        words = np.stack([np.frombuffer(row, f"u{row.itemsize}") for row in rows])
        try:
            results = apply(given(words), n)
        finally:
            for row, after in zip(rows, words, strict=True):
                row[:] = array(code, after.tobytes())
        return [taken(result) for result in results]

    return call


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("cls", "dtype"),
    [(cls, dtype) for cls in right.ALL for dtype in cls.dtypes],
    ids=lambda entry: entry if isinstance(entry, str) else entry.__name__,
)
def test_right_ones_pass(
    cls: type[Textbook], dtype: str, exported: Path, own: list[dict[str, Any]]
) -> None:
    if (cls.dialect, dtype) == (Textbook.dialect, "float32"):
        chosen = [vector for vector in own if cls.extreme or vector["domain"] == "core"]
    else:
        dialect = str(cls.dialect)
        chosen = list(run_vectors.load(exported, dialect, dtype, extreme=cls.extreme))
    assert len(chosen) > 150
    call = sampler(cls(), dtype)
    wrongs = [(vector["id"], run_vectors.problem_with(vector, call)) for vector in chosen]
    assert [entry for entry in wrongs if entry[1]] == []


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "cls",
    # The result of the one that is left out has no bits that could be read.
    [cls for cls in wrong.ALL if cls.__name__ != "DeviceChanged"],
    ids=lambda cls: cls.__name__,
)
def test_a_vector_catches_what_it_claims(cls: type[Textbook], own: list[dict[str, Any]]) -> None:
    claiming = {vector["id"] for vector in own if cls.__name__ in vector["faults"]}
    assert bool(claiming) == (cls.__name__ not in UNSEEN)
    # Whole subjects, since some faults show only in what follows on another call.
    subjects = {identifier.split("/")[0] for identifier in claiming}
    call = sampler(cls())
    caught = {
        vector["id"]
        for vector in own
        if not claiming or vector["id"].split("/")[0] in subjects
        if run_vectors.problem_with(vector, call)
    }
    assert claiming <= caught
    assert bool(caught) == bool(claiming)


def test_the_faults_are_those_that_can_be_seen(everything: list[dict[str, Any]]) -> None:
    claimed = {fault for vector in everything for fault in vector["faults"]}
    assert claimed == set(FAULTS) - set(UNSEEN)
    assert set(UNSEEN) <= set(FAULTS)
    gallery = {cls.__name__ for cls in wrong.ALL}
    assert len(gallery & claimed) >= 0.9 * len(gallery)


def test_the_runner_demonstrates_itself(
    exported: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run_vectors.py", str(exported)])
    with pytest.raises(SystemExit) as stopped:
        run_vectors.main()
    assert stopped.value.code == 0
    assert capsys.readouterr().out.endswith(" passed, 0 failed\n")


def greedy_where_disabled(rows: run_vectors.Rows, n: list[Any]) -> run_vectors.Rows:
    return run_vectors.top_n_sigma(rows, [1e-300 if entry is None else entry for entry in n])


def test_the_runner_points_at_the_fault(
    exported: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_vectors, "top_n_sigma_", greedy_where_disabled, raising=False)
    arguments = [
        "run_vectors.py",
        str(exported),
        "--core",
        "--function",
        "run_vectors:top_n_sigma_",
    ]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setitem(sys.modules, "run_vectors", run_vectors)
    with pytest.raises(SystemExit) as stopped:
        run_vectors.main()
    assert stopped.value.code == 1
    output = capsys.readouterr().out
    assert "points at DisabledRowMadeGreedy: all " in output
    assert "TNS-2: row 0, token 0 should stay  DisabledRowMadeGreedy\n" in output
    assert not {"TNS-1", "TNS-3", "TNS-4", "TNS-5"} & set(output.replace(":", " ").split())


def test_a_token_may_go_either_way_but_there_is_one_cut(everything: list[dict[str, Any]]) -> None:
    vector = next(v for v in everything if v["id"][:5] == "ties/" and "E" in v["expected"][0])
    (letters,), fill = vector["expected"], int(vector["fill"], 16)
    (row,) = (run_vectors.words(text, vector["dtype"]) for text in vector["rows"])
    tied = [index for index, letter in enumerate(letters) if letter == "E"]
    assert len(tied) == 2

    def outcome(masked: list[int]) -> str:
        result = array(
            "I",
            (
                fill if letter == "D" or index in masked else pattern
                for index, (pattern, letter) in enumerate(zip(row, letters, strict=True))
            ),
        )
        return run_vectors.problem_with(vector, lambda rows, n: [result])

    assert outcome([]) == outcome(tied) == ""
    assert outcome(tied[:1]) == outcome(tied[1:]) != ""
