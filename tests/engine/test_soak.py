"""The soak in small, its verdicts, and faults that it has to find."""

import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from engine import engines, oracle, processors
from engine.engines import Request
from engine.recording import Recording, Row
from rich.console import Console
from soak import __main__ as command
from soak import growth, memory, row_file, shutdown
from soak.answers import answers
from soak.finding import Finding
from soak.load import Outcome
from soak.serving import Load, Served
from soak.tokens import tokens
from soak.traffic import WATCHED, Planned, traffic
from soak.watched_processor import AskedWorker

REQUESTS = 60
IDLE = "soak.idle:Idle"
OWNER = f"cmpl-{WATCHED}0-0-0123abcd"
"""As vLLM names the only choice of request 0."""


def _soaked(folder: Path, runner: str, processor: str) -> tuple[int, dict[str, Any]]:
    file = folder / "soak.json"
    options = ["--requests", str(REQUESTS), "--minutes", "0", "--watched", "2", "--json", str(file)]
    status = command.main(["--runner", runner, "--processor", processor, *options])
    document: dict[str, Any] = json.loads(file.read_text())
    return status, document


def _failed(found: list[Finding]) -> list[str]:
    return [each.name for each in found if each.failed]


@pytest.mark.long_on_v2
def test_a_small_soak(tmp_path: Path, runner: str) -> None:
    status, document = _soaked(tmp_path, runner, "soak.watched_processor:Watched")
    assert status == 0, document["findings"]
    assert document["passed"]
    assert document["requests"] == REQUESTS
    found = {each["name"]: each["tried"] for each in document["findings"]}
    assert found["bad requests are answered with 400"] == REQUESTS // 5
    unjudged = {name for name, tried in found.items() if not tried}
    assert unjudged == {name for name in found if name.startswith("the memory of")}
    assert len(unjudged) >= 2
    assert len(document["resident_kib"]) == REQUESTS
    assert document["resident_kib_without"] == []


@pytest.mark.long_on_v2
def test_faults_that_a_small_soak_finds(
    tmp_path: Path, runner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One of the faults is a process that would be waited for as long.
    monkeypatch.setattr(shutdown, "PATIENCE", 10.0)
    status, document = _soaked(tmp_path, runner, "soak.faulty_processors:ManyFaults")
    assert status == 1
    assert not document["passed"]
    assert {each["name"] for each in document["findings"] if each["failed"]} == {
        "no answer is a 5xx",
        "bad requests are answered with 400",
        "the others are answered, or left by the client",
        "no request and no setting is left at the end",
        "SIGTERM ends it cleanly",
        "recorded rows are what the reference makes of them",
        "tokens are of the kept set of their row",
    }


def test_traffic() -> None:
    first = list(itertools.islice(traffic(1, 2), 1_000))
    assert first == list(itertools.islice(traffic(1, 2), 1_000))
    assert first != list(itertools.islice(traffic(2, 2), 1_000))
    assert [each.index for each in first] == list(range(1_000))
    kinds = Counter(each.kind for each in first)
    assert kinds["bad"] == 200
    assert len(kinds) == 9
    assert min(kinds.values()) > 40
    for leaves in ("disconnects", "cancels"):
        assert sum(each.leaves == leaves for each in first) > 50
    assert {(each.bad, each.streams) for each in first} == set(
        itertools.product((True, False), repeat=2)
    )
    for each in first:
        if not each.bad:
            body = json.loads(each.body)
            n = body["vllm_xargs"].get("top_n_sigma")
            assert (each.setting is None) == (n is None or body["temperature"] == 0.0)


def _outcome(status: int, *, bad: bool = False, **others: Any) -> Outcome:
    return Outcome(Planned(0, "bad" if bad else "n", "/v1/completions", "{}"), status, **others)


FIVE, FOUR, WELL = (
    "no answer is a 5xx",
    "bad requests are answered with 400",
    "the others are answered, or left by the client",
)


@pytest.mark.parametrize(
    ("outcome", "failed"),
    [
        (_outcome(200), []),
        (_outcome(200, left=True), []),
        (_outcome(0, left=True), []),
        (_outcome(400, bad=True), []),
        (_outcome(0), [WELL]),
        (_outcome(400), [WELL]),
        (_outcome(404), [WELL]),
        (_outcome(500), [FIVE, WELL]),
        (_outcome(503, left=True), [FIVE]),
        (_outcome(200, bad=True), [FOUR]),
        (_outcome(0, bad=True), [FOUR]),
        (_outcome(422, bad=True), [FOUR]),
        (_outcome(500, bad=True), [FIVE, FOUR]),
    ],
)
def test_answers(outcome: Outcome, failed: list[str]) -> None:
    right = [_outcome(200), _outcome(400, bad=True)]
    assert _failed(answers([*right, outcome])) == failed


def _row(n: float, policy: str, sigma: float = 1.0) -> Row:
    """A row as a processor leaves it that takes σ times as large as it is."""
    before = np.random.default_rng(3).standard_normal(512).astype(np.float32)
    before[:7] = -np.inf if policy == "exclude" else 0.0
    return Row(before, oracle.masked(before, n * sigma, policy))


def _judged(row: Row, received: list[int], setting: Any) -> list[str]:
    outcome = _outcome(200, tokens={0: received})
    outcome.planned = dataclasses.replace(outcome.planned, setting=setting, watched=True)
    return _failed(tokens([(OWNER, 0, row)], {0: outcome}))


ROWS, TOKENS = (
    "recorded rows are what the reference makes of them",
    "tokens are of the kept set of their row",
)


@pytest.mark.parametrize("policy", ["noop", "exclude"])
def test_rows_and_tokens(policy: str) -> None:
    row = _row(1.5, policy)
    kept = np.flatnonzero(row.after > -np.inf)
    masked = np.flatnonzero(np.isneginf(row.after))
    setting = (1.5, policy)
    assert _judged(row, [int(kept[0])], setting) == []
    for token in (*masked[:3], masked[-1]):
        assert _judged(row, [int(token)], setting) == [TOKENS]
    assert _judged(row, [int(kept[0]), int(kept[0])], setting) == [TOKENS]
    # n doubled, half of it, and not truncated at all.
    for wrong in (_row(3.0, policy), _row(0.75, policy), Row(row.before, row.before)):
        assert _judged(wrong, [int(kept[0])], setting) == [ROWS]
    assert _judged(row, [int(kept[0])], None) == [ROWS]
    other = row.after.copy()
    other[kept[0]] = np.nextafter(other[kept[0]], np.float32(9))
    assert _judged(Row(row.before, other), [int(kept[0])], setting) == [ROWS]


def test_population_sigma_is_a_wrong_row() -> None:
    """As soon as a logit lies between the two thresholds, which are a thousandth apart."""
    rng = np.random.default_rng(5)
    before = rng.standard_normal(512).astype(np.float32)
    before[0] = before[1:].max() + 1
    # Where token 1 lies moves σ, a little less each time.
    for _ in range(10):
        sample, population = (float(before.astype(np.float64).std(ddof=d)) for d in (1, 0))
        before[1] = before.max() - 1.5 * (sample + population) / 2
    row = Row(before, oracle.masked(before, 1.5 * population / sample, "noop"))
    assert _judged(row, [0], (1.5, "noop")) == [ROWS]
    assert _judged(Row(before, oracle.masked(before, 1.5, "noop")), [0], (1.5, "noop")) == []


def test_rows_of_choices_are_told_apart(tmp_path: Path) -> None:
    right, wrong = _row(1.5, "noop"), _row(3.0, "noop")
    written = row_file.RowFile(tmp_path / "rows")
    written[f"0_cmpl-{WATCHED}0-0-0123abcd", 0] = right
    written[f"1_cmpl-{WATCHED}0-0-0123abcd", 0] = right
    written["cmpl-somebody-0-0123abcd", 0] = wrong
    read = list(row_file.read(tmp_path / "rows"))
    assert [name for name, _, _ in read] == [f"{i}_cmpl-{WATCHED}0-0-0123abcd" for i in (0, 1)]
    assert all(np.array_equal(row.after, right.after) for _, _, row in read)
    assert not written
    token = int(np.argmax(right.before))
    for choices, failed in (({0: [token], 1: [token]}, []), ({2: [token]}, [TOKENS])):
        outcome = _outcome(200, tokens=choices)
        outcome.planned = dataclasses.replace(outcome.planned, setting=(1.5, "noop"), watched=True)
        assert _failed(tokens(read, {0: outcome})) == failed


def _samples(growth_each: float, noise: int = 200) -> list[tuple[int, dict[str, int]]]:
    """200 of them, after each 25 requests: so many KiB more for each, give or take the noise."""
    rng = np.random.default_rng(7)
    counts = range(0, 5_000, 25)
    return [
        (count, {"engine": int(900_000 + count * growth_each + rng.integers(-noise, noise + 1))})
        for count in counts
    ]


@pytest.mark.parametrize(
    ("samples", "failed"),
    [
        (_samples(0.7), 0),
        (_samples(0.8), 0),
        (_samples(-2.0), 0),
        (_samples(1.0), 0),
        # A row that is kept of each request that is over, or half of one.
        (_samples(2.7), 1),
        (_samples(1.7), 1),
        (_samples(2.7, noise=2_000), 1),
        # More than may be, and less sure than has to be.
        (_samples(0.7, noise=100_000), 1),
    ],
)
def test_growth(samples: list[tuple[int, dict[str, int]]], failed: int) -> None:
    (found,) = growth.findings(samples, _samples(0.7))
    assert found.tried == 150
    assert found.failed == failed, found.detail


def test_growth_needs_a_control_that_is_as_sure() -> None:
    (without,) = growth.findings(_samples(0.0), [])
    (other,) = growth.findings(_samples(0.0), [(each, {"worker": 9}) for each, _ in _samples(0.0)])
    (short,) = growth.findings(_samples(0.0), _samples(0.0)[:20])
    (unsure,) = growth.findings(_samples(0.0), _samples(0.0, noise=100_000))
    assert (without.failed, other.failed, short.failed, unsure.failed) == (1, 1, 1, 1)


@pytest.mark.parametrize(("growth_each", "status"), [(0.8, 0), (2.7, 1)])
def test_a_server_without_top_n_sigma_is_soaked_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, growth_each: float, status: int
) -> None:
    asked: list[tuple[str, Load]] = []

    def serve(processor: str, _: str, load: Load, folder: Path, __: Console) -> Served:
        asked.append((processor, load))
        (folder / "rows").touch()
        samples = _samples(0.7 if processor == IDLE else growth_each)
        return Served(samples=[each for each in samples if each[0] <= load.requests])

    monkeypatch.setattr(command, "serve", serve)
    file = tmp_path / "soak.json"
    assert command.main(["--requests", "5000", "--json", str(file)]) == status
    load = Load(seed=8, requests=5_000, minutes=10.0, watched=16)
    assert asked == [(IDLE, load), ("soak.watched_processor:Watched", load)]
    document = json.loads(file.read_text())
    assert len(document["resident_kib"]) == len(document["resident_kib_without"]) == 200
    asked.clear()
    assert command.main(["--requests", "60"]) == 0
    assert [processor for processor, _ in asked] == ["soak.watched_processor:Watched"]


def test_memory_is_not_judged_on_v2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--runner", "V2", "--requests", "4000"])
    assert ended.value.code == 2
    assert "got 4000 with --runner V2" in capsys.readouterr().err


@pytest.mark.runner("V1")
def test_the_server_without_it_has_a_processor_that_does_nothing(tiny_model: Path) -> None:
    request = processors.params(0.5, seed=1, max_tokens=8, ignore_eos=True)
    tokens = []
    for named in ([IDLE], None):
        llm, _ = engines.start(tiny_model, record=False, logits_processors=named)
        tokens.append(engines.run(llm, [Request("one", [1, 2, 3], request)])["one"])
    assert len(tokens[0]) == 8
    assert tokens[0] == tokens[1]


def test_what_is_judged() -> None:
    assert growth.judged(5_000)
    assert growth.judged(4_000)
    assert not growth.judged(3_999)


def test_slope() -> None:
    requests = list(range(0, 5_000, 25))
    found = memory.slope(requests, [900_000 + 2 * count for count in requests])
    assert found == pytest.approx((2_000, 2_000, 2_000))
    assert memory.slope(requests[:39], [0] * 39) is None
    assert memory.slope(list(range(0, 3_000, 10)), [0] * 300) is None
    with pytest.raises(ValueError, match="got 2 and 1"):
        memory.slope([1, 2], [1])


def test_nothing_is_judged_by_few_samples() -> None:
    (found,) = growth.findings(_samples(2.0)[:20], _samples(0.0))
    assert (found.tried, found.failed) == (0, 0)
    assert "not judged" in found.detail


def test_memory_has_to_be_sampled() -> None:
    assert _failed(growth.findings([], _samples(0.0))) == ["memory is sampled"]


@pytest.mark.parametrize(
    "model_runner",
    [
        SimpleNamespace(requests={"one": 1, "other": 2}),
        SimpleNamespace(req_states=SimpleNamespace(req_id_to_index={"one": 0, "other": 1})),
    ],
    ids=["V1", "V2"],
)
def test_what_the_worker_answers(model_runner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    processor = processors.v1()
    monkeypatch.setattr(Recording, "latest", processor, raising=False)
    worker = AskedWorker()
    worker.model_runner = model_runner
    assert worker.soak_state() == {"requests": 2, "opted_in": 0}
    processor.add_request(3, processors.params(1.0))
    assert worker.soak_state() == {"requests": 2, "opted_in": 1}
    monkeypatch.delattr(Recording, "latest")
    assert worker.soak_watch() == {"requests": 2, "opted_in": 0}


@pytest.mark.parametrize(
    ("status", "left_behind", "said", "named"),
    [
        (0, [], "INFO: bye", []),
        (None, [], "", ["still there"]),
        (-9, [], "", ["status -9"]),
        (1, ["VLLM::Worker"], "", ["status 1", "VLLM::Worker"]),
        (0, [], "x\nTraceback (most recent call last)", ["Traceback"]),
    ],
)
def test_a_shutdown_that_is_not_clean(
    status: int | None, left_behind: list[str], said: str, named: list[str]
) -> None:
    found = shutdown.faults(status, left_behind, said)
    assert len(found) == bool(named)
    for part in named:
        assert part in found[0]


@pytest.fixture
def left_alone() -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with 0 at SIGTERM and leaves another one behind."""
    child = "import signal; print('up', flush=True); signal.pause()"
    parent = (
        "import signal, subprocess, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
        f"subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        "signal.pause()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", parent], stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    yield process
    os.killpg(process.pid, signal.SIGKILL)


def test_a_process_that_stays(
    left_alone: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutdown, "PATIENCE", 2.0)
    log = tmp_path / "log"
    log.write_text("Traceback of long ago")
    found = shutdown.shut_down(left_alone, log)
    assert found.failed == 1
    assert found.detail.startswith("it left python")
    assert "Traceback" not in found.detail
