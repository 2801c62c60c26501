#!/usr/bin/env bash
# Serve a model with top-nσ: examples/server.sh MODEL [options of vLLM]
#
# To let top-nσ work among the tokens that a grammar or a ban has left, unless a request says
# otherwise, add: --additional-config '{"top_n_sigma": {"neg_inf": "exclude"}}'
set -euo pipefail
model=${1:?usage: server.sh MODEL [options of vLLM]}
shift
exec python -m vllm.entrypoints.openai.api_server --model "$model" \
    --logits-processors topnsigma_processor.vllm_plugin:TopNSigma "$@"
