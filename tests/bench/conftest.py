"""What the benchmarks are told, and what their JSON says of the machine."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from bench.cases import GRIDS
from bench.machine import describe


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("latency benchmarks")
    group.addoption("--bench-device", default="cpu", choices=["cpu", "cuda"])
    group.addoption("--bench-grid", default="default", choices=[*GRIDS])
    group.addoption("--bench-rounds", default=24, type=int)
    group.addoption("--bench-cases", default="", help="names of cases, separated by commas")


def pytest_benchmark_update_machine_info(
    config: pytest.Config, machine_info: dict[str, Any]
) -> None:
    machine_info.update(describe(torch.device(config.getoption("--bench-device"))))
