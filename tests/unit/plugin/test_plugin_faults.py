"""Several instances in one engine, or several engines in one process: who truncates.

With a vLLM around it: tests/engine/test_faults.py.
"""

import itertools

import pytest

from topnsigma_processor import engine_turns
from topnsigma_processor.engine_turns import EngineTurns


class Engine:
    """What the instances of one engine are constructed with."""


def instances(engine: object, count: int, device: str = "cuda:0") -> list[EngineTurns]:
    return [EngineTurns(engine, device) for _ in range(count)]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_in_every_step_the_first_truncates(count: int) -> None:
    named = instances(Engine(), count)
    for _ in range(4):
        assert [each.take() for each in named] == [True] + [False] * (count - 1)


def test_engines_have_nothing_to_do_with_one_another() -> None:
    engines = [instances(Engine(), 2) for _ in range(3)]
    for _ in range(3):
        for first, second in engines:
            assert (first.take(), second.take()) == (True, False)
    # In steps that overlap, as in threads.
    for place in (0, 1):
        assert [named[place].take() for named in engines] == [place == 0] * 3


def test_engines_of_one_configuration_on_two_devices() -> None:
    configuration = Engine()
    (one,), (other,) = (instances(configuration, 1, device) for device in ("cuda:0", "cuda:1"))
    for _ in range(3):
        assert one.take()
        assert other.take()


def test_an_instance_that_is_no_longer_called_stands_in_nobodys_way() -> None:
    """An engine that is built anew with its configuration, whoever still holds the old one."""
    configuration = Engine()
    old = instances(configuration, 2)
    for each in old:
        each.take()
    new = instances(configuration, 2)
    for _ in range(3):
        assert [each.take() for each in new] == [True, False]


def test_the_second_takes_the_place_of_a_first_that_is_gone() -> None:
    first, second = instances(Engine(), 2)
    assert (first.take(), second.take()) == (True, False)
    assert [second.take() for _ in range(3)] == [True] * 3


def test_of_parts_of_a_step_each_is_truncated() -> None:
    """V2 verifies long drafts in parts, each of which goes through the whole chain."""
    first, second = instances(Engine(), 2)
    assert [each.take() for _ in range(3) for each in (first, second)] == [True, False] * 3


def test_nothing_is_kept_of_engines_that_are_gone() -> None:
    before = len(engine_turns._ledgers)
    for _ in itertools.repeat(None, 50):
        # Objects that are gone give their id to the next one.
        assert [each.take() for each in instances(Engine(), 2)] == [True, False]
    assert len(engine_turns._ledgers) == before
