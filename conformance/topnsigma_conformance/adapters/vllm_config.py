"""A real ``VllmConfig``, for a model that exists as a configuration alone."""

from __future__ import annotations

import importlib
import json
import tempfile
from pathlib import Path
from typing import Any

SLOTS = 64
"""Requests that the engine may run at once (``max_num_seqs``)."""

MAX_TOKENS = 64
"""Of one request (``max_model_len``)."""

_MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "num_hidden_layers": 1,
    "max_position_embeddings": MAX_TOKENS,
    "bos_token_id": None,
    "eos_token_id": None,
}


def vllm_config(vocab_size: int) -> Any:
    """The configuration of a server whose model has so many tokens."""
    arguments: Any = importlib.import_module("vllm.engine.arg_utils")
    with tempfile.TemporaryDirectory() as folder:
        config = json.dumps({**_MODEL, "vocab_size": vocab_size})
        (Path(folder) / "config.json").write_text(config, encoding="utf-8")
        return arguments.EngineArgs(
            model=folder,
            load_format="dummy",
            skip_tokenizer_init=True,
            enforce_eager=True,
            dtype="float32",
            max_model_len=MAX_TOKENS,
            max_num_seqs=SLOTS,
        ).create_engine_config()
