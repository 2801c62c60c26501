"""What the RFC's example keeps of requests that come, go and move, without an engine around it."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from engine import oracle, processors
from engine.processors import SLOTS, params
from features.logits_processor.top_n_sigma import TopNSigmaLogitsProcessor
from vllm.v1.sample.logits_processor import BatchUpdate, MoveDirectionality
from vllm.v1.worker.gpu.sample.logits_processor import LogitsContext

ONE_WAY, SWAP = MoveDirectionality.UNIDIRECTIONAL, MoveDirectionality.SWAP
NOTHING: Any = object()  # every look at it would fail


def _v1(*values: float | None) -> TopNSigmaLogitsProcessor:
    """A processor on V1, with a request of each n in rows 0, 1, …"""
    processor = TopNSigmaLogitsProcessor(processors.config(), torch.device("cpu"), False)
    _update(processor, added=[(row, params(n)) for row, n in enumerate(values)])
    return processor


def _update(
    processor: TopNSigmaLogitsProcessor,
    removed: Sequence[int] = (),
    added: Sequence[tuple[int, Any]] = (),
    moved: Sequence[tuple[int, int, MoveDirectionality]] = (),
) -> None:
    entries: list[Any] = [(row, request, [1], []) for row, request in added]
    processor.update_state(BatchUpdate(SLOTS, removed, entries, moved))


def _v2(**values: float | None) -> TopNSigmaLogitsProcessor:
    """A processor on V2, with a request of each n in the slot of that name: s0, s1, …"""
    states: Any = SimpleNamespace(device=torch.device("cpu"), max_num_reqs=SLOTS, vocab_size=64)
    processor = TopNSigmaLogitsProcessor(processors.config(), states)
    for slot, n in values.items():
        assert processor.add_request(int(slot[1:]), params(n)) is (n is not None)
    processor.apply_staged_writes()
    return processor


def _context(slots: Sequence[int], counts: Sequence[int] | None = None) -> LogitsContext:
    """A step of requests in ``slots``, with one row each or as many as given."""
    expanded = np.repeat(np.array(slots, np.int32), counts or 1)
    zeros = torch.zeros(len(expanded), dtype=torch.int32)
    return LogitsContext(
        expanded_idx_mapping=torch.from_numpy(expanded),
        idx_mapping=torch.tensor(slots, dtype=torch.int32),
        idx_mapping_np=np.array(slots, np.int32),
        expanded_local_pos=zeros,
        input_ids=zeros,
        pos=zeros.long(),
        seq_lens_upper_bound_np=np.ones(len(slots), np.int32),
    )


def _check(
    processor: TopNSigmaLogitsProcessor,
    values: Sequence[float | None],
    context: LogitsContext | None = None,
) -> None:
    rows = processors.logits(len(values))
    want = oracle.expected(rows, [None if n is None else (n, "noop") for n in values])
    got = processor.apply(rows, context)
    assert got is rows
    assert oracle.same_bits(got, want)


def _swap(processor: TopNSigmaLogitsProcessor) -> None:
    _update(processor, moved=[(0, 2, SWAP), (1, 2, SWAP)])


CHANGES: dict[str, tuple[Callable[[TopNSigmaLogitsProcessor], None], list[float | None]]] = {
    "nothing": (lambda it: it.update_state(None), [0.5, None, 2.0]),
    "an added request": (lambda it: _update(it, added=[(1, params(1.0))]), [0.5, 1.0, 2.0]),
    "replaced by one without n": (lambda it: _update(it, added=[(0, params())]), [None, None, 2.0]),
    "replaced by one with None": (
        lambda it: _update(it, added=[(0, _holding(None))]),
        [None, None, 2.0],
    ),
    "replaced by a greedy one": (
        lambda it: _update(it, added=[(0, params(1.0, temperature=0.0))]),
        [None, None, 2.0],
    ),
    "removed": (lambda it: _update(it, removed=[0]), [None, None, 2.0]),
    "removed and added": (
        lambda it: _update(it, removed=[0, 2], added=[(0, params(1.0))]),
        [1.0, None, None],
    ),
    "moved": (lambda it: _update(it, removed=[0], moved=[(2, 0, ONE_WAY)]), [2.0, None, None]),
    "one without n moved": (lambda it: _update(it, moved=[(1, 0, ONE_WAY)]), [None, None, 2.0]),
    "swapped": (_swap, [2.0, 0.5, None]),
}


def _holding(n: Any) -> Any:
    """A request with an n that vLLM would not build one with."""
    request = params()
    request.extra_args = {"top_n_sigma": n}
    return request


@pytest.mark.parametrize("change", CHANGES)
def test_rows_of_v1(change: str) -> None:
    make, values = CHANGES[change]
    processor = _v1(0.5, None, 2.0)
    make(processor)
    _check(processor, values)


@pytest.mark.parametrize("order", [[5, 0, 3, 7], [7, 3, 0, 5], [3], [0, 3]], ids=str)
def test_rows_of_v2_are_found_by_slot(order: list[int]) -> None:
    values = {"s5": 0.5, "s0": None, "s3": 1.5, "s7": None}
    _check(_v2(**values), [values[f"s{slot}"] for slot in order], _context(order))


@pytest.mark.parametrize(
    ("request_", "n"),
    [(params(), None), (params(1.0, temperature=0.0), None), (params(2.0), 2.0)],
    ids=["without n", "greedy", "another n"],
)
def test_a_slot_of_v2_is_overwritten(request_: Any, n: float | None) -> None:
    processor = _v2(s2=0.5)
    assert processor.add_request(2, request_) is (n is not None)
    _check(processor, [n], _context([2]))


def test_each_draft_of_a_request_is_truncated() -> None:
    values = {"s6": 0.3, "s1": None, "s4": 1.0}
    context = _context([6, 1, 4], [3, 2, 1])
    _check(_v2(**values), [0.3, 0.3, 0.3, None, None, 1.0], context)


def test_a_step_in_which_nobody_opted_in_does_nothing() -> None:
    assert _v1(None, None).apply(NOTHING) is NOTHING
    processor = _v1(1.0)
    _update(processor, removed=[0])
    assert processor.apply(NOTHING) is NOTHING
    # Slot 5 opted in, and is in no row of this step.
    host_only: Any = SimpleNamespace(idx_mapping_np=np.array([3, 1]))
    assert _v2(s3=None, s1=None, s5=1.0).apply(NOTHING, host_only) is NOTHING


@pytest.mark.parametrize("special", [float("nan"), float("inf"), -float("inf")])
def test_rows_that_are_not_finite_and_constant_ones_are_left_alone(special: float) -> None:
    rows = processors.logits(2)
    rows[0, 7] = special
    rows[1] = 0.1
    before = rows.clone()
    assert oracle.same_bits(_v1(0.5, 0.5).apply(rows), before)


@pytest.mark.parametrize("n", [1, 0.5, 1e300, 5e-324, Fraction(3, 2), np.float32(1.5), 2**70])
def test_numbers_of_every_kind_are_accepted(n: Any) -> None:
    TopNSigmaLogitsProcessor.validate_params(_holding(n))
    processor = _v1()
    _update(processor, added=[(0, _holding(n))])
    _check(processor, [n])


@pytest.mark.parametrize(
    "bad", [10**400, -(10**400), float("inf"), 1 + 0j, np.True_, [1.0]], ids=lambda n: repr(n)[:12]
)
def test_what_is_not_accepted_is_refused_by_name(bad: Any) -> None:
    with pytest.raises(ValueError, match="top_n_sigma must be a finite number > 0") as error:
        TopNSigmaLogitsProcessor.validate_params(_holding(bad))
    assert repr(bad) in str(error.value)


@pytest.mark.parametrize(
    "bad", [float("nan"), float("inf"), "2.0", 0, -1.0, True, 10**400], ids=lambda n: repr(n)[:12]
)
def test_what_was_never_validated_disables_and_does_not_raise(bad: Any) -> None:
    processor = _v1(0.5, 1.0)
    _update(processor, added=[(0, _holding(bad))])
    _check(processor, [None, 1.0])
