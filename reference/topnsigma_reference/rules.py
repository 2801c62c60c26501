"""The rules and theorems of ``SPEC.md``, word for word, for reports and tools."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Rule:
    """One rule (``TNS-…``) or theorem (``THM-…``) of the specification.

    Attributes:
        id: as in ``TNS-5``.
        title: a few words, the heading in SPEC.md.
        statement: the normative text.
        rationale: why it is so.
    """

    id: str
    title: str
    statement: str
    rationale: str


_RULES = (
    Rule(
        "TNS-1",
        "Domain of n",
        "n MUST be accepted when it is a number and the binary64 value nearest to it is finite and"
        " greater than zero; that binary64 value is the number meant. An absent or null n means"
        " that the row is disabled. Everything else (a boolean, a string, NaN, an infinity, zero,"
        " a negative number, a value that is not a number) MUST be rejected with an error before"
        " any logit is changed, or disable the row where the dialect sets invalid_n to disable."
        " The error SHOULD name the parameter and the value.",
        "Each of these values has meant something else in some engine (off, greedy, everything"
        " masked), so that a guess is wrong for somebody. An error at the door costs one request;"
        " an error later can cost the whole batch.",
    ),
    Rule(
        "TNS-2",
        "Disabled rows",
        "A disabled row MUST come back bit for bit, NaN payloads and the sign of zero included.",
        "A batch mixes requests that use the sampler with requests that have never heard of it."
        " These must not be able to notice it.",
    ),
    Rule(
        "TNS-3",
        "Non-finite rows",
        "A row that holds NaN or +inf, or that has no finite logit, MUST come back bit for bit. So"
        " MUST a row that holds -inf, unless the dialect sets neg_inf to exclude or zero.",
        "Such a row has no mean and no deviation. Every result but the row itself would hide a"
        " fault upstream, or ban tokens for no reason that can be stated.",
    ),
    Rule(
        "TNS-4",
        "Standard deviation",
        "σ MUST be the standard deviation of the counted logits of the row about their mean, over"
        " the whole row, with divisor V-1, where V is their number (divisor V where the dialect"
        " sets sigma to population). A row with fewer than two counted logits, or whose counted"
        " logits are all equal, MUST come back bit for bit.",
        "One divisor has to be chosen, and V-1 is what the common tensor libraries compute by"
        " default. With σ = 0 there is no scale to measure a distance with; with one value the"
        " sample deviation is 0/0.",
    ),
    Rule(
        "TNS-5",
        "Threshold",
        "Let t = max - n·σ. A logit less than t MUST be masked; a logit greater than t MUST stay;"
        " a logit equal to t MUST stay (MUST be masked where the dialect sets boundary to drop)."
        " Masked means that the result is exactly -inf (the lowest finite value of the dtype where"
        " the dialect sets fill to lowest).",
        "This is the method. -inf is the one value that gives probability 0 at every temperature"
        " and that later stages recognise as masked.",
    ),
    Rule(
        "TNS-6",
        "Survivors",
        "Every logit that is not masked MUST keep its bits.",
        "Truncation chooses tokens; it does not reweigh them. A value that has been through"
        " another format or through arithmetic is no longer the model's.",
    ),
    Rule(
        "TNS-7",
        "Maximum",
        "Every logit equal to the maximum MUST stay, however t is rounded: a row is never emptied.",
        "A row without candidates cannot be sampled. Where n·σ is below half an ulp of the"
        " maximum, a rounded t equals it, and a sampler that drops what equals t empties the row.",
    ),
    Rule(
        "TNS-8",
        "Independent rows",
        "The result of a row MUST depend, bit for bit, on the logits of that row, its n and the"
        " dialect alone: not on the other rows, their number or their n, not on the position of"
        " the row, and not on strides, alignment or padding of the memory that holds it.",
        "A request must not change its answer with the company it keeps: otherwise no output can"
        " be reproduced and no report of a fault can be followed up.",
    ),
    Rule(
        "TNS-9",
        "Accuracy",
        "A logit above the acceptance interval MUST stay and a logit below it MUST be masked."
        " Inside it a logit MAY go either way, but a row has one cut: when a logit stays, every"
        " logit of the row that is equal to it or greater MUST stay too. A logit outside of the"
        " tight band SHOULD go the way of the exact decision.",
        "Engines compute in float32 and round in different places. The interval is wide enough for"
        " every sound way of doing so and far too narrow for a wrong formula.",
    ),
    Rule(
        "TNS-10",
        "Tensors",
        "The result MUST have the shape, the dtype and the device of the input. An implementation"
        " MUST declare whether it changes its input in place: if so, the result is the input's"
        " memory; if not, the input keeps its bits. It MUST NOT write outside of the rows it was"
        " given. A call MUST NOT hold on to memory in proportion to its input after it has"
        " returned, beyond a workspace that is reused.",
        "A sampler sits between stages that hold references to the same memory. Both conventions"
        " are in use, and each is a fault where the other is expected.",
    ),
    Rule(
        "TNS-11",
        "Repeatability",
        "The same input MUST give the same bits every time.",
        "Tensor-parallel ranks sample the same logits and have to agree without talking, and a"
        " seeded request has to be repeatable.",
    ),
    Rule(
        "THM-1",
        "Temperature",
        "Multiplying every logit of a row by the same power of two keeps the same tokens, as long"
        " as every product is exact (no overflow, no bits lost to underflow).",
        "Maximum and deviation scale with the logits. It is what makes the method insensitive to"
        " temperature.",
    ),
    Rule(
        "THM-2",
        "Monotonicity",
        "For n' > n, every token that stays under n stays under n'.",
        "A larger n moves t down and nothing else.",
    ),
    Rule(
        "THM-3",
        "Idempotence",
        "Under the RFC dialect, applying top-nσ twice with the same n gives the bits of applying"
        " it once.",
        "A row that has lost a token holds -inf and is left alone; a row that has lost none is the"
        " same row.",
    ),
    Rule(
        "THM-4",
        "Permutation",
        "Permuting the logits of a row permutes its result: which tokens stay does not depend on"
        " their order.",
        "Maximum and deviation are symmetric in their arguments.",
    ),
    Rule(
        "THM-5",
        "Composition",
        "When top-k, top-p or min-p follows top-nσ with fill -inf, the tokens that remain are a"
        " subset of those that top-nσ kept.",
        "These filters only ever mask; what is -inf before them is -inf after them.",
    ),
)

RULES: dict[str, Rule] = {rule.id: rule for rule in _RULES}
"""Every rule and theorem by id, in the order of SPEC.md."""
