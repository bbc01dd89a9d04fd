"""The prompts of an evaluation, by the hashes with which scores name them.

It must not know a prompt.
"""

from __future__ import annotations

from collections.abc import Iterable

from evalsi_kernel.records.chunks import Outcome

KEY = "prompt_sha256"
"""In a score's metadata, where a pack names the prompt that its verdict rests on."""


def prompts_of(outcomes: Iterable[Outcome | None]) -> set[str]:
    """The hashes that the scores among some outcomes name, which were found to be scores."""
    scores = (score for outcome in outcomes if outcome is not None and outcome[0] == "scored" for score in outcome[1])
    found = (metadata.get(KEY) for score in scores if isinstance(metadata := score.get("metadata"), dict))
    return {prompt for prompt in found if isinstance(prompt, str)}
