"""Lets vLLM's Model Runner V2 run on a machine without a GPU, for tests.

Python imports a module of this name at start-up in every process that has this folder on its
PYTHONPATH: that is how it reaches the processes that vLLM starts. V2's kernels are Triton's, and
Triton's interpreter runs them on CPU tensors; vLLM only has to be told that it may.
"""

import importlib.abc
import importlib.machinery
import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"
os.environ["VLLM_USE_V2_MODEL_RUNNER"] = "1"


def _announce_backend(backends: ModuleType) -> None:
    """vLLM counts Triton as usable if one of its backends says that its device is there."""
    driver = SimpleNamespace(is_active=lambda: True)
    backends.backends["cpu"] = SimpleNamespace(driver=driver, compiler=None)


def _accept_integer_masks(interpreter: ModuleType) -> None:
    """Some of vLLM's kernels have integer masks, at which the interpreter of Triton 3.9 stops."""
    builder: Any = interpreter.InterpreterBuilder
    load, store = builder.create_masked_load, builder.create_masked_store

    def masked_load(self: Any, pointers: Any, mask: Any, *rest: Any) -> Any:
        mask.data = mask.data.astype(bool)
        return load(self, pointers, mask, *rest)

    def masked_store(self: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        mask.data = mask.data.astype(bool)
        return store(self, pointers, value, mask, *rest)

    builder.create_masked_load, builder.create_masked_store = masked_load, masked_store


def _filter_with_torch(sampler: ModuleType) -> None:
    """The top-k/top-p kernel does not run in the interpreter; its PyTorch twin does."""
    sampler.HAS_TRITON = False  # type: ignore[attr-defined]


_CHANGES = {
    "triton.backends": _announce_backend,
    "triton.runtime.interpreter": _accept_integer_masks,
    "vllm.v1.sample.ops.topk_topp_sampler": _filter_with_torch,
}


class _ChangeOnImport(importlib.abc.MetaPathFinder):
    """Changes a module right after it is imported, whenever that is: imports cost seconds."""

    def find_spec(
        self, name: str, path: Any, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        change = _CHANGES.pop(name, None)
        if change is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_change(module: ModuleType) -> None:
            execute(module)
            change(module)

        spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, _ChangeOnImport())
