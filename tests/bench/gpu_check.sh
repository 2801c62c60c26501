#!/usr/bin/env bash
# Check the Triton path on this machine's GPU and measure it. From a source tree, nothing installed:
#
#     tests/bench/gpu_check.sh               on a GPU; writes ${OUT:-.}/gpu_check.json
#     tests/bench/gpu_check.sh --interpret   without one: the same code at small sizes, no latencies
#
# Where compute-sanitizer is on the PATH, it watches a small run: memcheck, then racecheck. Ends within
# five minutes.
#
# Needs python with torch, triton and numpy (PYTHON chooses which one).
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
export PYTHONPATH="$root/processor:$root/reference:$root/tests${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONUNBUFFERED=1
for argument in "$@"; do
    if [[ $argument == --interpret ]]; then
        export TRITON_INTERPRET=1
    fi
done
exec "${PYTHON:-python3}" "$root/tests/bench/gpu_check.py" "$@"
