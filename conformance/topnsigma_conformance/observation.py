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
    outcome, message, bits = _call(implementation, bridge, array, batch)
    after = read_memory()
    after_view = np.lib.stride_tricks.as_strided(
        after[batch.layout.offset :], shape=view.shape, strides=view.strides
    )
    return Observation(outcome, message, bits, after_view.copy(), guards_intact(after, batch))


def _call(
    implementation: Implementation, bridge: Any, array: Any, batch: Batch
) -> tuple[Outcome, str, Bits | None]:
    """Outcome, message and bits of one call with ``array``."""
    # Of the array as it was: what the call is given can be changed in shape too.
    wanted = bridge.kind(array)
    try:
        result = implementation.apply(array, list(batch.n))
    except KeyboardInterrupt:
        raise
    except ValueError as error:
        return "rejected", _text(error), None
    except BaseException as error:
        # SystemExit among them: it would end the run, and perhaps with status 0.
        where = traceback.extract_tb(error.__traceback__)[-1]
        called = f"{type(error).__name__}: {_text(error)}"
        return "raised", f"{called} ({where.name}, line {where.lineno})", None
    try:
        problem = bridge.difference(wanted, result)
        return ("malformed", problem, None) if problem else ("returned", "", bridge.bits(result))
    except Exception as error:
        what = f"{type(result).__name__} that cannot be read"
        return "malformed", f"returned {what}: {type(error).__name__}: {_text(error)}", None


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(without a message that can be read)"


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
    def kind(array: Any) -> tuple[Any, ...]:
        return array.shape, array.dtype

    @staticmethod
    def difference(wanted: tuple[Any, ...], result: Any) -> str:
        if not isinstance(result, np.ndarray):
            return f"returned {type(result).__name__}, not a numpy array"
        shape, dtype = wanted
        if result.shape != shape:
            return f"returned shape {list(result.shape)} for {list(shape)}"
        if result.dtype != dtype:
            return f"returned dtype {result.dtype} for {dtype}"
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
    def kind(array: Any) -> tuple[Any, ...]:
        return array.shape, array.dtype, array.device

    @staticmethod
    def difference(wanted: tuple[Any, ...], result: Any) -> str:
        import torch

        if not isinstance(result, torch.Tensor):
            return f"returned {type(result).__name__}, not a torch tensor"
        for field, value in zip(("shape", "dtype", "device"), wanted, strict=True):
            got = getattr(result, field)
            if got != value:
                return f"returned {field} {got} for {value}"
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
