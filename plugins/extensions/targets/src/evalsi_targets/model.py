"""A model as the target of a run, through the connector that a judge would use too.

It must not know a provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.connector import ConnectorSettings, ProviderError
from evalsi_kernel.broker.prices import input_tokens_bound
from evalsi_kernel.target import Bounds, Generated, TargetInput, TargetServices, TargetSettings

from .model_messages import messages_of, single_brace_warnings
from .model_options import options_of

_FOR_THE_CONNECTOR: Final = ("thinking", "stream")
_NOT_OF_AN_ANSWER: Final = {"model", "base_url", "api_key_env", "timeout_s", "fallbacks", "fallback_after"}


class Model:
    """The target.

    Raises:
        ConfigError: the connector cannot be made.
    """

    def __init__(self, settings: TargetSettings, lent: TargetServices) -> None:
        options = options_of(settings.connector).model_validate(settings.options)
        self._options = options
        self.provider, self.model = settings.connector, options.model
        self.warnings = single_brace_warnings({"prompt": options.prompt, "system_prompt": options.system_prompt})
        # Of what is left at its default nothing is told: the identity of older runs stays what it was.
        how = options.model_dump(exclude=_NOT_OF_AN_ANSWER, exclude_none=True)
        how = {name: value for name, value in how.items() if value != _DEFAULTS.get(name)}
        self._connector = lent.connector(
            ConnectorSettings(
                settings.connector,
                options.model,
                options.base_url,
                options.api_key_env,
                options.timeout_s,
                settings.max_in_flight,
                kind="target",
                options={name: how[name] for name in _FOR_THE_CONNECTOR if name in how},
            )
        )
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


_DEFAULTS: Final = {"stream": False, "api": "chat-completions"}
