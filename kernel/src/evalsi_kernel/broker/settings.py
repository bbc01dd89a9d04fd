"""Settings of a run's models: roles, parameters and budget. API keys are only named by their environment variable."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

PRIMARY, EMBED = "primary", "embed"
MAX_WAIT_S = 300.0
"""Default time limit of a call with all its tries and waits, in seconds."""


class ModelSettings(NamedTuple):
    """Settings of one model.

    Args:
        model: the provider's name of the model.
        provider: name of the connector.
        base_url: URL of the API; None means the provider's public one.
        api_key_env: the environment variable that holds the key; None means the provider's usual one, "none" means no
            key.
        effort: reasoning effort, passed to the provider unchanged; None leaves it to the provider.
        max_tokens: maximum length of a reply in tokens, reasoning included.
        temperature: sampling temperature; None leaves it to the provider.
        timeout_s: timeout of one call.
        max_in_flight: maximum number of concurrent calls.
        max_wait_s: time limit of a call with all its tries and the waits between them; also the longest Retry-After
            that is respected.
    """

    model: str
    provider: str = "openai-compatible"
    base_url: str | None = None
    api_key_env: str | None = None
    effort: str | None = None
    max_tokens: int = 16_000
    temperature: float | None = None
    timeout_s: float = 120.0
    max_in_flight: int = 256
    max_wait_s: float = MAX_WAIT_S


class BrokerSettings(NamedTuple):
    """The models of a run by role, and their budget.

    Args:
        roles: role → model; `--judge-*` binds "primary", `--embed-*` "embed".
        use_cache: read replies from the cache and store new ones in it.
        max_tokens: token limit of all calls together; None means no limit.
        max_usd: cost limit of all calls together; None means no limit.
        prices: price file that overrides the built-in prices.
        dry_run: make no calls; count the calls that would be made and their maximum cost.
        spent_tokens: part of `max_tokens` used by an earlier attempt of the run.
        spent_usd: part of `max_usd` used by an earlier attempt of the run.
        batch: send judge requests through the batch API, which is cheaper and may take hours.
    """

    roles: Mapping[str, ModelSettings] = MappingProxyType({})
    use_cache: bool = True
    max_tokens: int | None = None
    max_usd: float | None = None
    prices: Path | None = None
    dry_run: bool = False
    batch: bool = False
    spent_tokens: int = 0
    spent_usd: float = 0.0

    @property
    def capabilities(self) -> frozenset[str]:
        """The capabilities available to evaluators: "judge", "embed"."""
        return frozenset(EMBED if role == EMBED else "judge" for role in self.roles)
