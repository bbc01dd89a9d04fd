"""Owns which proxy of the environment stands before an address, as errors name it: without its user and password.

It must not know how a call is made; the transport finds the proxy by the same variables.
"""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from evalsi_kernel.errors import ConfigError


def proxy_before(root: str) -> str | None:
    """The proxy that calls go through, such as `http://proxy.example:3128`; None where they go directly.

    Args:
        root: the address that is called.

    Raises:
        ConfigError: what the environment names is no address.
    """
    parts = urlsplit(root)
    named = getproxies()
    proxy = named.get(parts.scheme) or named.get("all")
    if not proxy or proxy_bypass(parts.hostname or ""):
        return None
    return _shown(proxy)


def _shown(proxy: str) -> str:
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        port, host = parts.port, parts.hostname
    except ValueError:
        port, host = None, None
    if not host:
        # What is said may hold a password.
        raise ConfigError(
            "The proxy that the environment names is no address.",
            "Write it as http://HOST:PORT in HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or unset them.",
        )
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" if port is None else f"{parts.scheme}://{host}:{port}"
