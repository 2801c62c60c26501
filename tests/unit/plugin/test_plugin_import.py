"""The plugin beside every kind of vLLM: one with both interfaces, with either, with neither."""

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

PLUGIN = "topnsigma_processor.vllm_plugin"
V1 = "vllm.v1.sample.logits_processor"
V2 = "vllm.v1.worker.gpu.sample.logits_processor"


def _packages(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[: end + 1]) for end in range(len(parts))]


@pytest.fixture
def import_beside(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ModuleType]]:
    """Imports the plugin anew beside a vLLM that has the given interfaces."""
    for name in [name for name in sys.modules if name.split(".")[0] == "vllm"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, PLUGIN, raising=False)

    def import_plugin(*interfaces: str) -> ModuleType:
        for interface in interfaces:
            for name in _packages(interface):
                module = ModuleType(name)
                module.__path__ = []
                monkeypatch.setitem(sys.modules, name, module)
            monkeypatch.setattr(module, "LogitsProcessor", type("LogitsProcessor", (), {}), False)
        if not interfaces:
            # None makes `import vllm` fail, also where vLLM is installed.
            monkeypatch.setitem(sys.modules, "vllm", None)
        return importlib.import_module(PLUGIN)

    yield import_plugin
    # The next import has to see the real vLLM, if there is one.
    sys.modules.pop(PLUGIN, None)


@pytest.mark.parametrize("interfaces", [(V1,), (V2,), (V1, V2)])
def test_derives_from_what_there_is(
    import_beside: Callable[..., Any], interfaces: tuple[str, ...]
) -> None:
    processor = import_beside(*interfaces).TopNSigma
    bases = {sys.modules[name].__dict__["LogitsProcessor"] for name in interfaces}
    assert set(processor.__bases__) == bases
    assert processor.is_argmax_invariant(None) is False


def test_says_what_is_missing(import_beside: Callable[..., Any]) -> None:
    with pytest.raises(ImportError, match=r"needs vLLM 0\.11 or newer") as error:
        import_beside()
    assert V1 in str(error.value)
    assert V2 in str(error.value)
    assert "installed" in str(error.value)


def test_a_vllm_with_neither_interface_is_an_import_error(
    import_beside: Callable[..., Any],
) -> None:
    with pytest.raises(ImportError, match=r"needs vLLM 0\.11 or newer"):
        import_beside("vllm.v1.sample")
