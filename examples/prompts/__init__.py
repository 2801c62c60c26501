"""Sixty prompts in six kinds of ten, each with what counts as right.

They were written for this project, for a model of 135 million parameters: what is asked is easy,
and where the form of an answer matters the prompt begins it. ``right`` and ``wrong`` are an answer
of each sort, by which the tests hold the checks to account.
"""

from prompts.arithmetic import ARITHMETIC, ARITHMETICS
from prompts.completions import CODE, CODES
from prompts.continuations import CONTINUATION, CONTINUATIONS
from prompts.dialogues import DIALOGUE, DIALOGUES
from prompts.facts import FACT, FACTS
from prompts.objects import JSON, JSONS
from prompts.prompt import Kind, Prompt, chat

__all__ = ["CONTINUATION", "KINDS", "PROMPTS", "Kind", "Prompt", "chat"]

KINDS = (FACT, ARITHMETIC, CODE, JSON, CONTINUATION, DIALOGUE)

PROMPTS = FACTS + ARITHMETICS + CODES + JSONS + CONTINUATIONS + DIALOGUES
"""All of them, kind by kind."""
