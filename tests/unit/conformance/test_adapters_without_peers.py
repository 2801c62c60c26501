"""What adapters say where their peer is not installed, and how one module of a peer is loaded."""

import sys
from pathlib import Path

import pytest

from topnsigma_conformance.adapters import ADAPTERS
from topnsigma_conformance.adapters.one_module import load_module
from topnsigma_conformance.target import TargetError, load


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package that cannot be imported, with one module that can."""
    folder = tmp_path / "heavy_peer" / "ops"
    folder.mkdir(parents=True)
    (tmp_path / "heavy_peer" / "__init__.py").write_text("raise ImportError('an engine')\n")
    (folder / "top.py").write_text(
        "from heavy_peer.metadata import Metadata\n\n\ndef f(x: Metadata): return x + 1\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return "heavy_peer"


STAND_INS = {"heavy_peer.metadata": {"Metadata": object}}


def test_one_module_without_its_package(package: str) -> None:
    module = load_module(package, "ops/top.py", STAND_INS)
    assert module.f(1) == 2
    assert package not in sys.modules
    assert "heavy_peer.metadata" not in sys.modules


def test_a_stand_in_gives_way_to_what_was_there(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = type(sys)("heavy_peer.metadata")
    monkeypatch.setitem(sys.modules, "heavy_peer.metadata", real)
    load_module(package, "ops/top.py", STAND_INS)
    assert sys.modules["heavy_peer.metadata"] is real


@pytest.mark.parametrize(
    ("name", "file"), [("heavy_peer", "ops/bottom.py"), ("no_such_peer", "ops/top.py")]
)
def test_a_module_that_is_not_there(package: str, name: str, file: str) -> None:
    with pytest.raises(ImportError, match=f"no {file} of {name} is installed"):
        load_module(name, file)


def test_none_of_the_peers_is_imported_by_the_list_of_adapters() -> None:
    assert {"llama.cpp", "mlx-vlm", "aphrodite", "transformers", "vllm", "sglang"} <= set(ADAPTERS)
    assert not {"mlx", "mlx_vlm", "aphrodite", "sglang", "vllm"} & set(sys.modules)


@pytest.mark.parametrize(
    ("target", "module"),
    [
        ("mlx-vlm", "mlx"),
        ("aphrodite", "aphrodite"),
        ("transformers:json:loads", "transformers"),
        ("vllm:json:JSONDecoder", "vllm"),
        ("sglang:json:JSONDecoder", "sglang"),
        ("jax:json:loads", "jax"),
    ],
)
def test_a_peer_that_is_not_installed_is_named(
    target: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [module, *(name for name in sys.modules if name.startswith(f"{module}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(TargetError, match=module):
        load(target)
