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
        takes: what follows the adapter's name in a target; empty where the name says it all.
    """

    path: str
    module: str
    needs: str
    summary: str
    takes: str = ""

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
    "mlx-vlm": Adapter(
        path="topnsigma_conformance.adapters.mlx_vlm:MlxVlm",
        module="mlx_vlm",
        needs="'mlx[cpu]' && pip install --no-deps mlx-vlm",
        summary="apply_top_n_sigma of mlx-vlm where make_sampler calls it, on mlx's CPU backend",
    ),
    "aphrodite": Adapter(
        path="topnsigma_conformance.adapters.aphrodite:Aphrodite",
        module="aphrodite",
        needs="torch && pip install --no-deps aphrodite-engine",
        summary="top_nsigma of Aphrodite, with what its worker hands to it",
    ),
    "transformers": Adapter(
        path="topnsigma_conformance.adapters.transformers_processor:TransformersProcessor",
        module="transformers",
        needs="torch transformers",
        summary="any LogitsProcessor of transformers, made by FACTORY(n)",
        takes="MODULE:FACTORY",
    ),
    "vllm": Adapter(
        path="topnsigma_conformance.adapters.vllm_processor:VllmProcessor",
        module="vllm",
        needs="vllm",
        summary="any logits processor of vLLM, for Model Runner V1 or V2 (runner=)",
        takes="MODULE:CLASS",
    ),
    "sglang": Adapter(
        path="topnsigma_conformance.adapters.sglang_processor:SGLangProcessor",
        module="sglang",
        needs="sglang",
        summary="any CustomLogitProcessor of SGLang",
        takes="MODULE:CLASS",
    ),
    "numpy": Adapter(
        path="topnsigma_conformance.adapters.callables:NumpyCallable",
        module="numpy",
        needs="numpy",
        summary="a function of a numpy array [B, V] and n",
        takes="MODULE:FUNCTION",
    ),
    "torch": Adapter(
        path="topnsigma_conformance.adapters.callables:TorchCallable",
        module="torch",
        needs="torch",
        summary="a function of a torch tensor [B, V] and n",
        takes="MODULE:FUNCTION",
    ),
    "jax": Adapter(
        path="topnsigma_conformance.adapters.callables:JaxCallable",
        module="jax",
        needs="jax",
        summary="a function of a jax array [B, V] and n",
        takes="MODULE:FUNCTION",
    ),
}
