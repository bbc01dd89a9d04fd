"""Owns the key of a provider: where it comes from, and that it is seen by nobody but the request that carries it.

It must not know how a request carries it.
"""

from __future__ import annotations

import re

from evalsi_kernel.broker.connector import Kind
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.files.dotenv import variable as variable_of

from .saying import said_with

NO_KEY = "none"
_SHOWN_INSTEAD = "[key]"
# Keys as the providers write them, also half covered up, as servers like to echo them.
_KEY_LIKE = re.compile(r"(?i)\b(?:sk|pk|rk|gsk|xai|key)-[\w*.…-]{6,}|\bbearer\s+[\w*.~+/=-]{6,}")
_TELLING_CHARS = 6
# A key that stands where the name of its variable should is longer, or has other characters, or both.
_VARIABLE = re.compile(r"(?a:[A-Za-z_]\w{0,39})")


class Key:
    """A secret that prints as nothing of itself."""

    __slots__ = ("_echo", "_secret")

    def __init__(self, secret: str) -> None:
        self._secret = secret
        whole = re.escape(secret)
        if len(secret) < _TELLING_CHARS:
            # A made-up key such as "x" is only that where it stands alone.
            whole = rf"(?<!\w){whole}(?!\w)"
        elif len(secret) > 2 * _TELLING_CHARS:
            # A word that begins or ends as a long key does is that key, however its middle is covered up.
            head, tail = re.escape(secret[:_TELLING_CHARS]), re.escape(secret[-_TELLING_CHARS:])
            whole = rf"{whole}|{head}[^\s\"']*|[^\s\"']*{tail}"
        self._echo = re.compile(whole)

    def secret(self) -> str:
        """The key itself."""
        return self._secret

    def redact(self, text: str) -> str:
        """The text without the key, and without anything that looks like one."""
        return redact(self._echo.sub(_SHOWN_INSTEAD, text))

    def __repr__(self) -> str:
        return "Key(…)"


def redact(text: str) -> str:
    """The text without anything that looks like a key."""
    return _KEY_LIKE.sub(_SHOWN_INSTEAD, text)


def find_key(variable: str | None, usual: str, *, is_at_home: bool, kind: Kind = "judge") -> Key | None:
    """The key for a provider, from the environment.

    Args:
        variable: what the user names; `none` for no key, None where they name nothing.
        usual: the provider's own variable. It is used only where the user names none, and sent only to the provider's
            own address, never to a stranger's.
        is_at_home: the calls go to the provider's own address.
        kind: of the model, for the name of a flag.

    Returns:
        The key, or None where none is to be sent.

    Raises:
        ConfigError: `config.no_key`; the variable is not set, or holds what cannot be sent.
    """
    if variable == NO_KEY or (variable is None and not is_at_home):
        return None
    name = variable or usual
    secret = (variable_of(name) or "").strip()
    if not secret and not _VARIABLE.fullmatch(name):
        raise ConfigError(
            f"What {said_with(kind, 'api-key-env')} says is no variable's name; it may be the key, so it is not shown.",
            "Put the key into a variable, such as export MY_KEY=…, and name that: MY_KEY.",
            code="config.no_key",
        )
    if not secret:
        raise ConfigError(
            f"The environment variable {name}, which is to hold the provider's key, is not set.",
            f"Set it: export {name}=…; or name another with {said_with(kind, 'api-key-env')}, or none for no key.",
            code="config.no_key",
        )
    if not (secret.isascii() and secret.isprintable()) or " " in secret:
        raise ConfigError(
            f"The environment variable {name} holds what cannot be a key: it has a space, a line break or a character "
            "beyond ASCII in it.",
            f"Set {name} again, to the key alone.",
            code="config.no_key",
        )
    return Key(secret)
