"""Plain functions on numpy, torch or jax arrays."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from topnsigma_conformance.adapters.named_peer import NamedPeer, one_n


class NumpyCallable(NamedPeer):
    """Drives ``function(logits, n)``, logits being a numpy array, float32 [B, V].

    With the option ``n=list``, the default, n is a list of B entries, each a number or None, as in
    :meth:`Implementation.apply`. With ``n=scalar`` it is one number for all rows, and for None the
    function is not called.
    """

    adapter = "numpy"
    options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **NamedPeer.options,
        "n": ("list", "scalar"),
    }

    def __init__(
        self, device: str | None = None, path: str = "", options: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(device, path, options)
        self.per_row_n = (options or {}).get("n", "list") == "list"

    def peer_version(self) -> str:
        """Of the library that the arrays are from."""
        return f"{self.adapter} {importlib.metadata.version(self.adapter)}"

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        """What the function returns for ``logits`` [B, V].

        Raises:
            ValueError: the function raised it for an n that it does not accept.
        """
        if self.per_row_n:
            return self.object(logits, list(n))
        number = one_n(n)
        return logits if number is None else self.object(logits, number)


class TorchCallable(NumpyCallable):
    """As :class:`NumpyCallable`, logits being a torch tensor on the device."""

    adapter = "torch"
    arrays = "torch"
    devices = ("cpu", "cuda")


class JaxCallable(NumpyCallable):
    """As :class:`NumpyCallable`, logits being a jax array on jax's default device.

    jax arrays cannot be changed and have no strides: logits are copied to one, and the result is
    copied back as it is, whatever its shape and dtype.

    Raises:
        ImportError: jax is not installed.
        ValueError: ``in_place=true``.
    """

    adapter = "jax"
    strided = False

    def __init__(
        self, device: str | None = None, path: str = "", options: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(device, path, options)
        if self.in_place:
            raise ValueError("in_place must be false for jax, whose arrays cannot be changed")
        self._jnp = importlib.import_module("jax.numpy")

    def apply(self, logits: npt.NDArray[Any], n: Sequence[Any]) -> npt.NDArray[Any]:
        """What the function returns for ``logits`` [B, V], as a numpy array."""
        return np.asarray(super().apply(self._jnp.array(logits), n))
