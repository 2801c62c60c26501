"""Top-nσ in vLLM without a server: one prompt, several n, temperature 2.

pip install 'topnsigma-processor[vllm]' && python examples/offline.py --model MODEL
"""

import argparse

from vllm import LLM, SamplingParams


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="HuggingFaceTB/SmolLM2-135M-Instruct")
    parser.add_argument("--prompt", default="The capital of France is")
    parser.add_argument("--max-tokens", type=int, default=24)
    arguments = parser.parse_args()
    llm = LLM(
        model=arguments.model,
        logits_processors=["topnsigma_processor.vllm_plugin:TopNSigma"],
        max_model_len=256,
        enforce_eager=True,
    )
    choices: list[float | None] = [0.5, 1.0, 2.0, None]
    requests = [
        SamplingParams(
            temperature=2.0,
            max_tokens=arguments.max_tokens,
            seed=1,
            extra_args=None if n is None else {"top_n_sigma": n},
        )
        for n in choices
    ]
    outputs = llm.generate([arguments.prompt] * len(choices), requests, use_tqdm=False)
    for n, output in zip(choices, outputs, strict=True):
        print(f"n = {n}: {output.outputs[0].text!r}")


if __name__ == "__main__":
    main()
