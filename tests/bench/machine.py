"""What a measurement has to say of the machine it was made on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from pathlib import Path

import torch

THREADS = 1
"""PyTorch's threads on a CPU. One, so that the processor time of a call is that of its work and
not of its waiting for a thread that another process keeps from running."""


def describe(device: torch.device) -> dict[str, str | int]:
    """Device, its name, versions, threads."""
    found: dict[str, str | int] = {
        "device": device.type,
        "device_name": torch.cuda.get_device_name(device) if device.type == "cuda" else cpu_name(),
        "torch": torch.__version__,
        "triton": _version("triton"),
        "vllm": _version("vllm"),
        "threads": torch.get_num_threads(),
        "cores": os.cpu_count() or 0,
    }
    if device.type == "cuda":
        found["cuda"] = torch.version.cuda or torch.version.hip or ""
        found["driver"] = _driver()
    return found


def cpu_name() -> str:
    """As the kernel tells it, or the architecture where it does not: name, model, cache."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    fields = dict(re.findall(r"^([\w ]+?)\s*: (.*)$", text, re.MULTILINE))
    # Virtual machines hide the name of the product, but not family and model.
    parts = [fields.get("model name", platform.machine())]
    if "cpu family" in fields:
        parts.append(f"(family {fields['cpu family']}, model {fields.get('model', '?')})")
    return " ".join(parts)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _driver() -> str:
    path = Path("/proc/driver/nvidia/version")
    match = re.search(r"\b\d+\.\d+(?:\.\d+)?\b", path.read_text("utf-8")) if path.exists() else None
    return match.group() if match else ""
