"""Each package builds as a wheel and installs alone, with its own requirements and nothing else."""

import sys
from pathlib import Path

import pytest
from fresh_environment import FreshEnvironment, output_of

PACKAGES = ("reference", "conformance", "processor")

SAMPLER = """
import numpy as np
from topnsigma_conformance import Implementation
from topnsigma_reference import top_n_sigma

class Mine(Implementation):
    name = "mine"

    def apply(self, logits, n):
        return top_n_sigma(logits, n)
"""


@pytest.fixture
def environment(tmp_path: Path) -> FreshEnvironment:
    return FreshEnvironment(tmp_path / "env")


def test_reference_needs_numpy_only(environment: FreshEnvironment, wheels: dict[str, Path]) -> None:
    environment.install(wheels["reference"])
    assert environment.installed() == {"numpy", "topnsigma-reference"}
    printed = environment.run(
        "import numpy, topnsigma_reference as r;"
        "print(r.top_n_sigma(numpy.array([0, 1, 2], numpy.float32), 1.0).tolist())"
    )
    assert printed == "[-inf, 1.0, 2.0]"


def test_conformance_needs_neither_torch_nor_pytest(
    environment: FreshEnvironment, wheels: dict[str, Path], tmp_path: Path
) -> None:
    environment.install(wheels["reference"], wheels["conformance"])
    assert not {"torch", "pytest"} & environment.installed()
    (tmp_path / "mine.py").write_text(SAMPLER)
    command = environment.scripts / "topnsigma-conformance"
    checks = ("--check", "TNS-4.divisor", "--check", "TNS-9.core")
    assert "mine" in output_of(command, "run", "mine:Mine", *checks, cwd=tmp_path)
    assert "llama.cpp" in output_of(command, "list")


def test_processor_needs_torch_only(environment: FreshEnvironment, wheels: dict[str, Path]) -> None:
    environment.install(wheels["processor"])
    assert not {"topnsigma-reference", "topnsigma-conformance", "vllm"} & environment.installed()
    printed = environment.run(
        "import torch, topnsigma_processor as p;"
        "print(p.top_n_sigma_(torch.tensor([0.0, 1.0, 2.0]), 1.0).tolist())"
    )
    assert printed == "[-inf, 1.0, 2.0]"


@pytest.mark.parametrize("package", PACKAGES)
def test_wheel_is_typed_and_holds_one_package(package: str, wheels: dict[str, Path]) -> None:
    listed = output_of(sys.executable, "-m", "zipfile", "-l", wheels[package])
    names = [line.split()[0] for line in listed.splitlines()[1:]]
    assert f"topnsigma_{package}/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {f"topnsigma_{package}"}
