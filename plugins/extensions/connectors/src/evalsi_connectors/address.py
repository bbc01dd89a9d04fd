"""Owns the address of a provider as the user wrote it: its check, the URLs under it, and the form that may be shown.

It must not know any provider.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit, urlunsplit

from evalsi_kernel.broker.connector import Kind
from evalsi_kernel.errors import ConfigError

from .saying import said_with

_ENDPOINTS = ("/chat/completions", "/completions", "/embeddings", "/messages", "/batches")


class Address(NamedTuple):
    """Where a provider answers.

    Args:
        root: what every path is put behind, without a slash at its end.
        query: what is put behind every path, such as `api-version=…`; "" for nothing.
        host: its name alone, in lower case.
        has_path: whether the user wrote a path.
        is_home: whether it is the provider's own public address, the only one that gets the provider's usual key.
    """

    root: str
    query: str
    host: str
    has_path: bool
    is_home: bool

    def url(self, path: str) -> str:
        """The URL of an endpoint, such as `/chat/completions` or `/batches?limit=100`."""
        joint = "&" if "?" in path else "?"
        return f"{self.root}{path}{joint}{self.query}" if self.query else f"{self.root}{path}"


def read_address(base_url: str, home: str, kind: Kind = "judge") -> Address:
    """Check and take apart what `--judge-base-url` or `--embed-base-url` says; nothing is added to it.

    Args:
        base_url: as the user wrote it.
        home: the provider's own host.
        kind: of the model, for the name of a flag.

    Raises:
        ConfigError: it is no address of a server, or has a secret in it.
    """
    parts = _split(base_url)
    if parts.username is not None or parts.password is not None:
        raise ConfigError(
            "The base URL has a user name or a password in it.",
            f"Leave it out, and name the variable that holds the key with {said_with(kind, 'api-key-env')}.",
        )
    path = parts.path.rstrip("/")
    for endpoint in _ENDPOINTS:
        if path.endswith(endpoint):
            raise ConfigError(
                f'The base URL ends with "{endpoint}", which is added to it with each call.',
                f'Leave "{endpoint}" out of it.',
            )
    root = urlunsplit((parts.scheme.lower(), parts.netloc, path, "", ""))
    host = (parts.hostname or "").lower()
    return Address(root, parts.query, host, bool(path), host == home and parts.scheme.lower() == "https")


def _split(base_url: str) -> SplitResult:
    hint = "Write it as http://localhost:8000/v1 or https://host/v1."
    try:
        parts = urlsplit(base_url.strip())
        # It is read only when it is asked for, and may be no number.
        _ = parts.port
    except ValueError as cause:
        raise ConfigError(f"The base URL cannot be read: {cause}.", hint) from cause
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname or parts.fragment:
        raise ConfigError(f'The base URL "{base_url}" is no address of a server.', hint)
    return parts
