"""Model Runner V1 as a state machine: vLLM's persistent batch, and what ought to be in it."""

import contextlib
from typing import Any

import torch
from engine import processors
from engine.known_rows import POLICIES, VOCAB_SIZES, WISHES, Setting, Wish, known_rows
from engine.late_device import LateDevice
from engine.machine_runs import Tally
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from vllm.v1.sample.logits_processor import LogitsProcessors
from vllm.v1.worker.gpu_input_batch import CachedRequestState, InputBatch

from topnsigma_processor.vllm_plugin import TopNSigma

_PROMPT = [1]
_BLOCKS = ([0],)

_wishes = st.sampled_from(WISHES)
_which = st.integers(0, 63)


class BatchMachine(RuleBasedStateMachine):
    """Each rule is one step of the engine; after it, each row is held to the reference.

    The model is a dictionary: the setting of each request in the batch. Which row is whose is read
    from vLLM's batch, and never from what the processor was told.
    """

    def __init__(self, processor: type[TopNSigma], tally: Tally) -> None:
        super().__init__()
        self._processor_class = processor
        self._tally = tally
        self._running: dict[str, Wish] = {}
        self._waiting: dict[str, Wish] = {}
        self._names = 0
        self._steps = 0
        self._behind: tuple[LateDevice | None, torch.Tensor, list[int], list[Setting]] | None = None
        tally.runs += 1

    @initialize(
        slots=st.sampled_from((1, 3, 6)),
        vocab_size=st.sampled_from(VOCAB_SIZES),
        policy=st.sampled_from(POLICIES),
    )
    def start(self, slots: int, vocab_size: int, policy: str) -> None:
        device = torch.device("cpu")
        configured = {"top_n_sigma": {"neg_inf": policy}}
        config = processors.config(configured, slots=slots, vocab_size=vocab_size)
        self._processor = self._processor_class(config, device, False)
        self._slots, self._vocab_size, self._policy = slots, vocab_size, policy
        self._batch = InputBatch(
            max_num_reqs=slots,
            max_model_len=16,
            max_num_batched_tokens=16 * slots,
            device=device,
            vocab_size=vocab_size,
            block_sizes=[16],
            max_num_blocks_per_req=[1],
            logitsprocs=LogitsProcessors([self._processor]),
        )

    @precondition(lambda self: self._room())
    @rule(wish=_wishes)
    def add(self, wish: Wish) -> None:
        self._step("add", arriving=[wish])

    @precondition(lambda self: self._room())
    @rule(first=_which)
    def fill(self, first: int) -> None:
        """Up to max_num_seqs."""
        wishes = [WISHES[(first + 5 * index) % len(WISHES)] for index in range(self._slots)]
        self._step("fill", arriving=wishes)
        assert self._batch.num_reqs == self._slots

    @precondition(lambda self: self._running)
    @rule(which=_which)
    def remove(self, which: int) -> None:
        self._step("remove", leaving=self._named(which))

    @precondition(lambda self: self._running)
    @rule(which=_which, wish=_wishes)
    def replace(self, which: int, wish: Wish) -> None:
        """One leaves and another takes its row: vLLM says nothing of the removal."""
        self._step("replace", leaving=self._named(which), arriving=[wish])

    @precondition(lambda self: self._running)
    @rule(which=_which, wish=_wishes)
    def resubmit(self, which: int, wish: Wish) -> None:
        """One leaves and another comes under the same name."""
        names = self._named(which)
        self._step("resubmit", leaving=names, arriving=[wish], name=names[0])

    @precondition(lambda self: len(self._running) > 1)
    @rule(swaps=st.lists(st.tuples(_which, _which), min_size=1, max_size=3))
    def swap(self, swaps: list[tuple[int, int]]) -> None:
        """As attention backends reorder the batch."""
        self._step("swap", swaps=swaps)

    @precondition(lambda self: len(self._running) > 1)
    @rule(kept=_which)
    def condense(self, kept: int) -> None:
        """All but one leave, and it moves to the front."""
        remaining = self._named(kept)
        self._step("condense", leaving=[name for name in self._running if name not in remaining])

    @precondition(lambda self: self._running)
    @rule(which=_which)
    def pause(self, which: int) -> None:
        """A request is preempted, or not scheduled: it leaves the batch and will return."""
        names = self._named(which)
        self._waiting |= {name: self._running[name] for name in names}
        self._step("pause", leaving=names)

    @precondition(lambda self: self._waiting and self._room())
    @rule()
    def resume(self) -> None:
        name, wish = self._waiting.popitem()
        self._step("resume", arriving=[wish], name=name)

    @rule(
        leaving=st.lists(_which, max_size=3),
        arriving=st.lists(_wishes, max_size=4),
        swaps=st.lists(st.tuples(_which, _which), max_size=2),
        behind=st.booleans(),
    )
    def several(
        self,
        leaving: list[int],
        arriving: list[Wish],
        swaps: list[tuple[int, int]],
        behind: bool,
    ) -> None:
        names = [name for which in leaving for name in self._named(which)]
        self._step("several", names, arriving, swaps, behind=behind)

    @precondition(lambda self: self._running)
    @rule(behind=st.booleans())
    def idle(self, behind: bool) -> None:
        """A step in which the batch stays as it is."""
        self._step("idle", behind=behind)

    def teardown(self) -> None:
        self._catch_up()

    def _room(self) -> bool:
        return len(self._running) < self._slots

    def _named(self, which: int) -> list[str]:
        names = list(self._running)
        return [names[which % len(names)]] if names else []

    def _step(
        self,
        label: str,
        leaving: list[str] | None = None,
        arriving: list[Wish] | None = None,
        swaps: list[tuple[int, int]] | None = None,
        *,
        name: str | None = None,
        behind: bool = False,
    ) -> None:
        """One step, in the order of vLLM's GPUModelRunner._update_states."""
        self._tally.followed(label)
        self._tally.steps += 1
        self._steps += 1
        for gone in dict.fromkeys(leaving or ()):
            self._batch.remove_request(gone)
            del self._running[gone]
        for wish in (arriving or ())[: self._slots - len(self._running)]:
            self._arrive(name or self._unused_name(), wish)
        self._batch.condense()
        for first, second in swaps or ():
            size = self._batch.num_reqs
            if size > 1 and first % size != second % size:
                self._batch.swap_states(first % size, second % size)
        self._batch.refresh_metadata()
        self._sample(behind)

    def _arrive(self, name: str, wish: Wish) -> None:
        self._running[name] = wish
        self._batch.add_request(
            CachedRequestState(
                req_id=name,
                prompt_token_ids=_PROMPT,
                mm_features=[],
                sampling_params=wish.params,
                generator=None,
                block_ids=_BLOCKS,
                num_computed_tokens=0,
                output_token_ids=[],
            )
        )

    def _unused_name(self) -> str:
        self._names += 1
        return f"request-{self._names}"

    def _sample(self, behind: bool) -> None:
        """Hand over logits, which may have no row, and compare; or compare a step later."""
        names = self._batch.req_ids
        assert sorted(names) == sorted(self._running)
        known = known_rows(self._vocab_size).rows
        chosen = [(7 * self._steps + 5 * index) % len(known) for index in range(len(names))]
        settings = [self._running[name].setting(self._policy) for name in names]
        logits = known[chosen]
        nobody = not any(settings)
        device = LateDevice() if behind or nobody else None
        with device or contextlib.nullcontext():
            got = self._processor.apply(logits)
        assert got is logits
        assert not (nobody and device and device.busy), "work for a batch that has not asked for it"
        self._catch_up()
        self._behind = device, got, chosen, settings
        if not behind:
            self._catch_up()

    def _catch_up(self) -> None:
        """Let the device finish the step before this one, of which this one is independent."""
        if self._behind is not None:
            device, got, chosen, settings = self._behind
            self._behind = None
            if device is not None:
                device.run()
            self._tally.compare(got, self._vocab_size, chosen, settings)


def machine(processor: type[Any], tally: Tally) -> Any:
    """What makes a new machine for each run."""
    return lambda: BatchMachine(processor, tally)
