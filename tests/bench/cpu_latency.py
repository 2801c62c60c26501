"""Measure `top_n_sigma_` on a CPU beside a plain copy and the textbook version. No gate.

    python tests/bench/cpu_latency.py [--threads 1] [--json FILE]

The three are timed in turn, in every round, each on a buffer restored outside the timed region: a
row that is masked already holds -inf and is skipped, which is another path. Medians over rounds.
"""

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

from topnsigma_processor import __version__, top_n_sigma_

Operation = Callable[[torch.Tensor, torch.Tensor], object]


def textbook(logits: torch.Tensor, n: float) -> torch.Tensor:
    if not torch.isfinite(logits).all():
        return logits
    t = logits.amax(-1, keepdim=True) - n * logits.std(-1, keepdim=True)
    return logits.masked_fill_(logits < t, -torch.inf)


OPERATIONS: dict[str, Operation] = {
    "copy": lambda logits, other: other.copy_(logits),
    "top_n_sigma_": lambda logits, other: top_n_sigma_(logits, 1.0),
    "textbook": lambda logits, other: textbook(logits, 1.0),
}


def measure(
    batch: int, vocabulary: int, mean: float, rounds: int, buffers: int
) -> dict[str, float]:
    """Return the median seconds of each operation on `[batch, vocabulary]` float32 logits."""
    generator = torch.Generator().manual_seed(batch)
    source = torch.randn(batch, vocabulary, generator=generator) * 2.5 + mean
    rotating = [source.clone() for _ in range(buffers)]
    other = torch.empty_like(source)
    seconds: dict[str, list[float]] = {name: [] for name in OPERATIONS}
    turn = 0
    for round_index in range(rounds + 1):
        for name, operation in OPERATIONS.items():
            logits = rotating[turn % buffers]
            turn += 1
            logits.copy_(source)
            start = time.perf_counter()
            operation(logits, other)
            elapsed = time.perf_counter() - start
            if round_index > 0:  # the first round warms up
                seconds[name].append(elapsed)
    return {name: statistics.median(values) for name, values in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--vocabulary", type=int, default=151_936)
    parser.add_argument(
        "--mean",
        type=float,
        nargs="+",
        default=[0.0, 10.0],
        help="of the logits, whose standard deviation is 2.5: beside a large mean, rows are\n"
        "shifted, which takes longer (default: 0 10)",
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--buffers", type=int, default=3)
    parser.add_argument("--threads", type=int, help="torch's threads (default: torch's choice)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)

    print(f"float32, V = {arguments.vocabulary}, n = 1, {torch.get_num_threads()} threads")
    names = list(OPERATIONS)
    print(f"{'B':>4} {'mean':>6}", *(f"{name + ' µs':>16}" for name in names), "    ratios to copy")
    results = []
    for mean in arguments.mean:
        for batch in arguments.batch:
            medians = measure(
                batch, arguments.vocabulary, mean, arguments.rounds, arguments.buffers
            )
            ratios = {name: medians[name] / medians["copy"] for name in names[1:]}
            results.append({"batch": batch, "mean": mean, "seconds": medians, "ratios": ratios})
            times = (f"{medians[name] * 1e6:16.1f}" for name in names)
            shown = ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
            print(f"{batch:4d} {mean:6.1f}", *times, f"    {shown}", flush=True)
    if arguments.json:
        report = {
            "processor": __version__,
            "torch": torch.__version__,
            "machine": platform.processor() or platform.machine(),
            "threads": torch.get_num_threads(),
            "dtype": "float32",
            "vocabulary": arguments.vocabulary,
            "n": 1.0,
            "rounds": arguments.rounds,
            "results": results,
        }
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
