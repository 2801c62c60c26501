"""One call in this process: whatever the implementation does is an outcome, and never our error."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from gallery.textbook import Textbook

from topnsigma_conformance.batch import Batch
from topnsigma_conformance.cli import main
from topnsigma_conformance.observation import Observation, observe

BITS = np.array([[0.0, 1.0, 5.0]], np.float32).view(np.uint32)
BATCH = Batch(BITS, "float32", (1.0,))


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class UnreadableValue(Unreadable, ValueError):
    pass


class UnreadableArray(np.ndarray[Any, Any]):
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


def observed(do: Callable[[Any], Any], arrays: str = "numpy") -> Observation:
    class Does(Textbook):
        def apply(self, logits: Any, n: Any) -> Any:
            return do(logits)

    does = Does()
    does.arrays = arrays  # type: ignore[assignment]
    return observe(does, BATCH)


def raising(error: BaseException) -> Callable[[Any], Any]:
    def do(_: Any) -> Any:
        raise error

    return do


def reshaped(logits: Any) -> Any:
    logits.shape = (logits.size,)
    return logits


@pytest.mark.parametrize(
    ("error", "outcome", "message"),
    [
        (SystemExit(0), "raised", "SystemExit: 0 (do, line "),
        (GeneratorExit(), "raised", "GeneratorExit: "),
        (Unreadable(), "raised", "Unreadable: (without a message that can be read) (do, line "),
        (UnreadableValue(), "rejected", "(without a message that can be read)"),
        (MemoryError(), "raised", "MemoryError: "),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_is_raised_is_an_outcome(error: BaseException, outcome: str, message: str) -> None:
    observation = observed(raising(error))
    assert (observation.outcome, observation.bits) == (outcome, None)
    assert observation.message.startswith(message)
    np.testing.assert_array_equal(observation.input_bits, BITS)


def test_ctrl_c_is_not_of_the_implementation() -> None:
    with pytest.raises(KeyboardInterrupt):
        observed(raising(KeyboardInterrupt()))


@pytest.mark.parametrize(
    ("do", "message"),
    [
        (lambda logits: None, "returned NoneType, not a numpy array"),
        (lambda logits: logits.tolist(), "returned list, not a numpy array"),
        (lambda logits: logits.astype(object), "returned dtype object for float32"),
        (lambda logits: logits.view(UnreadableArray), "returned UnreadableArray that cannot be "),
        (reshaped, "returned shape [3] for [1, 3]"),
    ],
)
def test_whatever_is_returned_is_an_outcome(do: Callable[[Any], Any], message: str) -> None:
    observation = observed(do)
    assert (observation.outcome, observation.bits) == ("malformed", None)
    assert observation.message.startswith(message)


def test_a_tensor_that_cannot_be_read_is_an_outcome() -> None:
    observation = observed(torch.Tensor.to_sparse, "torch")
    assert observation.outcome == "malformed"
    assert observation.message.startswith("returned Tensor that cannot be read: RuntimeError: ")


class LeavesPython(Textbook):
    """Takes itself for a script that has succeeded."""

    def apply(self, logits: Any, n: Any) -> Any:
        sys.exit(0)


def test_a_sampler_that_leaves_python_does_not_end_the_run() -> None:
    # By name, as the class has to be found in a module that can be imported.
    sys.modules["leaves_python"] = sys.modules[__name__]
    try:
        arguments = ["run", "leaves_python:LeavesPython", "--check", "TNS-2.disabled"]
        result = CliRunner().invoke(main, arguments)
    finally:
        del sys.modules["leaves_python"]
    assert result.exit_code == 1
    assert "error TNS-2.disabled" in result.output
    assert "own" in result.output
