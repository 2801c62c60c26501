"""Floating-point formats of logits: their bits, and their exact embedding in float32."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Float32Array = npt.NDArray[np.float32]
Bits = npt.NDArray[np.unsignedinteger[Any]]

ACCEPTED_DTYPES = (
    "float32, float16, or bfloat16 (as uint16 bit patterns or a bfloat16 extension dtype),"
    " in native byte order"
)

FLOAT32_MAX = float(np.finfo(np.float32).max)


@dataclasses.dataclass(frozen=True)
class FloatFormat:
    """One storage format of logits.

    Attributes:
        name: ``float32``, ``float16`` or ``bfloat16``.
        bits_dtype: the unsigned integer of the same width.
        neg_inf: bit pattern of -inf.
        lowest: bit pattern of the lowest finite value.
    """

    name: str
    bits_dtype: type[np.unsignedinteger[Any]]
    neg_inf: int
    lowest: int

    def bits(self, logits: Array) -> Bits:
        """The bit patterns of ``logits``, same shape and memory."""
        return logits.view(self.bits_dtype)

    def to_float32(self, logits: Array) -> Float32Array:
        """The values of ``logits`` as float32, same shape; exact for everything but NaN payloads.

        float32 logits are not copied.
        """
        if self.name == "float32":
            return logits
        if self.name == "bfloat16":
            return (self.bits(logits).astype(np.uint32) << np.uint32(16)).view(np.float32)
        # A signalling NaN raises the invalid flag on its way; it stays a NaN, which is all we ask.
        with np.errstate(invalid="ignore"):
            return logits.astype(np.float32)

    def fill(self, choice: str) -> int:
        """Bit pattern of a masked logit under ``Dialect.fill``."""
        return self.lowest if choice == "lowest" else self.neg_inf


_FORMATS = {
    "float32": FloatFormat("float32", np.uint32, 0xFF800000, 0xFF7FFFFF),
    "float16": FloatFormat("float16", np.uint16, 0xFC00, 0xFBFF),
    "bfloat16": FloatFormat("bfloat16", np.uint16, 0xFF80, 0xFF7F),
}
_FORMATS["uint16"] = _FORMATS["bfloat16"]


def format_of(dtype: np.dtype[Any]) -> FloatFormat:
    """The format of logits stored as ``dtype``; uint16 carries the bit patterns of bfloat16.

    Raises:
        TypeError: any other dtype, or one whose bytes are not in native order.
    """
    try:
        # Not dtype.name, which numpy works out anew, in microseconds, each time it is asked.
        found = _FORMATS[dtype.type.__name__]
    except KeyError:
        raise TypeError(f"logits must be {ACCEPTED_DTYPES}; got {dtype.name}") from None
    if not dtype.isnative:
        raise TypeError(f"logits must be {ACCEPTED_DTYPES}; got {dtype.str}")
    return found
