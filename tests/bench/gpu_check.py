"""Correctness, batch invariance and latency of the Triton path; see gpu_check.sh.

Correctness comes first and decides the exit status: a latency of a wrong kernel is worth nothing.
"""

import argparse
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from bench.benchmark_ids import OURS, YARDSTICK
from bench.cases import Case
from bench.contenders import of
from bench.interleaved import measure

from topnsigma_processor import __version__, top_n_sigma_
from topnsigma_processor.row_masker import RowMasker
from topnsigma_processor.triton_path import Schedule
from topnsigma_reference import RFC, Dialect, classify

EXCLUDE = Dialect(neg_inf="exclude")
SCHEDULES: tuple[Schedule, ...] = ("two-launch", "one-launch")
CASES = (
    *(Case(batch, vocabulary) for vocabulary in (32_000, 151_936) for batch in (1, 8, 64, 256)),
    Case(64, 151_936, rows="disabled"),
    Case(64, 151_936, "bfloat16"),
)
SANITIZER = "compute-sanitizer"
TOOLS = ("memcheck", "racecheck")
WITHIN = 270.0
"""Seconds after which no more latencies are measured: all of it should end within five minutes."""
INTEGERS = {torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}


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


def check_streams(device: torch.device, size: int, report: list[str]) -> int:
    """Threads on streams of their own find what each finds alone; returns how many rows."""
    logits = torch.stack(list(rows_of(size, 3).values())).to(device)
    n = [0.4, 0.7, 1.0, 2.0]

    def masked(value: float) -> torch.Tensor:
        return bits(top_n_sigma_(logits.clone(), value, neg_inf="exclude", path="triton"))

    alone = [masked(value) for value in n]
    torch.cuda.synchronize(device)
    rounds = 20
    wrong: list[int] = []

    def work(index: int) -> None:
        stream: torch.cuda.Stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        with torch.cuda.device(device), torch.cuda.stream(stream):
            wrong.extend(
                index for _ in range(rounds) if not torch.equal(masked(n[index]), alone[index])
            )

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(n))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        report.append(f"TNS-8: threads on streams: {len(wrong)} calls found other bits than alone")
    return len(n) * rounds * len(logits)


def sanitize(seconds: float, report: list[str]) -> dict[str, str]:
    """What each tool of Compute Sanitizer says about a small run, in `seconds` each at most."""
    sanitizer = shutil.which(SANITIZER, path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
    if sanitizer is None:
        return dict.fromkeys(TOOLS, "not there")
    found = {}
    for tool in TOOLS:
        command = [sanitizer, "--tool", tool, "--error-exitcode", "9"]
        command += [sys.executable, __file__, "--rules-only"]
        # Memory that PyTorch keeps for itself would hide what lies beyond a tensor.
        environment = os.environ | {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
        try:
            finished = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            found[tool] = f"out of time after {seconds:.0f} s"
            continue
        summary = [line for line in finished.stdout.splitlines() if "SUMMARY" in line]
        found[tool] = summary[-1].strip("= ") if summary else f"exit status {finished.returncode}"
        if finished.returncode != 0:
            report.append(f"{SANITIZER} {tool}: {found[tool]}: {finished.stdout[-2000:]}")
    return found


def exercise() -> list[str]:
    """Run every contender once where nothing can be timed."""
    case, device = Case(2, 300), torch.device("cpu")
    steps = of(case, device, as_on="cuda")
    for step in steps.values():
        step(case.logits(device))
    return list(steps)


def latency(device: torch.device, rounds: int, budget: float) -> list[dict[str, Any]]:
    """Seconds of every contender on the device, and of the host's part of a call."""
    started, results = time.monotonic(), []
    for case in CASES:
        if time.monotonic() - started > budget:
            print(f"out of time: {case} is not measured", flush=True)
            continue
        measured = measure(case, device, rounds)
        results.append(
            {
                "case": str(case),
                "seconds": _medians(measured.seconds),
                "host_seconds": _medians(measured.host_seconds),
                "peak_bytes": measured.peak_bytes,
                "bytes_moved": case.bytes_moved,
            }
        )
        torch.cuda.empty_cache()
    return results


def _medians(figures: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: statistics.median(values) for name, values in figures.items()}


def print_table(results: list[dict[str, Any]]) -> None:
    """Microseconds on the device; the best schedule beside a copy; GB/s; µs of the host."""
    names = list(results[0]["seconds"])
    print(f"\n{'case':>30}", *(f"{name + ' µs':>15}" for name in names), end="")
    print(f" {'best/copy':>10} {'GB/s':>6} {'host µs':>8}")
    for result in results:
        seconds = result["seconds"]
        best = min((OURS, "one-launch"), key=seconds.__getitem__)
        print(f"{result['case']:>30}", end=" ")
        print(
            *(f"{seconds[name] * 1e6:15.2f}" if name in seconds else " " * 15 for name in names),
            end=" ",
        )
        print(f"{seconds[best] / seconds[YARDSTICK]:10.2f}", end=" ")
        print(f"{result['bytes_moved'] / seconds[best] / 1e9:6.0f}", end=" ")
        print(f"{result['host_seconds'][best] * 1e6:8.1f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interpret", action="store_true", help="no GPU: small sizes, no latency")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument(
        "--rules-only", action="store_true", help="few rows, nothing else and no file"
    )
    parser.add_argument("--sanitizer-seconds", type=float, default=30.0, help="for each tool")
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
    if arguments.rules_only:
        check_rules(device, sizes[:1] if arguments.interpret else [130, 4097], report)
        print(*report, sep="\n")
        return 1 if report else 0
    checked = check_rules(device, sizes, report)
    checked += check_batches(device, 130 if arguments.interpret else 32_000, batches, report)
    if not arguments.interpret:
        checked += check_streams(device, 32_000, report)
    # The interpreter runs no code of a GPU's.
    sanitized = {} if arguments.interpret else sanitize(arguments.sanitizer_seconds, report)
    for tool, said in sanitized.items():
        print(f"{SANITIZER} {tool}: {said}")
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
        "sanitizer": sanitized,
        "latency": [],
    }
    if arguments.interpret:
        result["contenders_exercised"] = exercise()
    elif not report:
        result["latency"] = latency(
            device,
            arguments.rounds,
            min(arguments.budget, WITHIN - (time.monotonic() - started)),
        )
    path = Path(os.environ.get("OUT", ".")) / "gpu_check.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if result["latency"]:
        print_table(result["latency"])
    return 1 if report else 0


if __name__ == "__main__":
    sys.exit(main())
