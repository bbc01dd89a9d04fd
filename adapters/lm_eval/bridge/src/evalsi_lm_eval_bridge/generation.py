"""A `generate_until` request of the harness as a question to a chat model, and the reply as the answer of the task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evalsi import Question

# Settings that limit the length of an answer; the first one present counts, as in the harness.
_LENGTHS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
_READ = {*_LENGTHS, "until", "do_sample", "temperature"}


class CannotGenerate(ValueError):
    """A request cannot be sent to a chat model."""


class ChatPrompt(str):
    """Chat messages as JSON text, since the harness hashes, logs and stores prompts as text."""


def question_of(
    prompt: str, settings: Mapping[str, Any], *, max_gen_toks: int, temperature: float | None, sample: int
) -> Question:
    """Return the question for a request.

    Args:
        prompt: text of one user message, or a `ChatPrompt`.
        settings: `generation_kwargs` of the task.
        max_gen_toks: largest number of tokens in an answer, if the task sets none.
        temperature: temperature if the task does not sample; None is the provider's default.
        sample: number of the repetition, which separates equal requests.

    Raises:
        CannotGenerate: a setting cannot be sent.
    """
    samples = bool(settings.get("do_sample", settings.get("temperature", 0)))
    unknown = sorted(settings.keys() - _READ)
    # Without sampling, its settings have no effect.
    if samples and unknown:
        raise CannotGenerate(
            f"The task sets {unknown[0]}={settings[unknown[0]]!r}, which the model evalsi cannot send. "
            "Remove it from generation_kwargs, or add do_sample: false."
        )
    messages = json.loads(prompt) if isinstance(prompt, ChatPrompt) else [{"role": "user", "content": prompt}]
    most = next((settings[name] for name in _LENGTHS if settings.get(name) is not None), max_gen_toks)
    asked = float(settings.get("temperature", 0.0)) if samples else temperature
    return Question(messages, max_tokens=int(most), temperature=asked, sample=sample)


def until_stop(text: str, until: str | Sequence[str] | None) -> str:
    """Return the text before the first of the task's stop sequences."""
    for stop in [until] if isinstance(until, str) else until or ():
        if stop:
            text = text.partition(stop)[0]
    return text
