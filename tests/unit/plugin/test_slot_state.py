"""Settings by slot: a mirror on the device that is right after every sequence of changes."""

import random

import torch

from topnsigma_processor.slot_state import Setting, SlotState

A, B = Setting(1.0, False), Setting(0.1, True)
SIZE = 8


def _state() -> SlotState:
    return SlotState(SIZE, torch.device("cpu"), pinned=False)


def _shown(state: SlotState) -> dict[int, Setting]:
    """The slots that the tensors show as opted in."""
    n, exclude = state.tensors()
    assert n.dtype is torch.float64
    assert exclude.dtype is torch.bool
    rows = enumerate(zip(n.tolist(), exclude.tolist(), strict=True))
    return {slot: Setting(*row) for slot, row in rows if row[0] > 0}


def test_every_slot_starts_disabled() -> None:
    state = _state()
    assert not state
    assert not state.any_of(range(SIZE))
    n, exclude = state.tensors()
    assert n.tolist() == [0.0] * SIZE
    assert exclude.tolist() == [False] * SIZE


def test_n_is_not_rounded() -> None:
    state = _state()
    state.assign(3, B)
    assert state.tensors()[0][3].item() == 0.1


def test_a_slot_is_overwritten_whole() -> None:
    state = _state()
    state.assign(2, B)
    state.assign(2, A)
    assert _shown(state) == {2: A}
    state.assign(2, None)
    assert _shown(state) == {}
    assert not state.tensors()[1].any()


def test_move_frees_the_source_and_overwrites_the_target() -> None:
    state = _state()
    state.assign(5, A)
    state.assign(1, B)
    state.move(5, 1)
    assert _shown(state) == {1: A}
    state.move(6, 1)  # of a request that has not opted in
    assert _shown(state) == {}


def test_move_onto_itself_changes_nothing() -> None:
    state = _state()
    state.assign(5, A)
    state.move(5, 5)
    assert _shown(state) == {5: A}


def test_swap() -> None:
    state = _state()
    state.assign(0, A)
    state.assign(1, B)
    state.swap(0, 1)
    assert _shown(state) == {0: B, 1: A}
    state.swap(1, 7)
    assert _shown(state) == {0: B, 7: A}


def test_any_of_asks_for_the_given_slots_only() -> None:
    state = _state()
    state.assign(4, A)
    assert state
    assert state.any_of([1, 4])
    assert not state.any_of([0, 1, 2, 3, 5])
    assert not state.any_of([])


def test_nothing_is_copied_while_nothing_changes() -> None:
    state = _state()
    state.assign(4, A)
    first = state.tensors()
    state.assign(3, None)
    state.move(1, 2)
    state.swap(6, 7)
    assert state.tensors() is first


def test_a_change_does_not_reach_tensors_that_are_in_use() -> None:
    state = _state()
    state.assign(4, A)
    n, exclude = state.tensors()
    state.assign(4, B)
    state.tensors()
    assert n[4].item() == 1.0
    assert not exclude[4]


def test_more_slots_than_announced_are_no_error() -> None:
    state = _state()
    state.assign(SIZE + 3, A)
    assert _shown(state) == {SIZE + 3: A}


def test_random_sequences_agree_with_a_list() -> None:
    rng = random.Random(7)
    for _ in range(200):
        state = _state()
        model: list[Setting | None] = [None] * SIZE
        for _ in range(rng.randrange(1, 20)):
            i, j = rng.randrange(SIZE), rng.randrange(SIZE)
            match rng.randrange(3):
                case 0:
                    model[i] = rng.choice([None, A, B])
                    state.assign(i, model[i])
                case 1:
                    moved, model[i] = model[i], None
                    model[j] = moved
                    state.move(i, j)
                case _:
                    model[i], model[j] = model[j], model[i]
                    state.swap(i, j)
            if rng.randrange(4) == 0:
                state.tensors()
        assert _shown(state) == {slot: s for slot, s in enumerate(model) if s is not None}
