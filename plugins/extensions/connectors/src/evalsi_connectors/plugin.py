"""Owns the hooks by which the kernel gets a connector and the table of prices.

A connector is imported only when its provider is named; this module must stay cheap to import.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.hooks import hookimpl

if TYPE_CHECKING:
    from evalsi_kernel.broker.connector import Connector, ConnectorSettings
    from evalsi_kernel.broker.prices import PriceFile


@hookimpl
def evalsi_connector(settings: ConnectorSettings) -> Connector | None:
    """The connector of `openai-compatible` or `anthropic`; None for another provider.

    Raises:
        ConfigError: it cannot be made: a key or the provider's library is missing, or the base URL is none.
    """
    if settings.provider == "openai-compatible":
        from .openai_compatible import OpenAICompatible

        return OpenAICompatible(settings)
    if settings.provider == "anthropic":
        _require_anthropic()
        from .anthropic_messages import AnthropicMessages

        return AnthropicMessages(settings)
    return None


@hookimpl
def evalsi_prices(provider: str) -> Path | None:
    """The file of prices that both providers share; it names only what their own pages state."""
    return Path(__file__).with_name("prices.toml") if provider in ("openai-compatible", "anthropic") else None


@hookimpl
def evalsi_read_prices(path: Path) -> PriceFile:
    """The prices of a TOML file; raises `ConfigError` for what does not fit in it, with its line."""
    from .price_files import read_prices

    return read_prices(path)


def _require_anthropic() -> None:
    if find_spec("anthropic") is None:
        raise ConfigError(
            "The connector anthropic needs Anthropic's library, which is not installed.",
            "Install it: pip install 'evalsi-connectors[anthropic]'",
            code="config.no_extension",
        )
