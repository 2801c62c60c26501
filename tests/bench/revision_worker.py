"""The process of one revision: reads names of cases, measures our operation once for each.

python -m bench.revision_worker FOLDER      FOLDER is the one the package has to come from
"""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path

import torch
from bench.benchmark_ids import OURS, cases_of
from bench.cases import Case
from bench.contenders import of
from bench.interleaved import CpuStopwatch, NotRestoredError, rotating
from bench.machine import THREADS

import topnsigma_processor


@functools.lru_cache(maxsize=1)
def _watch(case: Case) -> CpuStopwatch:
    cpu = torch.device("cpu")
    source = case.logits(cpu)
    return CpuStopwatch(of(case, cpu)[OURS], source, rotating(source))


def main() -> int:
    """Answer until there is nothing left to read."""
    found = Path(str(topnsigma_processor.__file__)).parents[1].resolve()
    if found != Path(sys.argv[1]).resolve():
        print(f"the package comes from {found}, not from {sys.argv[1]}", file=sys.stderr)
        return 1
    torch.set_num_threads(THREADS)
    with torch.inference_mode():
        for line in sys.stdin:
            (case,) = cases_of("full", line.strip())
            watch = _watch(case)
            watch.restore()
            if not watch.restored():
                raise NotRestoredError(str(case))
            print(json.dumps(watch.seconds()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
