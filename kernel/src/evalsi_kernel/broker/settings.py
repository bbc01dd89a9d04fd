"""What a user says of the models of a run: which ones, how to ask them, and what they may cost.

It must not know a provider; a key is only ever named by its environment variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

PRIMARY, EMBED = "primary", "embed"
MAX_WAIT_S = 300.0
"""How long one call may take with all its tries and waits, unless said otherwise."""


class ModelSettings(NamedTuple):
    """One model.

    Args:
        model: the provider's name of it.
        provider: the connector's name.
        base_url: where the provider answers; None means its public address.
        api_key_env: the environment variable of the key; None means the provider's usual one, "none" no key.
        effort: how hard to think, in the provider's words; None leaves it to the provider.
        max_tokens: the most that a reply may take, reasoning included.
        temperature: of sampling; None leaves it to the provider.
        timeout_s: how long one call may take.
        max_in_flight: calls at once.
        max_wait_s: how long a call may take with all its tries and the waits between them; it ends where the provider
            asks to wait for longer.
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
    """The models of a run by their roles, and the bounds of what they may cost.

    Args:
        roles: role → model; `--judge-*` binds "primary", `--embed-*` "embed".
        use_cache: take replies from the cache and keep new ones there.
        max_tokens: of all calls together; None is no bound.
        max_usd: of all calls together; None is no bound.
        prices: a file of prices that goes before the connectors' own.
        dry_run: make no call; count those that would be made, and what they could cost at most.
        spent_tokens: what an earlier attempt at the same run took of `max_tokens`.
        spent_usd: what it took of `max_usd`.
        batch: hand in what judges are asked as batches, for less money and with hours to answer.
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
        """What evaluators may ask for: "judge", "embed"."""
        return frozenset(EMBED if role == EMBED else "judge" for role in self.roles)
