"""A model as the target of a run, through the connector that a judge would use too.

It must not know a provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.connector import ConnectorSettings, ProviderError
from evalsi_kernel.broker.prices import input_tokens_bound
from evalsi_kernel.checking.toml_tables import FilledLine, Table
from evalsi_kernel.target import Bounds, Generated, Lent, TargetInput, TargetSettings

from .model_messages import messages_of
from .template import TemplateText


class ModelOptions(Table):
    """A model behind a connector."""

    model: FilledLine = Field(description="the provider's name of the model")
    base_url: FilledLine | None = Field(default=None, description="where the provider answers; else its public address")
    api_key_env: FilledLine | None = Field(default=None, description='the variable that holds the key; "none" for none')
    system_prompt: str | None = Field(default=None, description="what the model is told first")
    prompt: TemplateText | None = Field(
        default=None, description="the question, with {{input}} or {{metadata.key}} in it; else the record's input"
    )
    max_tokens: int = Field(default=16_000, ge=1, description="the most that a reply may take, reasoning included")
    temperature: float | None = Field(default=None, ge=0, description="of sampling; else the provider's own")
    seed: int | None = Field(default=None, description="of sampling; trial t of a record takes seed + t - 1")
    effort: FilledLine | None = Field(default=None, description="how hard to think, in the provider's words")
    timeout_s: float = Field(default=120.0, gt=0, description="how long one call may take, in seconds")


class Model:
    """The target.

    Raises:
        ConfigError: the connector cannot be made.
    """

    def __init__(self, settings: TargetSettings, lent: Lent) -> None:
        options = ModelOptions.model_validate(settings.options)
        self._options = options
        self.provider, self.model = settings.connector, options.model
        self._connector = lent.connector(
            ConnectorSettings(
                settings.connector,
                options.model,
                options.base_url,
                options.api_key_env,
                options.timeout_s,
                settings.max_in_flight,
                kind="target",
            )
        )
        how = options.model_dump(exclude={"model", "base_url", "api_key_env", "timeout_s"}, exclude_none=True)
        self.identity: Mapping[str, Any] = {"connector": settings.connector, **self._connector.identity, **how}

    def bounds(self, given: TargetInput) -> Bounds:
        """The prompt's bound, and the most that a reply may take."""
        try:
            return Bounds(input_tokens_bound(self._ask(given)), self._options.max_tokens)
        except ProviderError:
            return Bounds(0, 0)  # No call is made about it.

    async def generate(self, given: TargetInput) -> Generated:
        """Make one call; a refusal, a cut reply and an empty one are outputs, told apart by `metadata.finish`."""
        reply = await self._connector.complete(self._ask(given))
        told = {} if reply.finish == "stop" else {"finish": reply.finish}
        return Generated(reply.text, reply.tokens, model=reply.model, metadata=told)

    async def close(self) -> None:
        """Let go of connections."""
        await self._connector.close()

    def _ask(self, given: TargetInput) -> Ask:
        options = self._options
        messages = messages_of(given.record, options.prompt)
        if options.system_prompt is not None:
            messages = [{"role": "system", "content": options.system_prompt}, *messages]
        seed = None if options.seed is None else options.seed + given.trial - 1
        return Ask(messages, None, options.max_tokens, options.temperature, seed, options.effort, given.trial - 1)
