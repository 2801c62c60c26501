"""Model Runner V1: settings follow their requests through every change of the batch."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from engine import oracle, processors
from engine.processors import params, v1
from vllm.v1.sample.logits_processor import BatchUpdate, MoveDirectionality
from vllm.v1.sample.logits_processor.state import BatchUpdateBuilder

from topnsigma_processor.vllm_plugin import TopNSigma

ONE_WAY, SWAP = MoveDirectionality.UNIDIRECTIONAL, MoveDirectionality.SWAP

Setting = tuple[float, str] | None


def _update(
    batch_size: int,
    removed: Sequence[int] = (),
    added: Sequence[tuple[int, Any]] = (),
    moved: Sequence[tuple[int, int, MoveDirectionality]] = (),
) -> BatchUpdate:
    entries: list[Any] = [(index, request, [1], []) for index, request in added]
    return BatchUpdate(batch_size=batch_size, removed=removed, added=entries, moved=moved)


def _check(processor: TopNSigma, settings: Sequence[Setting], seed: int = 0) -> None:
    rows = processors.logits(len(settings), seed)
    want = oracle.expected(rows, settings)
    got = processor.apply(rows)
    assert got is rows
    assert oracle.same_bits(got, want)


def test_added_requests_get_their_own_n() -> None:
    processor = v1()
    processor.update_state(_update(4, added=[(i, params(n)) for i, n in enumerate([0.5, 1, 2])]))
    processor.update_state(_update(4, added=[(3, params())]))
    _check(processor, [(0.5, "noop"), (1, "noop"), (2, "noop"), None])


def test_state_stays_when_nothing_changes() -> None:
    processor = v1()
    processor.update_state(_update(2, added=[(0, params(1.0)), (1, params())]))
    for step in range(3):
        processor.update_state(None)
        _check(processor, [(1.0, "noop"), None], seed=step)


def test_a_removed_request_leaves_nothing_behind() -> None:
    processor = v1()
    processor.update_state(_update(2, added=[(0, params(1.0)), (1, params(2.0))]))
    processor.update_state(_update(1, removed=[1]))
    processor.update_state(_update(2, added=[(1, params())]))
    _check(processor, [(1.0, "noop"), None])


def test_a_request_may_replace_another_without_removal() -> None:
    processor = v1()
    processor.update_state(_update(2, added=[(0, params(1.0, "exclude")), (1, params(2.0))]))
    processor.update_state(_update(2, added=[(0, params()), (1, params(0.5))]))
    _check(processor, [None, (0.5, "noop")])


def test_a_greedy_request_that_replaces_another_is_left_alone() -> None:
    processor = v1()
    processor.update_state(_update(1, added=[(0, params(1.0))]))
    processor.update_state(_update(1, added=[(0, params(1.0, temperature=0.0))]))
    _check(processor, [None])


def test_move() -> None:
    processor = v1()
    added = [(0, params(0.5)), (1, params()), (2, params(2.0))]
    processor.update_state(_update(3, added=added))
    processor.update_state(_update(2, removed=[0], moved=[(2, 0, ONE_WAY)]))
    _check(processor, [(2.0, "noop"), None])
    # The row that was left is free: who comes next inherits nothing.
    processor.update_state(_update(3, added=[(2, params())]))
    _check(processor, [(2.0, "noop"), None, None])


def test_a_disabled_request_that_moves_takes_its_place_disabled() -> None:
    processor = v1()
    processor.update_state(_update(2, added=[(0, params(0.5)), (1, params())]))
    processor.update_state(_update(1, moved=[(1, 0, ONE_WAY)]))
    _check(processor, [None])


def test_swap() -> None:
    processor = v1()
    added = [(0, params(0.5, "exclude")), (1, params()), (2, params(2.0))]
    processor.update_state(_update(3, added=added))
    processor.update_state(_update(3, moved=[(0, 2, SWAP)]))
    _check(processor, [(2.0, "noop"), None, (0.5, "exclude")])
    processor.update_state(_update(3, moved=[(1, 2, SWAP)]))
    _check(processor, [(2.0, "noop"), (0.5, "exclude"), None])


def test_several_changes_in_one_update_are_made_in_order() -> None:
    processor = v1()
    processor.update_state(_update(4, added=[(i, params(i + 1.0)) for i in range(4)]))
    update = _update(
        3,
        removed=[2, 0],
        added=[(0, params(0.25))],
        moved=[(3, 2, ONE_WAY), (0, 1, SWAP), (1, 2, SWAP)],
    )
    processor.update_state(update)
    _check(processor, [(2.0, "noop"), (4.0, "noop"), (0.25, "noop")])


def test_random_batches_as_the_engine_makes_them() -> None:
    """Removals, arrivals that fill the gaps, condensing moves and swaps, by vLLM's own builder."""
    rng = random.Random(11)
    choices: list[Setting] = [None, (0.5, "noop"), (1.0, "exclude"), (1.7, "noop")]
    for episode in range(30):
        processor, builder = v1(), BatchUpdateBuilder()
        batch: list[Any] = []
        for step in range(20):
            for index in range(len(batch)):
                if rng.random() < 0.2:
                    builder.removed_append(index)
                    batch[index] = "free"
            while rng.random() < 0.5 and len(batch) < processors.SLOTS:
                setting = rng.choice(choices)
                freed = builder.pop_removed()
                row = len(batch) if freed is None else freed
                batch[row : row + 1] = [setting]
                request = params() if setting is None else params(*setting)
                builder.added.append((row, request, [1], []))
            _condense(batch, builder)
            if len(batch) > 1 and rng.random() < 0.3:
                i, j = rng.sample(range(len(batch)), 2)
                batch[i], batch[j] = batch[j], batch[i]
                builder.moved.append((i, j, SWAP))
            processor.update_state(builder.get_and_reset(len(batch)))
            if batch:
                _check(processor, batch, seed=100 * episode + step)


def _condense(batch: list[Any], builder: BatchUpdateBuilder) -> None:
    """Fill gaps with the last requests, as vLLM's InputBatch does."""
    while "free" in batch:
        gap = batch.index("free")
        while batch and batch[-1] == "free":
            batch.pop()
        if gap < len(batch):
            popped = builder.pop_removed()
            assert popped == gap
            builder.moved.append((len(batch) - 1, gap, ONE_WAY))
            batch[gap] = batch.pop()


def test_policies_per_request_and_by_default() -> None:
    processor = v1({"top_n_sigma": {"neg_inf": "exclude"}})
    added = [(0, params(1.0)), (1, params(1.0, "noop")), (2, params(1.0, "exclude"))]
    processor.update_state(_update(3, added=added))
    rows = processors.logits(3, banned=20)
    want = oracle.expected(rows, [(1.0, "exclude"), (1.0, "noop"), (1.0, "exclude")])
    assert oracle.same_bits(processor.apply(rows), want)
    assert not oracle.same_bits(want[0], want[1])


def test_a_step_without_an_opted_in_request_does_nothing_at_all() -> None:
    processor = v1()
    nothing: Any = object()  # every look at it would fail
    assert processor.apply(nothing) is nothing
    processor.update_state(_update(2, added=[(0, params()), (1, params(1.0, temperature=0.0))]))
    assert processor.apply(nothing) is nothing
    processor.update_state(_update(2, added=[(1, params(1.0))]))
    processor.update_state(_update(1, removed=[1]))
    assert processor.apply(nothing) is nothing


def test_named_twice_it_truncates_once() -> None:
    config = processors.config()
    first, second = (TopNSigma(config, torch.device("cpu"), False) for _ in range(2))
    update = _update(2, added=[(0, params(1.0, "exclude")), (1, params())])
    for processor in (first, second):
        processor.update_state(update)
    for seed in range(3):
        rows = processors.logits(2, seed)
        want = oracle.expected(rows, [(1.0, "exclude"), None])
        assert oracle.same_bits(second.apply(first.apply(rows)), want)


def test_the_same_memory_again_is_truncated_again() -> None:
    """Engines may hand over one buffer step after step."""
    processor = v1()
    processor.update_state(_update(1, added=[(0, params(1.0))]))
    buffer = torch.empty(1, processors.VOCAB_SIZE)
    for seed in range(3):
        rows = processors.logits(1, seed)
        processor.apply(buffer.copy_(rows))
        assert oracle.same_bits(buffer, oracle.expected(rows, [(1.0, "noop")]))


def test_another_width_or_dtype_than_configured_is_no_error() -> None:
    processor = v1()
    processor.update_state(_update(1, added=[(0, params(1.0))]))
    wide = torch.randn(1, 2 * processors.VOCAB_SIZE, generator=torch.Generator().manual_seed(0))
    want = oracle.expected(wide, [(1.0, "noop")])
    assert oracle.same_bits(processor.apply(wide.clone()), want)
    half = wide.bfloat16()
    assert processor.apply(half).isneginf().any()


@pytest.mark.parametrize("bad", [float("nan"), "2.0", 0, True])
def test_what_was_never_validated_disables_and_does_not_raise(bad: Any) -> None:
    """vLLM before 0.12 admits requests without asking the processor."""
    processor = v1()
    request = params()
    request.extra_args = {"top_n_sigma": bad}
    processor.update_state(_update(1, added=[(0, request)]))
    _check(processor, [None])
