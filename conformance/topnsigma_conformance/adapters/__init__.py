"""Implementations that the suite can drive by name. Each imports its peer only when constructed."""

from __future__ import annotations

import dataclasses
import importlib.util


@dataclasses.dataclass(frozen=True)
class Adapter:
    """An entry of the list of adapters.

    Attributes:
        path: ``MODULE:CLASS``.
        module: the top-level module of the peer, which has to be importable.
        needs: the distribution to install for it.
        summary: what it drives, in a few words.
    """

    path: str
    module: str
    needs: str
    summary: str

    @property
    def available(self) -> bool:
        """Whether the peer is installed. Does not import it."""
        return importlib.util.find_spec(self.module) is not None


ADAPTERS: dict[str, Adapter] = {
    "processor": Adapter(
        path="topnsigma_conformance.adapters.processor:Processor",
        module="topnsigma_processor",
        needs="topnsigma-processor",
        summary="this project's in-place op: torch on a CPU, Triton on a GPU or interpreted",
    ),
    "llama.cpp": Adapter(
        path="topnsigma_conformance.adapters.llama_cpp:LlamaCpp",
        module="xllamacpp",
        needs="xllamacpp",
        summary="llama_sampler_init_top_n_sigma, through xllamacpp",
    ),
}
