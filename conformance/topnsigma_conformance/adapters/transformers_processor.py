"""Logits processors of transformers."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import Any

from topnsigma_conformance.adapters.named_peer import NamedPeer, one_n


class TransformersProcessor(NamedPeer):
    """Drives what ``factory(n)`` makes: a ``transformers.LogitsProcessor`` (or warper) class, or
    any callable that returns an instance of one.

    It is made anew for each call and applied through a ``LogitsProcessorList``, as ``generate``
    does: one n for the whole batch, given to the constructor, which is where a bad n has to raise
    ValueError. For None no processor is made, and ``generate`` would have none in its list.
    ``input_ids`` is a prompt of one token 0 for each row.

    Raises:
        ImportError: transformers, or the factory, cannot be imported.
    """

    adapter = "transformers"
    arrays = "torch"
    devices = ("cpu", "cuda")
    per_row_n = False

    def __init__(
        self, device: str | None = None, path: str = "", options: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(device, path, options)
        generation: Any = importlib.import_module("transformers.generation.logits_process")
        self._base, self._list = generation.LogitsProcessor, generation.LogitsProcessorList

    def peer_version(self) -> str:
        """Of transformers."""
        return f"transformers {importlib.metadata.version('transformers')}"

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        """The scores that come back for ``logits``, float32 [B, V].

        Raises:
            ValueError: the factory raised it for this n.
            TypeError: the factory returned no LogitsProcessor.
        """
        import torch

        number = one_n(n)
        if number is None:
            return logits
        processor = self.object(number)
        if not isinstance(processor, self._base):
            raise TypeError(f"the factory must return a LogitsProcessor; got {processor!r}")
        prompt = torch.zeros((logits.shape[0], 1), dtype=torch.long, device=logits.device)
        return self._list([processor])(prompt, logits)
