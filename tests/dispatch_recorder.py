"""What PyTorch is asked to do, and the memory that this takes."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class DispatchRecorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records what happens while it is entered.

    Attributes:
        operations: names, in order.
        allocated: bytes of each storage among the results that is none of an argument's: a view,
            or what was written through `out=`, is no new memory.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: list[str] = []
        self.allocated: list[int] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.operations.append(str(func))
        known = {storage.data_ptr() for storage in _storages((args, kwargs))}
        self.allocated += [
            storage.nbytes() for storage in _storages(result) if storage.data_ptr() not in known
        ]
        return result


def _storages(values: Any) -> list[torch.UntypedStorage]:
    return [
        leaf.untyped_storage() for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)
    ]
