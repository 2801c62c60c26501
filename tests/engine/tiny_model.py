"""A random language model of 512 tokens with a byte-level tokenizer, for vLLM to serve.

Weights are drawn once and saved, rather than left to vLLM's dummy loader, because the ranks of a
tensor-parallel engine have to load parts of the same model.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

VOCAB_SIZE = 512
HIDDEN, HEADS, HEAD_SIZE, LAYERS, INNER = 128, 4, 32, 2, 256
END = "<|end|>"

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": VOCAB_SIZE,
    "hidden_size": HIDDEN,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": HEADS,
    "head_dim": HEAD_SIZE,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
    "torch_dtype": "float32",
    "bos_token_id": 256,
    "eos_token_id": 256,
}


def build(folder: Path) -> Path:
    """Write the model to ``folder`` and return it. Same bits every time."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    save_file(_weights(), folder / "model.safetensors", metadata={"format": "pt"})
    _tokenizer().save_pretrained(folder)
    return folder


def _weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(20241112)

    def normal(rows: int, columns: int, scale: float) -> np.ndarray:
        return (rng.standard_normal((rows, columns)) * scale).astype(np.float32)

    ones = np.ones(HIDDEN, np.float32)
    # The last factor makes logits of σ about 2: peaked enough for filters to matter.
    weights = {
        "model.embed_tokens.weight": normal(VOCAB_SIZE, HIDDEN, 1.0),
        "model.norm.weight": ones,
        "lm_head.weight": normal(VOCAB_SIZE, HIDDEN, 2.0 * HIDDEN**-0.5),
    }
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}."
        for name in "qkvo":
            weights[f"{prefix}self_attn.{name}_proj.weight"] = normal(HIDDEN, HIDDEN, HIDDEN**-0.5)
        for name, shape in {"gate": (INNER, HIDDEN), "up": (INNER, HIDDEN)}.items():
            weights[f"{prefix}mlp.{name}_proj.weight"] = normal(*shape, HIDDEN**-0.5)
        weights[f"{prefix}mlp.down_proj.weight"] = normal(HIDDEN, INNER, INNER**-0.5)
        weights[f"{prefix}input_layernorm.weight"] = ones
        weights[f"{prefix}post_attention_layernorm.weight"] = ones
    return weights


def _tokenizer() -> PreTrainedTokenizerFast:
    """One token per byte, an end token, and names for the rest of the model's vocabulary."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: index for index, letter in enumerate(letters)}
    vocabulary[END] = len(vocabulary)
    while len(vocabulary) < VOCAB_SIZE:
        vocabulary[f"<|{len(vocabulary)}|>"] = len(vocabulary)
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    load: Any = PreTrainedTokenizerFast
    wrapped: PreTrainedTokenizerFast = load(
        tokenizer_object=tokenizer, bos_token=END, eos_token=END
    )
    wrapped.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    return wrapped
