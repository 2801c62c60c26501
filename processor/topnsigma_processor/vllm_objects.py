"""What this package uses of the objects that vLLM hands to a logits processor.

Written down as protocols, so that the plugin is type-checked where vLLM is not installed, and so
that its dependence on vLLM can be read in one place. All of it is only read, but for a
request's `extra_args`, which are replaced by equal ones.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Any, Protocol

import torch


class SamplingParams(Protocol):
    """`vllm.SamplingParams`: one request's parameters."""

    extra_args: object

    @property
    def temperature(self) -> float: ...


class ModelConfig(Protocol):
    def get_vocab_size(self) -> int: ...


class SchedulerConfig(Protocol):
    @property
    def max_num_seqs(self) -> int: ...


class VllmConfig(Protocol):
    """`vllm.config.VllmConfig`: the server's configuration."""

    @property
    def model_config(self) -> ModelConfig: ...

    @property
    def scheduler_config(self) -> SchedulerConfig: ...

    @property
    def additional_config(self) -> object: ...


class BatchUpdate(Protocol):
    """V1: how the batch changed. To be processed in this order: removed, added, moved."""

    @property
    def removed(self) -> Sequence[int]: ...

    @property
    def added(self) -> Sequence[tuple[int, SamplingParams, Any, Any]]: ...

    @property
    def moved(self) -> Sequence[tuple[int, int, Enum]]: ...


class RequestStates(Protocol):
    """V2: `LogitsProcRequestState`, the constants of a model runner."""

    @property
    def device(self) -> torch.device: ...

    @property
    def max_num_reqs(self) -> int: ...

    @property
    def vocab_size(self) -> int: ...


class HostIndices(Protocol):
    """An integer numpy array. numpy is not among this package's requirements."""

    def tolist(self) -> list[int]: ...


class LogitsContext(Protocol):
    """V2: the rows of one `apply` call."""

    @property
    def expanded_idx_mapping(self) -> torch.Tensor:
        """The slot of each row, int32 `[rows]`, on the device."""
        ...

    @property
    def idx_mapping_np(self) -> HostIndices:
        """The slots of the requests that the rows belong to, on the host."""
        ...
