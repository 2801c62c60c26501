"""Correctness, batch invariance and latency of the Triton path; see gpu_check.sh.

Correctness comes first and decides the exit status: a latency of a wrong kernel is worth nothing.
"""

import argparse
import json
import math
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from topnsigma_processor import __version__, top_n_sigma_
from topnsigma_processor.row_masker import RowMasker
from topnsigma_processor.triton_path import Schedule
from topnsigma_reference import RFC, Dialect, classify

EXCLUDE = Dialect(neg_inf="exclude")
SCHEDULES: tuple[Schedule, ...] = ("two-launch", "one-launch")
INTEGERS = {torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}

Step = Callable[[torch.Tensor], object]


def bits(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous().view(INTEGERS[x.dtype]).cpu()


def rows_of(size: int, seed: int) -> dict[str, torch.Tensor]:
    """Rows that break wrong kernels, float32 `[size]` on the CPU."""
    base = torch.randn(size, generator=torch.Generator().manual_seed(seed))
    banned = base * 3
    banned[::3] = -math.inf
    broken = base.clone()
    broken.view(torch.int32)[size // 2] = 0x7FA01234  # a signalling NaN with a payload
    return {
        "normal": base * 2.5,
        "offset": base + 1000,
        "far offset": (base * 4).round() / 16 + 1e6,
        "huge": (base * 1e38).clamp(-3.4e38, 3.4e38),
        "subnormal": (base * 40).round() * 2.0**-149,
        "mixed scales": base * 10.0 ** torch.linspace(-44, 38, size),
        "banned": banned,
        "NaN": broken,
        "equal": torch.full((size,), 7.0),
    }


def fault(row: torch.Tensor, n: float, exclude: bool, result: torch.Tensor) -> str:
    """What is wrong with a masked row, judged by the exact oracle; "" if nothing is."""
    given, got = bits(row), bits(result)
    array = row.float().cpu().numpy()
    verdict = classify(
        array, n if math.isfinite(n) and n > 0 else None, EXCLUDE if exclude else RFC
    )
    kept = (given == got).numpy()
    if verdict.tight is None:
        return "" if kept.all() else f"{verdict.rule}: not left alone"
    after = result.float().cpu().numpy()
    if not (kept | (after == -np.inf)).all():
        return "TNS-6: a logit changed its bits"
    finite, stays = np.isfinite(array), np.isfinite(after)
    if (((array > verdict.tight.upper) | (array == verdict.maximum)) & ~stays).any():
        return "TNS-5: masked above the tight band"
    if (finite & (array < verdict.tight.lower) & stays).any():
        return "TNS-5: kept below the tight band"
    return ""


def check_rules(device: torch.device, sizes: list[int], report: list[str]) -> int:
    """Every kind of row, both policies, dtypes, schedules and layouts; returns how many rows."""
    count = 0
    layouts = [(0, 0), (3, 2)]  # padding behind rows, elements before the first one
    if device.type == "cuda":
        layouts += [(0, 1), (64, 0)]
    for size in sizes:
        for dtype in INTEGERS:
            rows = rows_of(size, size)
            names = [*rows, *rows]
            logits = torch.stack([*rows.values()] * 2).to(dtype)
            policies = torch.arange(len(names)) >= len(rows)
            n = torch.tensor([[1.0, 0.3, math.nan, 1e300, 1e-30][i % 5] for i in range(len(names))])
            n = n.to(torch.float64)
            expected: torch.Tensor | None = None
            for schedule in SCHEDULES:
                masker = RowMasker(size, 7, device, dtype, path="triton", schedule=schedule)
                for padding, offset in layouts:
                    padding += -size % 64 if padding == 64 else 0
                    extent = len(names) * (size + padding) + offset + 8
                    memory = torch.full((extent,), 8192.0, dtype=dtype, device=device)
                    strides = (size + padding, 1)
                    view = memory.as_strided(logits.shape, strides, offset)
                    view.view(INTEGERS[dtype]).copy_(logits.view(INTEGERS[dtype]))
                    masker.mask_(view, n.to(device), policies.to(device))
                    inside = torch.zeros(extent, dtype=torch.bool)
                    inside.as_strided(logits.shape, strides, offset).fill_(True)
                    label = f"V={size} {dtype} {schedule} padding={padding} offset={offset}"
                    if not bool((memory.cpu()[~inside] == 8192.0).all()):
                        report.append(f"{label}: TNS-10: wrote outside of the rows")
                    if expected is None:
                        expected = bits(view)
                        for index, name in enumerate(names):
                            wrong = fault(
                                logits[index], float(n[index]), bool(policies[index]),
                                view[index].cpu(),
                            )  # fmt: skip
                            if wrong:
                                report.append(f"{label} {name} n={float(n[index])}: {wrong}")
                    elif not torch.equal(bits(view), expected):
                        report.append(f"{label}: TNS-8: other bits than contiguous, two-launch")
                    count += len(names)
    return count


def check_batches(device: torch.device, size: int, batches: list[int], report: list[str]) -> int:
    """A row has the bits it has alone in every batch and position; returns how many rows."""
    kinds = list(rows_of(size, 1).values())[:6]
    count = 0
    for schedule in SCHEDULES:
        masker = RowMasker(size, max(batches), device, path="triton", schedule=schedule)

        def masked(rows: torch.Tensor, masker: RowMasker = masker) -> torch.Tensor:
            logits = rows.to(device)
            n = torch.full((len(rows),), 0.7, dtype=torch.float64, device=device)
            masker.mask_(logits, n, torch.zeros(len(rows), dtype=torch.bool, device=device))
            return bits(logits)

        alone = torch.stack([masked(row[None])[0] for row in kinds])
        for batch in batches:
            order = torch.randint(
                len(kinds), (batch,), generator=torch.Generator().manual_seed(batch)
            )
            for _ in range(2):
                if not torch.equal(masked(torch.stack(kinds)[order]), alone[order]):
                    report.append(f"TNS-8: {schedule} V={size} B={batch}: other bits than alone")
            count += batch
    operation = torch.stack(kinds).to(device)
    top_n_sigma_(operation, [0.7] * len(kinds), path="triton")
    if not torch.equal(bits(operation), alone):
        report.append("top_n_sigma_ differs from RowMasker")
    return count


def textbook(logits: torch.Tensor, n: torch.Tensor) -> None:
    """The five operations of the paper, for all rows at once, without waiting for the device."""
    t = logits.amax(-1, keepdim=True) - n[:, None] * logits.std(-1, keepdim=True)
    logits.masked_fill_((logits < t) & torch.isfinite(logits).all(-1, keepdim=True), -math.inf)


def steps_of(size: int, rows: int, device: torch.device) -> dict[str, Step]:
    n = torch.full((rows,), 1.0, dtype=torch.float64, device=device)
    disabled = torch.zeros_like(n)
    narrow = n.float()
    exclude = torch.zeros(rows, dtype=torch.bool, device=device)
    other = torch.empty(rows, size, device=device)
    maskers = {
        schedule: RowMasker(size, rows, device, path="triton", schedule=schedule)
        for schedule in SCHEDULES
    }
    steps: dict[str, Step] = {"copy": other.copy_}
    for schedule, masker in maskers.items():
        steps[schedule] = lambda logits, m=masker: m.mask_(logits, n, exclude)  # type: ignore[misc]
    steps["disabled"] = lambda logits: maskers["two-launch"].mask_(logits, disabled, exclude)
    steps["textbook"] = lambda logits: textbook(logits, narrow)
    return steps


class Timer:
    """Seconds of one step on the device: CUDA events around the replay of a captured graph.

    A graph handles several buffers, which are restored before each replay (a row that was masked
    holds -inf and takes another path) and together exceed the level-2 cache.
    """

    def __init__(self, step: Step, source: torch.Tensor, buffers: list[torch.Tensor]) -> None:
        self.source, self.buffers = source, buffers
        self.restore()
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for buffer in buffers[:2]:
                step(buffer)
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            for buffer in buffers:
                step(buffer)

    def restore(self) -> None:
        for buffer in self.buffers:
            buffer.copy_(self.source)

    def measure(self) -> float:
        self.restore()
        start = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        end = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        start.record()
        self.graph.replay()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3 / len(self.buffers)


def measure(size: int, rows: int, device: torch.device, rounds: int) -> dict[str, float]:
    """Median seconds of each step on `[rows, size]` float32 logits."""
    generator = torch.Generator(device).manual_seed(rows)
    source = torch.randn(rows, size, generator=generator, device=device) * 2.5 + 10
    cache = torch.cuda.get_device_properties(device).L2_cache_size
    # Two buffers more than fill the cache; some more spread the cost of a launch's end.
    count = min(max(math.ceil(2 * cache / source.nbytes) + 1, 4), 200)
    buffers = [torch.empty_like(source) for _ in range(count)]
    steps = steps_of(size, rows, device)
    timers = {name: Timer(step, source, buffers) for name, step in steps.items()}
    seconds: dict[str, list[float]] = {name: [] for name in timers}
    order = list(timers)
    for turn in range(rounds + 2):
        random.Random(turn).shuffle(order)
        for name in order:
            elapsed = timers[name].measure()
            if turn >= 2:
                seconds[name].append(elapsed)
    return {name: statistics.median(values) for name, values in seconds.items()}


def exercise(size: int, rows: int) -> list[str]:
    """Run every step once where nothing can be timed."""
    device = torch.device("cpu")
    source = torch.randn(rows, size, generator=torch.Generator().manual_seed(rows))
    for step in steps_of(size, rows, device).values():
        step(source.clone())
    return list(steps_of(size, rows, device))


def latency(device: torch.device, rounds: int, budget: float) -> list[dict[str, Any]]:
    started, results = time.monotonic(), []
    for size in (32_000, 151_936):
        for rows in (1, 8, 64, 256):
            if time.monotonic() - started > budget:
                print(f"out of time: V={size} B={rows} is not measured", flush=True)
                continue
            medians = measure(size, rows, device, rounds)
            results.append({"vocabulary": size, "batch": rows, "seconds": medians})
            torch.cuda.empty_cache()
    return results


def print_table(results: list[dict[str, Any]]) -> None:
    names = list(results[0]["seconds"])
    print(f"\n{'V':>7} {'B':>4}", *(f"{name + ' µs':>14}" for name in names), end="")
    print(f" {'best/copy':>10} {'textbook/best':>14}")
    for result in results:
        seconds = result["seconds"]
        best = min(seconds[schedule] for schedule in SCHEDULES)
        print(f"{result['vocabulary']:7d} {result['batch']:4d}", end=" ")
        print(*(f"{seconds[name] * 1e6:14.2f}" for name in names), end=" ")
        print(f"{best / seconds['copy']:10.2f} {seconds['textbook'] / best:14.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interpret", action="store_true", help="no GPU: small sizes, no latency")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--budget", type=float, default=150.0, help="seconds for the latencies")
    arguments = parser.parse_args()
    if not arguments.interpret and not torch.cuda.is_available():
        print("there is no GPU here; --interpret runs the same code in Triton's interpreter")
        return 2
    import triton  # type: ignore[import-untyped, import-not-found, unused-ignore]

    device = torch.device("cpu" if arguments.interpret else "cuda")
    if device.type == "cuda":
        device = torch.device("cuda", torch.cuda.current_device())
    machine = "Triton's interpreter" if arguments.interpret else torch.cuda.get_device_name(device)
    sizes = [130] if arguments.interpret else [1, 2, 5, 4097, 32_000, 50_257, 151_936]
    batches = [1, 3] if arguments.interpret else [1, 7, 64, 1000]
    report: list[str] = []
    started = time.monotonic()
    checked = check_rules(device, sizes, report)
    checked += check_batches(device, 130 if arguments.interpret else 32_000, batches, report)
    print(f"{machine}: {checked} rows, {len(report)} faults, {time.monotonic() - started:.0f} s")
    print(*report[:50], sep="\n", end="\n" if report else "")
    result: dict[str, Any] = {
        "processor": __version__,
        "torch": torch.__version__,
        "triton": triton.__version__,
        "python": platform.python_version(),
        "machine": machine,
        "interpreted": arguments.interpret,
        "rows_checked": checked,
        "faults": report,
        "latency": [],
    }
    if arguments.interpret:
        result["steps_exercised"] = exercise(300, 2)
    elif not report:
        result["latency"] = latency(device, arguments.rounds, arguments.budget)
    path = Path(os.environ.get("OUT", ".")) / "gpu_check.json"
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if result["latency"]:
        print_table(result["latency"])
    return 1 if report else 0


if __name__ == "__main__":
    sys.exit(main())
