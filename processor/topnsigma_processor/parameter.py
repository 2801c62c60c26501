"""The parameter n: what is accepted, and one value per row (TNS-1)."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import SupportsFloat, cast

import torch

from topnsigma_processor.short_repr import short_repr

ACCEPTED = "a finite real number > 0, or None to disable"
TENSOR_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def values_per_row(n: object, rows: int) -> list[float | None]:
    """Return one n per row as float64, None where the row is disabled.

    Args:
        n: a real number or None for all rows; a sequence of `rows` of them; or a floating-point
            tensor, 0-d for all rows or of shape `[rows]`. A tensor's values are not validated:
            a finite value > 0 enables its row and any other one (NaN, inf, <= 0) disables it.
            Reading a tensor that lies on another device waits for that device.
        rows: the number of rows.

    Raises:
        ValueError: a value, a sequence's length or a tensor's shape is not accepted. The message
            names the parameter, the index in a sequence, and the value.
        TypeError: the dtype of a tensor is not a floating-point one.
    """
    if isinstance(n, torch.Tensor):
        return _from_tensor(n, rows)
    if isinstance(n, Sequence) and not isinstance(n, (str, bytes, bytearray, memoryview)):
        items = list(n)
        if len(items) != rows:
            raise ValueError(
                f"n must be one value, or hold one value for each of the {rows} rows of logits, "
                f"got a sequence of {len(items)}"
            )
        return [validated(item, f"n[{index}]") for index, item in enumerate(items)]
    return [validated(n, "n")] * rows


def tensor_per_row(n: object, rows: int, device: torch.device) -> torch.Tensor | None:
    """Return one n per row as a float64 tensor `[rows]` on `device`, NaN where it is disabled.

    None if no row is enabled and that can be seen without waiting for a device. See
    `values_per_row` for the arguments and errors; a tensor n is never read, and numbers that
    differ from row to row are sent to the device in one copy.
    """
    if isinstance(n, torch.Tensor):
        _check_tensor(n, rows)
        return n.detach().to(device, torch.float64).expand(rows)
    values = [math.nan if x is None else x for x in values_per_row(n, rows)]
    if all(math.isnan(x) for x in values):
        return None
    if len(set(values)) == 1:
        return torch.full((1,), values[0], dtype=torch.float64, device=device).expand(rows)
    numbers = torch.tensor(values, dtype=torch.float64, pin_memory=device.type == "cuda")
    return numbers.to(device, non_blocking=True)


def validated(value: object, name: str) -> float | None:
    """Return `value` as float64, or None if it is None.

    Raises:
        ValueError: `value` is not a real number (bool, str, Decimal, …), or its float64 value is
            not finite and > 0. The message begins with `name`.
    """
    if value is None:
        return None
    # 10**400 raises OverflowError; a class of others may raise anything, in `__class__` too, which
    # isinstance asks for.
    try:
        # bool is a numbers.Real; numpy.bool_ and Decimal are not.
        a_number = isinstance(value, Real) and not isinstance(value, bool)
        number = float(cast(SupportsFloat, value)) if a_number else math.nan
    except Exception:
        number = math.nan
    if math.isfinite(number) and number > 0:
        return number
    raise ValueError(f"{name} must be {ACCEPTED}, got {short_repr(value)}")


def _from_tensor(n: torch.Tensor, rows: int) -> list[float | None]:
    _check_tensor(n, rows)
    numbers: list[float] = [n.item()] * rows if n.dim() == 0 else n.tolist()
    return [x if math.isfinite(x) and x > 0 else None for x in numbers]


def _check_tensor(n: torch.Tensor, rows: int) -> None:
    if n.dtype not in TENSOR_DTYPES:
        accepted = ", ".join(str(dtype) for dtype in TENSOR_DTYPES)
        raise TypeError(f"n, as a tensor, must have one of the dtypes {accepted}, got {n.dtype}")
    if n.dim() != 0 and tuple(n.shape) != (rows,):
        raise ValueError(
            f"n, as a tensor, must be 0-d or of shape [{rows}], one value for each row of logits, "
            f"got shape {list(n.shape)}"
        )
