"""llama.cpp's ``llama_sampler_init_top_n_sigma``, from the registry package ``xllamacpp``.

xllamacpp links llama.cpp into its extension module and leaves llama.cpp's C symbols visible, so
that ctypes reaches the sampler that its server runs, without a model. The layouts below are those
of ``llama_token_data`` and ``llama_token_data_array`` in llama.cpp's ``include/llama.h``.

What it makes of its arguments was seen by running xllamacpp 2026.10.11549. It takes n as a C float:
one that rounds to 0 in float32 (up to 7e-46) is off, as every n <= 0 is, and one that rounds to
infinity (from 3.4028236e38) keeps everything, as infinity and NaN do. It sums and squares one token
after the other in float32: σ comes out 4e-5 too small, and more, where a vocabulary of 150,000
tokens holds a few large deviations.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.metadata
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from topnsigma_conformance.implementation import Implementation
from topnsigma_reference import Dialect

# Logits are kept as bit patterns: a float that passes through Python or through a conversion may
# lose the payload of a signalling NaN.
_TOKEN = np.dtype([("id", np.int32), ("logit", np.uint32), ("p", np.float32)])
_MASKED = np.float32(-np.inf).view(np.uint32)
_OFF = -1.0


class _TokenArray(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
        ("selected", ctypes.c_int64),
        ("sorted", ctypes.c_bool),
    )


class LlamaCpp(Implementation):
    """Drives llama.cpp's top-nσ sampler, one row at a time.

    The dialect was found by running it: σ divides by the number of tokens that are not -inf, those
    tokens stay out of maximum and mean, a row that holds NaN or +inf is left alone, a logit equal
    to the threshold stays. None is given to it as -1, which is how its users switch it off.

    Raises:
        ImportError: xllamacpp is not installed, or its build hides llama.cpp's symbols.
        ValueError: ``device`` is not ``cpu``.
    """

    name = "llama.cpp"
    dialect = Dialect(sigma="population", neg_inf="exclude", invalid_n="disable")
    isolated = True
    n_format = "binary32"
    requires = "xllamacpp"

    def __init__(self, device: str | None = None) -> None:
        super().__init__(device)
        self._library = _load(self.requires)
        self.version = f"{self.requires} {importlib.metadata.version(self.requires)}"

    def apply(self, logits: npt.NDArray[np.float32], n: Sequence[Any]) -> npt.NDArray[np.float32]:
        """Apply the sampler to each row of ``logits``, float32 [B, V] with any strides.

        Returns:
            A new array [B, V]; a token that the sampler took out of its list is -inf in it.

        Raises:
            ValueError: an entry of ``n`` is neither None nor a number; or there are not B of them.
        """
        result = np.full(logits.shape, _MASKED, np.uint32)
        tokens = np.zeros(logits.shape[1], _TOKEN)
        for row, entry, out in zip(logits.view(np.uint32), n, result, strict=True):
            tokens["id"] = np.arange(row.size)
            tokens["logit"] = row
            array = _TokenArray(tokens.ctypes.data, row.size, -1, False)
            with self._sampler(_c_float(entry)) as sampler:
                self._library.llama_sampler_apply(sampler, ctypes.byref(array))
            # Samplers may reorder their list and shorten it.
            left = tokens[: array.size]
            out[left["id"]] = left["logit"]
        return result.view(np.float32)

    @contextlib.contextmanager
    def _sampler(self, n: ctypes.c_float) -> Iterator[int]:
        sampler: int = self._library.llama_sampler_init_top_n_sigma(n)
        try:
            yield sampler
        finally:
            self._library.llama_sampler_free(sampler)


def _c_float(n: Any) -> ctypes.c_float:
    if n is None:
        return ctypes.c_float(_OFF)
    # float() would read "2.0" and True as numbers, which is Python's doing and not llama.cpp's.
    if isinstance(n, bool) or not hasattr(n, "__float__"):
        raise ValueError(f"n must be a number or None: llama.cpp takes a C float; got {n!r}")
    try:
        return ctypes.c_float(float(n))
    except OverflowError:
        return ctypes.c_float(math.inf if n > 0 else -math.inf)


def _load(package: str) -> ctypes.CDLL:
    try:
        extension = importlib.import_module(f"{package}.xllamacpp")
        library = ctypes.CDLL(str(extension.__file__))
        create = library.llama_sampler_init_top_n_sigma
        apply = library.llama_sampler_apply
        free = library.llama_sampler_free
    except (ImportError, OSError, AttributeError) as error:
        raise ImportError(f"llama.cpp is not usable ({error}); pip install {package}") from error
    create.argtypes, create.restype = [ctypes.c_float], ctypes.c_void_p
    apply.argtypes, apply.restype = [ctypes.c_void_p, ctypes.POINTER(_TokenArray)], None
    free.argtypes, free.restype = [ctypes.c_void_p], None
    return library
