"""Frozen vectors: their bytes, their check, and what they see of the gallery."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import run_vectors
from click.testing import CliRunner, Result
from gallery import right, wrong
from gallery.textbook import Textbook

from topnsigma_conformance.faults import FAULTS
from topnsigma_conformance.vectors.command import vectors as command
from topnsigma_conformance.vectors.export import MANIFEST, SCHEMA, export, schema_bytes
from topnsigma_conformance.vectors.subjects import SUBJECTS
from topnsigma_conformance.vectors.vector import answer, decode_n, encode_n, from_json, to_json
from topnsigma_conformance.vectors.words import from_hex, ordinal, stepped, to_hex, value_of, word

GOLDEN = "5e9623f30ccd834cc11dffad05f63ccd92588745183e6690b2598ed32963e8b3"
"""SHA-256 of the manifest, and with it of every byte, the suite's version included. To change it is
to change frozen vectors: no id may get another meaning, and the changelog has to say so."""

UNSEEN = {
    "StridesIgnored": "a vector has no strides: whoever runs it lays the rows out",
    "DeviceChanged": "bit patterns have no device",
    "InputAltered": "whether the input may be written to is not for a vector to say",
    "InputNotAltered": "the result is right; that it is another memory is not part of it",
    "WritesOutsideItsRows": "what lies around the rows is the runner's own",
    "MemoryLeaked": "memory is no part of a result",
}
"""Faults that no vector can catch, and why. The property-based suite does."""


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of vectors; not to be changed."""
    directory = tmp_path_factory.mktemp("vectors")
    export(directory)
    return directory


@pytest.fixture(scope="session")
def everything(exported: Path) -> list[dict[str, Any]]:
    """Every vector, in the order of the manifest."""
    files = json.loads((exported / MANIFEST).read_bytes())["files"]
    return [
        vector
        for file in files
        for vector in json.loads((exported / file["name"]).read_bytes()).get("vectors", ())
    ]


@pytest.fixture(scope="session")
def own(exported: Path) -> list[dict[str, Any]]:
    """The vectors that the samplers of the gallery can take, but for those of other dialects."""
    return list(run_vectors.load(exported, "RFC", "float32", extreme=True))


def test_the_bytes_are_frozen(exported: Path) -> None:
    assert hashlib.sha256((exported / MANIFEST).read_bytes()).hexdigest() == GOLDEN


def test_another_process_writes_the_same_bytes(exported: Path, tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("topnsigma-conformance")
    # Sets would be in another order.
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    subprocess.run([script, "vectors", "export", tmp_path], check=True, env=environment)
    names = sorted(path.name for path in exported.iterdir())
    assert names == sorted(path.name for path in tmp_path.iterdir())
    for name in names:
        assert (tmp_path / name).read_bytes() == (exported / name).read_bytes(), name


def test_a_few_thousand_in_a_few_megabytes(
    exported: Path, everything: list[dict[str, Any]]
) -> None:
    assert 3000 < len(everything) < 8000
    assert sum(path.stat().st_size for path in exported.iterdir()) < 4_000_000
    assert len({vector["id"] for vector in everything}) == len(everything)
    assert {vector["dtype"] for vector in everything} == {"float32", "float16", "bfloat16"}
    assert {letter for v in everything for row in v["expected"] for letter in row} == set("KDET")


def test_the_schema_is_one() -> None:
    schema = json.loads(schema_bytes())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]


def test_n_and_words_survive_json() -> None:
    entries: tuple[Any, ...] = (
        None,
        2,
        2.5,
        5e-324,
        0,
        -0.0,
        -3,
        float("inf"),
        True,
        "2.0",
        [2.0],
        {},
    )
    for entry in entries:
        back = decode_n(json.loads(json.dumps(encode_n(entry))))
        assert (type(back), repr(back)) == (type(entry), repr(entry))
    assert encode_n(decode_n({"invalid": "nan", "bits": "fff8000000000123"})) == {
        "invalid": "nan",
        "bits": "fff8000000000123",
    }
    for dtype in ("float32", "float16", "bfloat16"):
        for value in (0.0, -0.0, 1.5, -(2.0**-14), 2.0**-24, float("-inf")):
            pattern = word(value, dtype)
            assert from_hex(to_hex([pattern], dtype), dtype) == (pattern,)
            assert repr(value_of(pattern, dtype)) == repr(value)
            if pattern != word(-0.0, dtype):
                assert stepped(pattern, 0, dtype) == pattern
        assert ordinal(word(-0.0, dtype), dtype) == 0
        assert value_of(stepped(word(0.0, dtype), -1, dtype), dtype) < 0


def check(directory: Path) -> Result:
    return CliRunner().invoke(command, ["check", str(directory)])


def test_check_passes_on_an_export(exported: Path) -> None:
    result = check(exported)
    assert result.exit_code == 0, result.output
    assert result.output == "all vectors are right\n"


@pytest.fixture
def small(exported: Path, tmp_path: Path) -> Path:
    """A right directory of one subject, of another suite's version: quick to check."""
    content = json.loads((exported / "boundary.json").read_bytes())
    content["suite_version"] = "9.9.9"
    (tmp_path / SCHEMA).write_bytes(schema_bytes())
    write(tmp_path, content)
    assert check(tmp_path).exit_code == 0, check(tmp_path).output
    return tmp_path


def write(directory: Path, content: Any, *, version: str = "9.9.9") -> None:
    """Write boundary.json and a manifest that vouches for it."""
    data = json.dumps(content).encode()
    (directory / "boundary.json").write_bytes(data)
    manifest = {
        "$schema": "schema.json#/$defs/manifest",
        "spec_version": content["spec_version"],
        "suite_version": version,
        "files": [
            {"name": name, "vectors": count, "sha256": hashlib.sha256(contents).hexdigest()}
            for name, count, contents in (
                (SCHEMA, 0, schema_bytes()),
                ("boundary.json", len(content["vectors"]), data),
            )
        ],
    }
    (directory / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def flip_letter(vector: dict[str, Any]) -> None:
    row = vector["expected"][1]
    vector["expected"][1] = ("D" if row[0] == "K" else "K") + row[1:]


def change_bit(vector: dict[str, Any]) -> None:
    row = vector["rows"][2]
    vector["rows"][2] = f"{int(row[0], 16) ^ 4:x}{row[1:]}"


DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "letter": (flip_letter, "boundary/0003: expected: row 1, token 0: "),
    "bit": (change_bit, "boundary/0003: expected: row 2"),
    "key": (lambda v: v.update(colour=1), "boundary/0003: Additional properties are not allowed"),
    "no key": (lambda v: v.pop("fill"), "boundary/0003: 'fill' is a required property"),
    "digit": (
        lambda v: v["rows"].__setitem__(0, v["rows"][0][:-1]),
        "boundary/0003: rows/0: ",
    ),
    "words": (lambda v: v.update(size=1), "boundary/0003: a row does not hold 1 tokens"),
    "fewer n": (lambda v: v["n"].pop(), "boundary/0003: 16 rows, but 15 entries of n"),
    "n": (
        lambda v: v["n"].__setitem__(1, {"value": 1.25, "bits": "3ff0000000000000"}),
        'boundary/0003: n[1]: {"value": 1.25, "bits": "3ff0000000000000"} should be {"value": 1.0',
    ),
    "error": (lambda v: v.update(error=True), "boundary/0003: error: True, the reference says Fal"),
    "domain": (lambda v: v.update(domain="extreme"), "boundary/0003: domain: 'extreme', the refer"),
    "dialect": (
        lambda v: v["dialect"].update(fill="lowest"),
        "boundary/0003: fill: 'ff800000', the reference says 'ff7fffff'",
    ),
    "exact": (lambda v: v.update(exact=False), "T, the reference says E"),
    "threshold": (
        lambda v: v["thresholds"][0].update(first_kept="3f800000"),
        "boundary/0003: thresholds: row 0: ",
    ),
    "rule": (lambda v: v.update(rule="TNS-99"), "boundary/0003: unknown rule TNS-99"),
    "fault": (lambda v: v.update(faults=["Odd"]), "boundary/0003: unknown fault Odd"),
    "id": (lambda v: v.update(id="boundary/0004"), "boundary/0004: stands where boundary/0003 sho"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_check_says_which_vector_is_wrong(small: Path, damage: str) -> None:
    content = json.loads((small / "boundary.json").read_bytes())
    spoil, message = DAMAGE[damage]
    spoil(content["vectors"][3])
    write(small, content)
    result = check(small)
    assert result.exit_code == 1
    assert message in result.output
    assert all(line.startswith("boundary.json: ") for line in result.output.splitlines())


def test_check_says_which_file_is_wrong(small: Path) -> None:
    path = small / "boundary.json"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"note", b"nota", 1))
    assert "boundary.json: its SHA-256 is not that of the manifest" in check(small).output
    path.write_bytes(data[:-40])
    assert "boundary.json: is not JSON: " in check(small).output
    path.unlink()
    result = check(small)
    assert (result.exit_code, result.output) == (1, "boundary.json: is missing\n")
    path.write_bytes(data)
    (small / "odd.json").write_text("{}", encoding="utf-8")
    assert check(small).output == "odd.json: is not in the manifest\n"
    (small / "odd.json").unlink()
    (small / SCHEMA).write_bytes(schema_bytes() + b"\n")
    assert "schema.json: is not the schema of this suite" in check(small).output
    (small / MANIFEST).write_text("{}", encoding="utf-8")
    assert "manifest.json: 'files' is a required property" in check(small).output
    (small / MANIFEST).unlink()
    assert check(small).output == "manifest.json: is missing\n"


def test_check_compares_with_the_manifest(small: Path, exported: Path) -> None:
    content = json.loads((small / "boundary.json").read_bytes())
    manifest = json.loads((small / MANIFEST).read_bytes())
    manifest["files"][1]["vectors"] += 1
    (small / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    assert "holds 48 vectors, the manifest says 49" in check(small).output
    write(small, content | {"subject": "fill"})
    assert "boundary.json: its subject is 'fill', not its name" in check(small).output
    suite_version = json.loads((exported / MANIFEST).read_bytes())["suite_version"]
    write(small, content | {"suite_version": suite_version}, version=suite_version)
    assert "manifest.json: does not list parameter.json" in check(small).output
    write(small, content | {"spec_version": "9.0"})
    assert "manifest.json: spec_version is 9.0, the reference follows" in check(small).output


def test_usage(small: Path, tmp_path: Path) -> None:
    invoke = CliRunner().invoke
    assert check(tmp_path / "nowhere").exit_code == 2
    (small / "mine.txt").touch()
    result = invoke(command, ["export", str(small)])
    assert result.exit_code == 2
    assert "holds other files, such as mine.txt" in " ".join(result.output.split())


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


def test_a_vector_survives_json(everything: list[dict[str, Any]]) -> None:
    for entry in everything[::50]:
        vector = from_json(entry)
        assert to_json(vector, answer(vector), entry["id"]) == entry
        assert dataclasses.replace(vector) == vector


def test_every_subject_is_described() -> None:
    assert all(subject.description.endswith(".") for subject in SUBJECTS)
