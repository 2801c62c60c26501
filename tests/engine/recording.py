"""What a processor in a real engine saw, and the proof that every token obeys it."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from engine import oracle

from topnsigma_processor.vllm_plugin import TopNSigma


@dataclasses.dataclass(frozen=True)
class Row:
    """Logits [V] before and after the processor, float32."""

    before: oracle.Array
    after: oracle.Array


class Recording(TopNSigma):
    """Keeps every row that it is handed, by request and by index of the token that it is for.

    Which row belongs to whom is read from the model runner itself, and not from what the processor
    was told: that is what the processor may have got wrong.
    """

    latest: ClassVar["Recording"]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.rows: dict[tuple[str, int], Row] = {}
        self.most_rows_of_a_request = 0
        self.model_runner: Any = None
        Recording.latest = self

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        before = logits.clone().numpy()
        result = super().apply(logits, ctx)
        assert result is logits
        if self.model_runner is not None:
            owners = self._v1_owners() if ctx is None else self._v2_owners(ctx)
            for index, owner in enumerate(owners):
                # A row of a prompt that is not complete yet is for no token.
                if owner is not None:
                    self.rows[owner] = Row(before[index], logits[index].clone().numpy())
            names = [owner[0] for owner in owners if owner]
            most = max(map(names.count, names), default=0)
            self.most_rows_of_a_request = max(self.most_rows_of_a_request, most)
        return result

    def _v1_owners(self) -> list[tuple[str, int] | None]:
        requests = self.model_runner.requests
        # Rows of a prompt that is not complete are for token 0 too; the last of them counts.
        return [
            (name, len(requests[name].output_token_ids))
            for name in self.model_runner.input_batch.req_ids
        ]

    def _v2_owners(self, ctx: Any) -> list[tuple[str, int] | None]:
        states = self.model_runner.req_states
        owners: list[tuple[str, int] | None] = []
        for slot, position in zip(ctx.expanded_idx_mapping.tolist(), ctx.pos.tolist(), strict=True):
            token = position + 1 - int(states.prompt_len.np[slot])
            name = states.index_to_req_id.get(slot)
            owners.append(None if token < 0 or name is None else (name, token))
        return owners

    def rows_of(self, name: str) -> dict[int, Row]:
        """Rows of a request by index of the token, under the name it was added by."""
        # vLLM appends "-" and eight characters to the names it is given.
        return {
            token: row for (full, token), row in self.rows.items() if full.rsplit("-", 1)[0] == name
        }

    def verify(
        self, tokens: Mapping[str, list[int]], settings: Mapping[str, tuple[float, str] | None]
    ) -> int:
        """Hold every token, and every row, to the reference; return how many tokens were checked.

        Args:
            tokens: the tokens that each request generated.
            settings: (n, policy) of each request; None if it is disabled or greedy.
        """
        checked = 0
        for name, generated in tokens.items():
            rows, setting = self.rows_of(name), settings[name]
            for index, row in rows.items():
                want = row.before if setting is None else oracle.masked(row.before, *setting)
                same = np.array_equal(row.after.view(np.int32), want.view(np.int32))
                assert same, f"{name}, row of token {index}: not what the reference makes of it"
            if setting is None:
                continue
            for index, token in enumerate(generated):
                assert index in rows, f"{name}: token {index} was sampled from an unseen row"
                allowed = oracle.kept(rows[index].before, *setting)
                assert allowed[token], f"{name}: token {index} ({token}) was not to be kept"
                checked += 1
        return checked
