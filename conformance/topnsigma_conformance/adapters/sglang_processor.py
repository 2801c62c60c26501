"""Custom logit processors of SGLang."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from topnsigma_conformance.adapters.named_peer import ANY, NamedPeer


class SGLangProcessor(NamedPeer):
    """Drives a ``CustomLogitProcessor`` class, without an engine.

    The class is serialised and read back, as clients and server do. A request carries n in its
    ``custom_params``, under the name that the option ``key`` gives, ``top_n_sigma`` by default;
    None stands for a request without the processor. Of ``apply_custom_logit_processor`` in
    SGLang's sampler, which needs the rest of the engine, the adapter repeats what a processor can
    notice: rows of the requests that carry it are gathered, the processor is called once with them
    and with their parameters, and what it returns is written back into the logits. The entry
    ``__req__``, by which processors reach the engine's request, is left out.

    SGLang checks no parameters: a ValueError counts as a rejection here, but in SGLang it would end
    the scheduler. Written against SGLang 0.5.23, whose module imports without a GPU.

    Raises:
        ImportError: SGLang, one of the packages that it imports, or the class cannot be imported.
        TypeError: it is not a subclass of CustomLogitProcessor.
    """

    adapter = "sglang"
    arrays = "torch"
    devices = ("cpu", "cuda")
    in_place = True
    options: ClassVar[Mapping[str, tuple[str, ...]]] = {"key": ANY}

    def __init__(
        self, device: str | None = None, path: str = "", options: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(device, path, options)
        module: Any = importlib.import_module("sglang.srt.sampling.custom_logit_processor")
        base = module.CustomLogitProcessor
        cls: Any = self.object
        if not (isinstance(cls, type) and issubclass(cls, base)):
            raise TypeError(f"{path} must be a subclass of CustomLogitProcessor")
        self._processor = base.from_str(self.object.to_str())
        self.parameter = (options or {}).get("key", "top_n_sigma")

    def peer_version(self) -> str:
        """Of sglang."""
        return f"sglang {importlib.metadata.version('sglang')}"

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        """``logits`` [B, V] themselves, with the processor's rows written into them."""
        import torch

        rows = [row for row, entry in enumerate(n) if entry is not None]
        if rows:
            indices = torch.tensor(rows, device=logits.device)
            parameters = [{self.parameter: n[row]} for row in rows]
            result = self._processor(logits.index_select(0, indices), parameters)
            logits.index_copy_(0, indices, result.to(logits.dtype))
        return logits
