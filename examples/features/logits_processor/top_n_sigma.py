# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the vLLM project
"""This example implements top-nσ truncation (Tang et al., "Top-nσ: Not All Logits
Are You Need", ACL 2025, https://arxiv.org/abs/2411.07641) as a custom logits
processor for both of vLLM's model runners.

Of each row of logits it keeps the tokens within ``n`` standard deviations of the
most likely one, and masks the others before temperature is applied::

    logits[logits < logits.max() - n * logits.std()] = -inf

so that a higher temperature makes the choice among the kept tokens more even
without letting unlikely ones in. Pass the class to ``LLM`` and ``n``, a finite
number > 0, to the requests that want it; a smaller one keeps fewer tokens::

    LLM(..., logits_processors=[TopNSigmaLogitsProcessor])
    SamplingParams(temperature=2.0, extra_args={"top_n_sigma": 1.0})

A row that holds NaN, inf or -inf has no standard deviation and is left as it is.
Structured output, ``min_tokens``, ``allowed_token_ids`` and ``bad_words`` put -inf
into the rows that they restrict, and there ``top_n_sigma`` has no effect.

Run the example with a model's name, or offline with its folder, on a GPU or a CPU::

    python examples/features/logits_processor/top_n_sigma.py --model MODEL

It sends each prompt twice in one batch, without top-nσ and with it, at a temperature
of 2, and prints the texts, similar to these:

Generated Outputs:
------------------------------------------------------------
Prompt:    'The capital of France is', without top-nσ
Output:    ' Paris** exerts imperialism based - opting ** sidewalksictoTFrance.
             according db Scot'
------------------------------------------------------------
Prompt:    'The capital of France is', with top-nσ
Output:    ' Paris, which attracts an incredible number of tourists.\\n\\nThese
             hotels are the'
------------------------------------------------------------
"""

import argparse
import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING

import torch

import vllm.v1.sample.logits_processor as v1
import vllm.v1.worker.gpu.sample.logits_processor as v2
from vllm import LLM, SamplingParams
from vllm.sampling_params import SamplingType
from vllm.utils.gpu_sync_debug import gpu_sync_allowed

if TYPE_CHECKING:
    from vllm.config import VllmConfig

KEY = "top_n_sigma"


def parse_n(value: object) -> float | None:
    """Return ``value`` as a float, None if it is not a finite real number > 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        n = float(value)
    except OverflowError:  # an int beyond the range of float
        return None
    return n if 0 < n < math.inf else None


def truncate_(row: torch.Tensor, n: float) -> None:
    """Mask one row of logits, ``[vocab_size]``, in place, without a GPU sync."""
    # A row at a time, and in a copy of its own, because a reduction may round in
    # another way with the number and the alignment of rows, and no request must
    # notice who shares its batch. In float64, where rounding is no concern.
    wide = row.double()
    threshold = wide.amax() - n * wide.std()
    # NaN, so that nothing is masked, if the row holds NaN or an infinity, or one token.
    row.masked_fill_(wide < threshold, -math.inf)


class TopNSigmaLogitsProcessor(v2.LogitsProcessor, v1.LogitsProcessor):
    """Top-nσ for the requests that ask for it, under either model runner.

    Model Runner V2 calls ``add_request`` and numbers requests by a slot that they
    keep; V1 calls ``update_state`` and numbers them by their row in the batch.
    """

    def __init__(
        self,
        vllm_config: "VllmConfig",
        device_or_req_states: torch.device | v2.LogitsProcRequestState,
        is_pin_memory: bool | None = None,
    ) -> None:
        # V1 passes a device and is_pin_memory, V2 its request states; neither is
        # needed here, because n stays on the host: slot (V2) or row (V1) -> n.
        self.n: dict[int, float] = {}

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Refuse a bad n at admission: an error later would take the engine down."""
        value = (sampling_params.extra_args or {}).get(KEY)
        if value is not None and parse_n(value) is None:
            raise ValueError(f"{KEY} must be a finite number > 0, got {value!r}")

    def is_argmax_invariant(self) -> bool:
        # The argmax does survive. But V1 runs the processors that say so after
        # temperature and min_p, and min_p leaves -inf, which would disable this one.
        return False

    def _assign(self, index: int, n: float | None) -> None:
        """Overwrite what the last request at ``index`` has left."""
        if n is None:
            self.n.pop(index, None)
        else:
            self.n[index] = n

    def add_request(self, req_idx: int, sampling_params: SamplingParams) -> bool:
        n = parse_n((sampling_params.extra_args or {}).get(KEY))
        if sampling_params.sampling_type == SamplingType.GREEDY:
            n = None  # it samples the argmax, which always survives
        self._assign(req_idx, n)
        return n is not None

    def update_state(self, batch_update: v1.BatchUpdate | None) -> None:
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._assign(index, None)
        for index, params, _, _ in batch_update.added:
            self.add_request(index, params)
        for source, target, direction in batch_update.moved:
            moved, replaced = self.n.get(source), self.n.get(target)
            is_swap = direction == v1.MoveDirectionality.SWAP
            self._assign(source, replaced if is_swap else None)
            self._assign(target, moved)

    def apply(
        self, logits: torch.Tensor, ctx: v2.LogitsContext | None = None
    ) -> torch.Tensor:
        """Truncate the rows of requests that opted in; V1 passes no ``ctx``."""
        if not self.n:
            return logits
        indices: Sequence[int]
        if ctx is None:
            indices = range(len(logits))
        else:
            indices = ctx.idx_mapping_np.tolist()
            if self.n.keys().isdisjoint(indices):
                return logits
            if len(indices) != len(logits):
                # Drafts: only the GPU knows how many rows each request has.
                with gpu_sync_allowed():
                    indices = ctx.expanded_idx_mapping.tolist()
        for row, index in enumerate(indices):
            if index in self.n:
                truncate_(logits[row], self.n[index])
        return logits


PROMPTS = [
    "The capital of France is",
    "The three primary colours are red,",
    "Hello, my name is",
]


def main() -> None:
    parser = argparse.ArgumentParser(description="Top-nσ truncation with vLLM")
    parser.add_argument("--model", default="HuggingFaceTB/SmolLM2-135M-Instruct")
    parser.add_argument("--top-n-sigma", type=float, default=1.0, metavar="N")
    parser.add_argument("--temperature", type=float, default=2.0)
    parser.add_argument("--max-tokens", type=int, default=16)
    parser.add_argument("--max-model-len", type=int, default=256)
    parser.add_argument("--prompts", nargs="+", default=PROMPTS, metavar="PROMPT")
    args = parser.parse_args()

    llm = LLM(
        model=args.model,
        logits_processors=[TopNSigmaLogitsProcessor],
        max_model_len=args.max_model_len,
        enforce_eager=True,  # to start fast
    )
    requests = [
        (prompt, extra_args)
        for prompt in args.prompts
        for extra_args in (None, {KEY: args.top_n_sigma})
    ]
    sampling_params = [
        SamplingParams(
            temperature=args.temperature,
            max_tokens=args.max_tokens,
            extra_args=extra_args,
        )
        for _, extra_args in requests
    ]
    outputs = llm.generate([prompt for prompt, _ in requests], sampling_params)

    print("\nGenerated Outputs:\n" + "-" * 60)
    for (prompt, extra_args), output in zip(requests, outputs, strict=True):
        print(f"Prompt:    {prompt!r}, {'with' if extra_args else 'without'} top-nσ")
        print(f"Output:    {output.outputs[0].text!r}")
        print("-" * 60)


if __name__ == "__main__":
    main()
