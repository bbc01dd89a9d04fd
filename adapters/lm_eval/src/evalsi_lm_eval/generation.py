"""A `generate_until` request of the harness as a question to a chat model, and the reply as the text that it wants.

It must not know who answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evalsi import Question

# Names under which tasks say how long an answer may be; the first that is there counts, as in the harness.
_LENGTHS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
_READ = {*_LENGTHS, "until", "do_sample", "temperature"}


class CannotGenerate(ValueError):
    """A request that no chat model can be asked; a sentence."""


class ChatPrompt(str):
    """Chat messages as JSON: the harness hashes, logs and stores prompts as text."""


def question_of(
    prompt: str, settings: Mapping[str, Any], *, max_gen_toks: int, temperature: float | None, sample: int
) -> Question:
    """The question.

    Args:
        prompt: a text, which is one message of the user, or a `ChatPrompt`.
        settings: the task's `generation_kwargs`.
        max_gen_toks: the most tokens of an answer, where the task says nothing.
        temperature: of greedy decoding; None leaves it to the provider.
        sample: tells equal requests of a task that asks repeatedly apart.

    Raises:
        CannotGenerate: a setting cannot be sent.
    """
    samples = bool(settings.get("do_sample", settings.get("temperature", 0)))
    unknown = sorted(settings.keys() - _READ)
    # Settings of sampling say nothing where there is none.
    if samples and unknown:
        raise CannotGenerate(
            f"The task wants {unknown[0]}={settings[unknown[0]]!r}, which the model evalsi cannot send. "
            "Take it out of generation_kwargs, or add do_sample: false."
        )
    messages = json.loads(prompt) if isinstance(prompt, ChatPrompt) else [{"role": "user", "content": prompt}]
    most = next((settings[name] for name in _LENGTHS if settings.get(name) is not None), max_gen_toks)
    asked = float(settings.get("temperature", 0.0)) if samples else temperature
    return Question(messages, max_tokens=int(most), temperature=asked, sample=sample)


def until_stop(text: str, until: str | Sequence[str] | None) -> str:
    """The text before the first of the sequences at which the task wants it to end."""
    for stop in [until] if isinstance(until, str) else until or ():
        if stop:
            text = text.partition(stop)[0]
    return text
