"""Model Runner V2 as a state machine: its request states and its sampler, without a model.

Needs the preparation in ``v2_on_cpu``; to be imported on that runner alone.
"""

import contextlib
import dataclasses
from typing import Any

import numpy as np
import torch
import vllm.v1.worker.cpu.shm  # noqa: F401  # lets V2's buffers be allocated without a GPU
from engine import processors
from engine.known_rows import POLICIES, VOCAB_SIZES, WISHES, Setting, Wish, known_rows
from engine.late_device import LateDevice
from engine.machine_runs import Tally
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcRequestState
from vllm.v1.worker.gpu.sample.sampler import Sampler
from vllm.v1.worker.gpu.states import RequestState

from topnsigma_processor.vllm_plugin import TopNSigma

_MAX_LENGTH = 32
_CHUNK = 4
_DRAFTS = 3

_wishes = st.sampled_from(WISHES)
_which = st.integers(0, 63)
_prompts = st.sampled_from((1, 2 * _CHUNK + 1))


@dataclasses.dataclass
class Request:
    """A request as the scheduler knows it; `computed` of its `prompt` tokens have been seen."""

    wish: Wish
    prompt: int
    computed: int = 0

    @property
    def in_prompt(self) -> bool:
        return self.computed < self.prompt


@dataclasses.dataclass(frozen=True)
class Step:
    """How a step samples.

    Attributes:
        turned: by how many places the requests are turned round, in a batch that is reordered each
            time.
        left_out: every how many-th request is not scheduled; 0: all are.
        drafts: of the requests in turn, how many tokens are speculative.
        part: of how many requests the parts consist that the sampler is called with; 0: one call.
        behind: whether the device does this step only after the host has prepared the next.
    """

    turned: int = 0
    left_out: int = 0
    drafts: tuple[int, ...] = (0,)
    part: int = 0
    behind: bool = False


# All there are, so that a step costs Hypothesis one choice.
_steps = st.sampled_from(
    [
        Step(turned, left_out, drafts, part, behind)
        for behind in (False, True)
        for part in (0, 0, 1, 2)
        for drafts in ((0,), (0,), (1,), (0, 2), (_DRAFTS, 0, 1))
        for left_out in (0, 2, 3)
        for turned in range(4)
    ]
)
_Sampled = tuple[LateDevice | None, torch.Tensor, list[int], list[Setting]]


class SlotMachine(RuleBasedStateMachine):
    """Each rule is one step of the engine; after it, each row is held to the reference.

    The model is a dictionary: the setting of each request. Slots are given out by vLLM's request
    states; the calls are in the order of GPUModelRunner.execute_model and sample_tokens: requests
    that have finished or are preempted free their slots, new and resumed ones are added, what they
    staged is written, and the sampler hands logits to the processor, only if vLLM believes that
    somebody needs it.
    """

    def __init__(self, processor: type[TopNSigma], tally: Tally) -> None:
        super().__init__()
        self._processor_class = processor
        self._tally = tally
        self._running: dict[str, Request] = {}
        self._preempted: dict[str, Request] = {}
        self._names = 0
        self._count = 0
        self._behind: list[_Sampled] = []
        tally.runs += 1

    @initialize(
        slots=st.sampled_from((1, 3, 4)),
        vocab_size=st.sampled_from(VOCAB_SIZES),
        policy=st.sampled_from(POLICIES),
    )
    def start(self, slots: int, vocab_size: int, policy: str) -> None:
        device = torch.device("cpu")
        config = processors.config({"top_n_sigma": {"neg_inf": policy}}, slots, vocab_size)
        config.reasoning_config = None
        self._slots, self._vocab_size, self._policy = slots, vocab_size, policy
        self._states = RequestState(
            max_num_reqs=slots,
            max_model_len=_MAX_LENGTH,
            max_num_batched_tokens=_MAX_LENGTH * slots,
            num_speculative_steps=_DRAFTS,
            vocab_size=vocab_size,
            device=device,
        )
        constants = LogitsProcRequestState.from_request_state(self._states)
        processor = self._processor_class(config, constants)
        self._sampler = Sampler(
            config,
            slots,
            vocab_size,
            device,
            self._states,
            custom_logits_processors=[processor],
        )

    @precondition(lambda self: self._room())
    @rule(wish=_wishes, prompt=_prompts, step=_steps)
    def admit(self, wish: Wish, prompt: int, step: Step) -> None:
        self._step("admit", step, admitted=[Request(wish, prompt)])

    @precondition(lambda self: self._room())
    @rule(first=_which, step=_steps)
    def fill(self, first: int, step: Step) -> None:
        """Up to max_num_seqs."""
        wishes = [WISHES[(first + 5 * index) % len(WISHES)] for index in range(self._slots)]
        self._step("fill", step, admitted=[Request(wish, 1) for wish in wishes])
        assert self._states.num_reqs == self._slots

    @precondition(lambda self: any(not r.in_prompt for r in self._running.values()))
    @rule(which=_which, step=_steps)
    def finish(self, which: int, step: Step) -> None:
        done = [name for name, request in self._running.items() if not request.in_prompt]
        self._step("finish", step, gone=[done[which % len(done)]])

    @precondition(lambda self: any(r.in_prompt for r in self._running.values()))
    @rule(which=_which, step=_steps)
    def abort(self, which: int, step: Step) -> None:
        """A request goes before its prompt is complete."""
        started = [name for name, request in self._running.items() if request.in_prompt]
        self._step("abort", step, gone=[started[which % len(started)]])

    @precondition(lambda self: self._running)
    @rule(which=_which, step=_steps)
    def preempt(self, which: int, step: Step) -> None:
        name = self._named(which)
        self._preempted[name] = self._running[name]
        self._step("preempt", step, gone=[name])

    @precondition(lambda self: self._preempted and self._room())
    @rule(step=_steps)
    def resume(self, step: Step) -> None:
        """Its tokens are computed anew, in whatever slot is free now."""
        name, request = self._preempted.popitem()
        request.computed = 0
        self._step("resume", step, admitted=[request], name=name)

    @precondition(lambda self: self._running)
    @rule(which=_which, wish=_wishes, step=_steps)
    def reuse(self, which: int, wish: Wish, step: Step) -> None:
        """One goes and another comes in the same step, and gets the slot."""
        name = self._named(which)
        slot = self._states.req_id_to_index[name]
        self._step("reuse", step, gone=[name], admitted=[Request(wish, 1)])
        assert slot in self._states.index_to_req_id

    @precondition(lambda self: self._running)
    @rule(which=_which, wish=_wishes, step=_steps)
    def resubmit(self, which: int, wish: Wish, step: Step) -> None:
        """The input of a session goes on: the same name once more, with other parameters."""
        name = self._named(which)
        self._step("resubmit", step, gone=[name], admitted=[Request(wish, 1)], name=name)

    @precondition(lambda self: self._running)
    @rule(count=st.integers(1, 4), first=_which, step=_steps)
    def exchange(self, count: int, first: int, step: Step) -> None:
        """Several go and others come, not as many."""
        gone = list(self._running)[:count]
        wishes = [WISHES[(first + 7 * index) % len(WISHES)] for index in range(count - 1)]
        self._step("exchange", step, gone=gone, admitted=[Request(wish, 1) for wish in wishes])

    @precondition(lambda self: self._running)
    @rule(step=_steps)
    def go_on(self, step: Step) -> None:
        """A step that nobody joins and nobody leaves."""
        self._step("go on", step)

    def teardown(self) -> None:
        self._catch_up()

    def _room(self) -> bool:
        return len(self._running) < self._slots

    def _named(self, which: int) -> str:
        return list(self._running)[which % len(self._running)]

    def _step(
        self,
        label: str,
        step: Step,
        *,
        gone: list[str] | None = None,
        admitted: list[Request] | None = None,
        name: str | None = None,
    ) -> None:
        self._tally.followed(label)
        self._tally.steps += 1
        self._count += 1
        for each in sorted(gone or ()):
            self._states.remove_request(each)
            del self._running[each]
        for request in (admitted or ())[: self._slots - len(self._running)]:
            self._admit(name or self._unused_name(), request)
        self._sampler.apply_staged_writes()
        self._sample(step)

    def _admit(self, name: str, request: Request) -> None:
        self._running[name] = request
        self._states.add_request(name, request.prompt, [1] * request.prompt, 0, 8)
        # Written by kernels of vLLM's own, which top-nσ does not read.
        for staged in (
            self._states.total_len,
            self._states.all_token_ids,
            self._states.num_computed_tokens,
        ):
            staged.clear_staged_writes()
        self._sampler.add_request(self._states.req_id_to_index[name], request.wish.params)

    def _unused_name(self) -> str:
        self._names += 1
        return f"request-{self._names}"

    def _sample(self, step: Step) -> None:
        """Hand over logits, in one call or in parts, and compare; or compare a step later."""
        names = self._scheduled(step)
        rows = [self._rows_of(name, step, index) for index, name in enumerate(names)]
        size = step.part or max(len(names), 1)
        earlier, self._behind = self._behind, []
        done = []
        for start in range(0, len(names), size):
            done.append(
                self._part(names[start : start + size], rows[start : start + size], step.behind)
            )
        self._catch_up(earlier)
        for name in names:
            request = self._running[name]
            request.computed = min(request.computed + _CHUNK, request.prompt)
        self._behind = done
        if not step.behind:
            self._catch_up()

    def _scheduled(self, step: Step) -> list[str]:
        names = list(self._running)
        names = [n for i, n in enumerate(names, 1) if not step.left_out or i % step.left_out]
        turned = step.turned % max(len(names), 1)
        return names[turned:] + names[:turned]

    def _rows_of(self, name: str, step: Step, index: int) -> int:
        """A chunk of a prompt has one row, which is for no token; drafts have one each."""
        if self._running[name].in_prompt:
            return 1
        return 1 + step.drafts[index % len(step.drafts)]

    def _part(self, names: list[str], rows: list[int], behind: bool) -> _Sampled:
        slots = np.array([self._states.req_id_to_index[name] for name in names], np.intp)
        expanded = torch.from_numpy(np.repeat(slots, rows))
        zeros = torch.zeros(len(expanded), dtype=torch.int64)
        known = known_rows(self._vocab_size).rows
        first = 7 * self._count + sum(slots.tolist())
        chosen = [(first + 5 * index) % len(known) for index in range(len(expanded))]
        settings = [
            self._running[name].wish.setting(self._policy)
            for name, count in zip(names, rows, strict=True)
            for _ in range(count)
        ]
        arguments: tuple[Any, ...] = (
            known[chosen],
            expanded,
            torch.from_numpy(slots),
            slots,
            zeros,
            zeros,
            torch.tensor([position for count in rows for position in range(count)]),
            np.ones(len(names), np.int32),
        )
        device = LateDevice() if behind else None
        with device or contextlib.nullcontext():
            got = self._sampler.apply_sampling_params(*arguments)
        return device, got, chosen, settings

    def _catch_up(self, parts: list[_Sampled] | None = None) -> None:
        """Let the device do what it has not done yet, and compare."""
        if parts is None:
            parts, self._behind = self._behind, []
        for device, got, chosen, settings in parts:
            if device is not None:
                device.run()
            self._tally.compare(got, self._vocab_size, chosen, settings)


def machine(processor: type[Any], tally: Tally) -> Any:
    """What makes a new machine for each run."""
    return lambda: SlotMachine(processor, tally)
