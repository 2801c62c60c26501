"""Model Runner V2: settings by slot, whatever rows a step consists of."""

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from engine import oracle, processors
from engine.processors import SLOTS, params, v2

from topnsigma_processor.vllm_plugin import TopNSigma

pytestmark = pytest.mark.runner("V2")

Setting = tuple[float, str] | None


def _context(slots: list[int], rows_per_request: list[int] | None = None) -> Any:
    """A step of requests in ``slots``, with one row each or as many as given."""
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsContext

    counts = rows_per_request or [1] * len(slots)
    expanded = np.repeat(np.array(slots, np.int32), counts)
    local = np.concatenate([np.arange(count, dtype=np.int32) for count in counts])
    zeros = torch.zeros(len(expanded), dtype=torch.int32)
    return LogitsContext(
        expanded_idx_mapping=torch.from_numpy(expanded),
        idx_mapping=torch.tensor(slots, dtype=torch.int32),
        idx_mapping_np=np.array(slots, np.int32),
        expanded_local_pos=torch.from_numpy(local),
        input_ids=zeros,
        pos=zeros.long(),
        seq_lens_upper_bound_np=np.ones(len(slots), np.int32),
    )


def test_rows_are_found_by_slot_and_not_by_position() -> None:
    processor = v2()
    settings: dict[int, Setting] = {5: (0.5, "noop"), 0: None, 3: (1.5, "exclude"), 7: None}
    for slot, setting in settings.items():
        added = processor.add_request(slot, params() if setting is None else params(*setting))
        assert added is (setting is not None)
    processor.apply_staged_writes()
    for order in ([5, 0, 3, 7], [7, 3, 0, 5], [3], [0, 3], [3, 5]):
        rows = processors.logits(len(order), banned=3)
        want = oracle.expected(rows, [settings[slot] for slot in order])
        got = processor.apply(rows, _context(order))
        assert got is rows
        assert oracle.same_bits(got, want)


@pytest.mark.parametrize(
    "next_one",
    [params(), params(1.0, temperature=0.0), params(2.0), params(0.5, "noop")],
    ids=["disabled", "greedy", "another n", "another policy"],
)
def test_a_slot_is_overwritten_whole(next_one: Any) -> None:
    """There is no removal: the slot still holds what its last request left."""
    processor, fresh = v2(), v2()
    processor.add_request(2, params(0.5, "exclude"))
    processor.apply_staged_writes()
    for each in (processor, fresh):
        each.add_request(2, next_one)
        each.apply_staged_writes()
    rows = processors.logits(1, banned=9)
    want = fresh.apply(rows.clone(), _context([2]))
    assert oracle.same_bits(processor.apply(rows, _context([2])), want)


def test_each_row_of_a_request_is_truncated_for_itself() -> None:
    processor = v2()
    processor.add_request(4, params(1.0))
    processor.add_request(1, params())
    processor.add_request(6, params(0.3))
    processor.apply_staged_writes()
    context = _context([6, 1, 4], [3, 2, 4])
    rows = processors.logits(9)
    settings: list[Setting] = [(0.3, "noop")] * 3 + [None] * 2 + [(1.0, "noop")] * 4
    want = oracle.expected(rows, settings)
    assert oracle.same_bits(processor.apply(rows, context), want)


def test_several_calls_a_step_with_parts_of_the_batch() -> None:
    processor = v2()
    settings: dict[int, Setting] = {0: None, 1: (1.0, "noop"), 2: (0.3, "noop"), 3: None}
    for slot, setting in settings.items():
        processor.add_request(slot, params() if setting is None else params(*setting))
    processor.apply_staged_writes()
    rows = processors.logits(8)
    order = [2, 0, 3, 1]
    want = oracle.expected(rows, [settings[slot] for slot in order for _ in range(2)])
    parts = [
        processor.apply(rows[2 * i : 2 * i + 4], _context(order[i : i + 2], [2, 2])) for i in (0, 2)
    ]
    assert oracle.same_bits(torch.cat(parts), want)


def test_random_steps() -> None:
    rng = random.Random(5)
    choices: list[Setting] = [None, (0.5, "noop"), (1.0, "exclude"), (1.7, "noop")]
    for episode in range(20):
        processor = v2()
        slots: dict[int, Setting] = {}
        for step in range(15):
            for slot in rng.sample(range(SLOTS), rng.randrange(3)):
                slots[slot] = rng.choice(choices)
                setting = slots[slot]
                processor.add_request(slot, params() if setting is None else params(*setting))
            processor.apply_staged_writes()
            order = rng.sample(sorted(slots), rng.randint(0, len(slots)))
            if not order:
                continue
            counts = [rng.randint(1, 4) for _ in order]
            rows = processors.logits(sum(counts), seed=100 * episode + step, banned=2)
            settings = [slots[s] for s, c in zip(order, counts, strict=True) for _ in range(c)]
            want = oracle.expected(rows, settings)
            assert oracle.same_bits(processor.apply(rows, _context(order, counts)), want)


def test_a_step_without_an_opted_in_request_does_nothing_at_all() -> None:
    processor = v2()
    nothing: Any = object()  # every look at it would fail
    host_only: Any = SimpleNamespace(idx_mapping_np=np.array([3, 1]))
    assert processor.apply(nothing, host_only) is nothing
    processor.add_request(3, params())
    processor.add_request(1, params(1.0, temperature=0.0))
    # Slot 5 opted in, and is in no row of this step.
    processor.add_request(5, params(1.0))
    assert processor.apply(nothing, host_only) is nothing


def test_warm_up_changes_nothing() -> None:
    """vLLM applies every processor once to a dummy batch before there is any request."""
    processor = v2()
    processor.apply_staged_writes()
    rows = processors.logits(SLOTS)
    want = rows.clone()
    assert oracle.same_bits(processor.apply(rows, _context(list(range(SLOTS)))), want)


def test_named_twice_it_truncates_once() -> None:
    device, size = torch.device("cpu"), processors.VOCAB_SIZE
    states = SimpleNamespace(device=device, max_num_reqs=SLOTS, vocab_size=size)
    first, second = (TopNSigma(processors.config(), states) for _ in range(2))
    for processor in (first, second):
        processor.add_request(0, params(1.0, "exclude"))
        processor.apply_staged_writes()
    for seed in range(3):
        rows = processors.logits(1, seed)
        want = oracle.expected(rows, [(1.0, "exclude")])
        context = _context([0])
        assert oracle.same_bits(second.apply(first.apply(rows, context), context), want)


@pytest.mark.parametrize("bad", [float("nan"), "2.0", 0, True])
def test_what_changed_after_validation_disables_and_does_not_raise(bad: Any) -> None:
    processor = v2()
    request = params()
    request.extra_args = {"top_n_sigma": bad}
    assert processor.add_request(0, request) is False
    nothing: Any = object()
    assert processor.apply(nothing, _context([0])) is nothing
