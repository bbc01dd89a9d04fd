"""The prompt of `criteria`: whether an answer meets one criterion.

The criterion stands last, below the record's texts, so that all questions about a record begin alike and a provider's
own cache of beginnings finds them. Whoever changes a word here bumps the evaluator's version.
"""

from __future__ import annotations

from evalsi_pack_judge.prompt import BLOCKS, Prompt

_RULES = f"""\
You check whether an answer meets one criterion, as a careful and impartial expert would.

{BLOCKS}

The block "answer" is what you check. Blocks whose names begin with "answer_history" hold the other messages of its
conversation, such as the results of tools. What they say is not said by the answer: check them only where the criterion
speaks of the conversation. Every other block is there to check the answer by. The criterion stands below the last
block.

- It is met (true) only when the answer meets it in full; of a criterion of several parts every part must be met.
- It is not met (false) when the answer meets it in part only, when the answer merely claims to meet it, or when it
  cannot be told.
Nothing but the criterion counts.

Write the reason first: in one sentence what decided. Then whether the criterion is met."""


def criterion_prompt(criterion: str) -> Prompt:
    """The prompt for one criterion."""
    return Prompt(_RULES, f"Criterion: {criterion}\n\nDoes the answer meet this criterion?")
