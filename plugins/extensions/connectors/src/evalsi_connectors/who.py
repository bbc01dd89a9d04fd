"""Owns how errors name the model that was called, and how its own words are shown: short, on one line, without keys.

It must not know how a call is made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from evalsi_kernel.broker.connector import ConnectorSettings, Kind

from .address import Address, read_address
from .key import Key, find_key, redact
from .proxies import proxy_before
from .saying import said_with

_MAX_CHARS = 400
_TAG = re.compile(r"(?is)<(script|style)\b.*?</\1\s*>|<[^>]*>")


class Home(NamedTuple):
    """Where a connector's own provider is at home.

    Args:
        provider: the connector's name.
        base_url: of the provider's public API.
        host: of it.
        usual_key: the variable that its key usually stands in, which is read for this host alone.
        usual_path: what the root of its API has behind the host; "" for nothing.
    """

    provider: str
    base_url: str
    host: str
    usual_key: str
    usual_path: str = "/v1"

    def who(self, settings: ConnectorSettings) -> Who:
        """The model that settings name; raises `ConfigError` where its key is missing, or an address is none."""
        address = read_address(settings.base_url or self.base_url, self.host, settings.kind)
        proxy_before(address.root)  # One that is no address is told before any call.
        key = find_key(settings.api_key_env, self.usual_key, is_at_home=address.is_home, kind=settings.kind)
        return Who(self.provider, settings.model, address, key, self.usual_path, settings.kind)


class Who(NamedTuple):
    """The model that is called, for errors.

    Args:
        provider: the connector's name.
        model: the provider's name of the model.
        address: where it answers.
        key: what must not be shown.
        usual_path: what the root of the provider's API has behind its host; "" for nothing.
        kind: what it is asked for, as the flags that name it begin.
    """

    provider: str
    model: str
    address: Address
    key: Key | None
    usual_path: str = "/v1"
    kind: Kind = "judge"

    def __str__(self) -> str:
        through = f", through the proxy {self.proxy}" if self.proxy else ""
        return f"{self.provider} at {self.address.root}{through}"

    @property
    def proxy(self) -> str | None:
        """The proxy of the environment that calls go through."""
        return proxy_before(self.address.root)

    @property
    def identity(self) -> Mapping[str, str]:
        """What of it a reply depends on."""
        return {"provider": self.provider, "model": self.model, "base_url": self.address.root}

    def flag(self, name: str) -> str:
        """How the user says something of this model, such as `--embed-base-url`."""
        return said_with(self.kind, name)

    def quoted(self, text: str) -> str:
        """A stranger's text as it may be shown."""
        # Redacted before it is cut, since half a key is still a part of one.
        text = text[: 20 * _MAX_CHARS]
        text = self.key.redact(text) if self.key else redact(text)
        text = "".join(char if char.isprintable() else " " for char in text)
        text = " ".join(text.split())
        return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"

    def excerpt(self, content: bytes) -> str:
        """The beginning of what was answered, in words: `nothing`, `an HTML page ("…")`, or `"…"`."""
        text = content[: 20 * _MAX_CHARS].decode("utf-8", "replace").strip()
        if not text:
            return "nothing"
        if text.startswith("<"):
            return f'an HTML page ("{self.quoted(_TAG.sub(" ", text))[:120]}")'
        return f'"{self.quoted(text)[:200]}"'
