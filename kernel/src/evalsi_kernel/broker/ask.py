"""One exact question to a model, and what came back for it: the plain data that broker and connectors share.

It must not know a provider, a cache or a price.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

Finish = Literal["stop", "length", "refusal", "tool", "other"]
Form = Literal["json_schema", "json_object", "text"]


class Ask(NamedTuple):
    """One exact question; two that are equal may share one reply.

    Args:
        messages: chat messages, each `{"role": …, "content": text}`; roles are system, user and assistant.
        schema: JSON Schema of the reply; None asks for plain text.
        max_tokens: the most that the reply may take, reasoning included.
        temperature: of sampling; None leaves it to the provider.
        seed: of sampling; None leaves it to the provider.
        effort: how hard to think, in the provider's words; None leaves it to the provider.
        sample: tells repeated samples of one question apart.
    """

    messages: Sequence[Mapping[str, str]]
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 16_000
    temperature: float | None = None
    seed: int | None = None
    effort: str | None = None
    sample: int = 0


class Tokens(NamedTuple):
    """What a call took, in tokens; None is unknown, which is never 0.

    Args:
        input: the whole prompt, with what was read from and written to the provider's cache.
        output: the whole reply, with reasoning.
        cache_read: the part of `input` that the provider had cached.
        cache_write: the part of `input` that the provider put in its cache.
        reasoning: the part of `output` that was not shown.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None

    def plus(self, other: Tokens) -> Tokens:
        """Both together; what is unknown of either is unknown of both."""
        pairs = zip(self, other, strict=True)
        return Tokens(*(None if one is None or two is None else one + two for one, two in pairs))


UNKNOWN_TOKENS = Tokens()
NO_TOKENS = Tokens(0, 0, 0, 0, 0)


class Reply(NamedTuple):
    """What a provider answered, unjudged.

    Args:
        text: of the reply, exactly as it came.
        finish: why it ended.
        tokens: what it took.
        model: the model that answered, as the provider names it.
        provider_id: the provider's id of the call; "" when there is none.
        form: how the structure was asked for.
    """

    text: str
    finish: Finish = "stop"
    tokens: Tokens = UNKNOWN_TOKENS
    model: str = ""
    provider_id: str = ""
    form: Form = "text"


class Embeddings(NamedTuple):
    """Vectors in the order of the texts, all of one length; what they took; the model's own name."""

    vectors: Sequence[Sequence[float]]
    tokens: Tokens = UNKNOWN_TOKENS
    model: str = ""
