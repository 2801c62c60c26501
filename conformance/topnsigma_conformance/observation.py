"""One call of an implementation, and everything that can be seen of it from outside."""

from __future__ import annotations

import dataclasses
import traceback
from typing import Any, Literal

import numpy as np

from topnsigma_conformance.batch import Batch, guards_intact, lay_out
from topnsigma_conformance.formats import Bits
from topnsigma_conformance.implementation import Implementation

Outcome = Literal["returned", "rejected", "raised", "malformed"]


@dataclasses.dataclass(frozen=True, eq=False)
class Observation:
    """What one call did.

    Attributes:
        outcome: ``returned`` a result of the right kind; ``rejected`` with ValueError; ``raised``
            anything else; returned something ``malformed`` (not an array of the input's shape,
            dtype and device).
        message: of the error, or what is malformed.
        bits: [B, V] bits of the result; None unless ``returned``.
        input_bits: [B, V] bits of the input after the call.
        guards_intact: memory outside of the rows was not written.
    """

    outcome: Outcome
    message: str
    bits: Bits | None
    input_bits: Bits
    guards_intact: bool


def observe(implementation: Implementation, batch: Batch) -> Observation:
    """Apply ``implementation`` to a fresh copy of ``batch`` in its layout.

    Never raises for what the implementation does, short of the process dying: any exception becomes
    an outcome.
    """
    memory, view = lay_out(batch)
    bridge: Any = _TorchBridge if implementation.arrays == "torch" else _NumpyBridge
    array, read_memory = bridge.wrap(memory, view, batch, implementation.device)
    outcome: Outcome = "returned"
    message, bits = "", None
    try:
        result = implementation.apply(array, list(batch.n))
    except ValueError as error:
        outcome, message = "rejected", str(error)
    except Exception as error:
        outcome = "raised"
        where = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
    else:
        problem = bridge.difference(array, result)
        if problem:
            outcome, message = "malformed", problem
        else:
            bits = bridge.bits(result)
    after = read_memory()
    after_view = np.lib.stride_tricks.as_strided(
        after[batch.layout.offset :], shape=view.shape, strides=view.strides
    )
    return Observation(outcome, message, bits, after_view.copy(), guards_intact(after, batch))


class _NumpyBridge:
    """numpy arrays; bfloat16 stays uint16 bit patterns."""

    @staticmethod
    def wrap(memory: Bits, view: Bits, batch: Batch, device: str) -> tuple[Any, Any]:
        dtype = {"float32": np.float32, "float16": np.float16, "bfloat16": np.uint16}[batch.dtype]
        typed = memory.view(dtype)
        array = np.lib.stride_tricks.as_strided(
            typed[batch.layout.offset :], shape=view.shape, strides=view.strides
        )
        return array, lambda: memory

    @staticmethod
    def difference(given: Any, result: Any) -> str:
        if not isinstance(result, np.ndarray):
            return f"returned {type(result).__name__}, not a numpy array"
        if result.shape != given.shape:
            return f"returned shape {list(result.shape)} for {list(given.shape)}"
        if result.dtype != given.dtype:
            return f"returned dtype {result.dtype} for {given.dtype}"
        return ""

    @staticmethod
    def bits(result: Any) -> Bits:
        unsigned = np.dtype(f"u{result.dtype.itemsize}")
        return np.array(result, copy=True, order="C").view(unsigned)


class _TorchBridge:
    """torch tensors; torch is imported only because the implementation asked for it."""

    @staticmethod
    def wrap(memory: Bits, view: Bits, batch: Batch, device: str) -> tuple[Any, Any]:
        import torch

        # Integers first: a float conversion on the way could quieten a signalling NaN.
        signed = torch.from_numpy(memory.view(np.dtype(f"i{memory.itemsize}")))
        backing = signed.to(torch.device(_torch_device(device)))
        strides = tuple(stride // memory.itemsize for stride in view.strides)
        tensor = backing.view(getattr(torch, batch.dtype)).as_strided(
            view.shape, strides, batch.layout.offset
        )
        return tensor, lambda: backing.cpu().numpy().view(memory.dtype)

    @staticmethod
    def difference(given: Any, result: Any) -> str:
        import torch

        if not isinstance(result, torch.Tensor):
            return f"returned {type(result).__name__}, not a torch tensor"
        for field in ("shape", "dtype", "device"):
            got, wanted = getattr(result, field), getattr(given, field)
            if got != wanted:
                return f"returned {field} {got} for {wanted}"
        return ""

    @staticmethod
    def bits(result: Any) -> Bits:
        import torch

        signed = torch.int32 if result.element_size() == 4 else torch.int16
        # A fresh tensor, not contiguous(): a result that shares memory may change later.
        copy = torch.empty(result.shape, dtype=result.dtype, device=result.device)
        copy.copy_(result.detach())
        array: Bits = copy.view(signed).cpu().numpy()
        return array.view(np.dtype(f"u{array.itemsize}"))


def _torch_device(device: str) -> str:
    # An interpreter of device code works on memory of the CPU.
    return "cpu" if device == "interpret" else device
