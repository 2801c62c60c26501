"""What vLLM's two model runners tell a logits processor when requests come, go and move.

Each :meth:`step` takes it through the same changes, whatever the last one left behind, so that what
goes wrong depends on that call alone wherever it can. Strangers come and are sampled for; requests
of the batch take their places, by every kind of change that the runner makes.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol

from topnsigma_conformance.adapters.vllm_config import MAX_TOKENS, SLOTS

_STRANGERS = 3


class Runner(Protocol):
    """A model runner with one logits processor, constructed as vLLM does."""

    def __init__(self, cls: Any, config: Any, device: Any, vocab_size: int) -> None: ...

    def step(self, logits: Any, requests: Sequence[Any], stranger: Any) -> Any:
        """What the processor returns for ``logits``, float32 [B, V], of ``requests``, row by row.

        Args:
            logits: those of the call that counts.
            requests: the ``SamplingParams`` of B requests.
            stranger: those of requests that have left the batch by then.
        """


class RunnerV1:
    """Model Runner V1: rows are batch indices, and every change of the batch is told.

    Changes are recorded with vLLM's own builder and made as its ``InputBatch`` makes them: who
    comes takes a place that somebody left, the last ones move into the gaps, rows are swapped.
    """

    def __init__(self, cls: Any, config: Any, device: Any, vocab_size: int) -> None:
        interface: Any = importlib.import_module("vllm.v1.sample.logits_processor")
        self._one_way = interface.MoveDirectionality.UNIDIRECTIONAL
        self._swap = interface.MoveDirectionality.SWAP
        self._builder = interface.BatchUpdateBuilder()
        self._processor = cls(config, device, False)
        self._batch: list[int] = []
        """The request in each row: its index in ``requests``, or a negative number."""

    def step(self, logits: Any, requests: Sequence[Any], stranger: Any) -> Any:
        """See :class:`Runner`."""
        params = dict(enumerate(requests))
        strangers = [-1, -2, -3]
        params |= dict.fromkeys(strangers, stranger)
        last = len(requests) - 1
        self._change(params, leave=self._batch, come=strangers)
        self._sample(logits)
        # One fills the first gap, and the last stranger moves into the second.
        self._change(params, leave=[-1, -2], come=[last])
        self._sample(logits)
        self._change(params, leave=[], come=[0][:last])
        self._sample(logits)
        # Nobody fills the gap of the last stranger: a request moves into it.
        self._change(params, leave=[-3], come=[])
        self._sample(logits)
        self._change(params, leave=[], come=range(last - 1, 0, -1), order=True)
        return self._processor.apply(logits)

    def _change(
        self, params: dict[int, Any], leave: Sequence[int], come: Sequence[int], order: bool = False
    ) -> None:
        batch: list[int | None] = list(self._batch)
        for request in leave:
            row = batch.index(request)
            self._builder.removed_append(row)
            batch[row] = None
        for request in come:
            gap = self._builder.pop_removed()
            row = len(batch) if gap is None else gap
            batch[row : row + 1] = [request]
            self._builder.added.append((row, params[request], [1], []))
        self._batch = self._condensed(batch)
        for row in range(len(self._batch) if order else 0):
            other = self._batch.index(row)
            if other != row:
                self._batch[row], self._batch[other] = self._batch[other], self._batch[row]
                self._builder.moved.append((row, other, self._swap))
        self._processor.update_state(self._builder.get_and_reset(len(self._batch)))

    def _condensed(self, batch: list[int | None]) -> list[int]:
        while None in batch:
            last = batch.pop()
            if last is not None:
                gap = self._builder.pop_removed()
                self._builder.moved.append((len(batch), gap, self._one_way))
                batch[gap] = last
        return [request for request in batch if request is not None]

    def _sample(self, like: Any) -> None:
        self._processor.apply(_other_logits(like, len(self._batch)))


class RunnerV2:
    """Model Runner V2: requests keep a slot, and each call says in which slot a row's request is.

    Slots are taken and given back in the order of vLLM's ``RequestState``, last in, first out, so
    that requests of the batch take over the slots of strangers. Rows are in another order in each
    call, and each request has one row.
    """

    def __init__(self, cls: Any, config: Any, device: Any, vocab_size: int) -> None:
        if device.type == "cpu":
            importlib.import_module("vllm.v1.worker.cpu.shm")
        interface: Any = importlib.import_module("vllm.v1.worker.gpu.sample.logits_processor")
        states: Any = importlib.import_module("vllm.v1.worker.gpu.states")
        constants = states.RequestState(
            max_num_reqs=SLOTS,
            max_model_len=MAX_TOKENS,
            max_num_batched_tokens=MAX_TOKENS,
            num_speculative_steps=0,
            vocab_size=vocab_size,
            device=device,
        )
        self._context_class = interface.LogitsContext
        self._processor = cls(
            config, interface.LogitsProcRequestState.from_request_state(constants)
        )

    def step(self, logits: Any, requests: Sequence[Any], stranger: Any) -> Any:
        """See :class:`Runner`."""
        free = list(range(SLOTS))
        strangers = [free.pop() for _ in range(_STRANGERS)]
        for slot in strangers:
            self._processor.add_request(slot, stranger)
        self._apply(_other_logits(logits, _STRANGERS), strangers)
        # Two of them leave; the request that comes last takes the slot of the one that left last.
        free += strangers[:2]
        slots: dict[int, int] = {}
        half = len(requests) // 2
        self._enter(requests, range(half, len(requests)), slots, free)
        present = [strangers[2], *slots.values()]
        self._apply(_other_logits(logits, len(present)), present[::-1])
        free.append(strangers[2])
        self._enter(requests, range(half), slots, free)
        return self._apply(logits, [slots[row] for row in range(len(requests))])

    def _enter(
        self, requests: Sequence[Any], rows: Sequence[int], slots: dict[int, int], free: list[int]
    ) -> None:
        for row in rows:
            slots[row] = free.pop()
            self._processor.add_request(slots[row], requests[row])

    def _apply(self, logits: Any, slots: Sequence[int]) -> Any:
        import numpy as np
        import torch

        self._processor.apply_staged_writes()
        rows = len(slots)
        mapping = torch.tensor(slots, dtype=torch.int32, device=logits.device)
        zeros = torch.zeros(rows, dtype=torch.int32, device=logits.device)
        context = self._context_class(
            expanded_idx_mapping=mapping,
            idx_mapping=mapping,
            idx_mapping_np=np.array(slots, np.int32),
            expanded_local_pos=zeros,
            input_ids=zeros,
            pos=zeros.long(),
            seq_lens_upper_bound_np=np.ones(rows, np.int32),
        )
        return self._processor.apply(logits, context)


def _other_logits(like: Any, rows: int) -> Any:
    """Logits [rows, V] of a step that does not count."""
    import torch

    row = torch.linspace(0.0, 8.0, like.shape[1], dtype=like.dtype, device=like.device)
    return row.repeat(rows, 1)
