"""What a target may be told in a spec, which everyone reads, and what it is told by the environment alone.

It must not know who gets it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from evalsi_kernel.checking.toml_tables import Misfit
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.files import dotenv

_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-goog-api-key"})
_QUERY = frozenset({"key", "api_key", "apikey", "api-key", "token", "access_token", "secret", "sig", "code"})
_VARIABLE = re.compile(r"(?i)(api_?key|secret|passw(or)?d|credential|(^|_)token)$|^.*_key$")
_SHORTEST_CHARS = 4
# A secret that stands where the name of its variable should is longer, or has other characters, or both.
_NAME = re.compile(r"(?a:[A-Za-z_]\w{0,39})")


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuse a header that holds a secret; raises `Misfit`."""
    for name in headers:
        if name.lower() in _HEADERS:
            raise Misfit(
                f"has {name}, whose value is a secret, and everybody reads a spec",
                f"Name the variable that holds it: headers_env: {{{name}: MY_VARIABLE}}.",
            )


def check_query(names: Iterable[str]) -> None:
    """Refuse a parameter of an address that holds a secret; raises `Misfit`."""
    for name in names:
        if name.lower() in _QUERY:
            raise Misfit(
                f"has a secret in it ({name}=…), and everybody reads a spec",
                "Send it in a header, with headers_env.",
            )


def check_variables(variables: Mapping[str, str]) -> None:
    """Refuse a variable whose value is a secret; raises `Misfit`."""
    for name in variables:
        if _VARIABLE.search(name):
            raise Misfit(
                f"has {name}, whose value is a secret, and everybody reads a spec",
                f"Take it from the environment: env_from: [{name}].",
            )


def from_environment(names: Mapping[str, str], key: str) -> dict[str, str]:
    """The values of variables, under the names by which they are used.

    Args:
        names: used name → variable.
        key: of the spec, for errors.

    Raises:
        ConfigError: `config.no_key`; one is not set.
    """
    missing = sorted({variable for variable in names.values() if dotenv.variable(variable) is None})
    for variable in missing:
        check_name(variable, key)
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise ConfigError(
            f"spec.target.{key} names {' and '.join(missing)}, which {verb} not set in the environment.",
            f"Set {'it' if len(missing) == 1 else 'them'}: export {missing[0]}=…",
            code="config.no_key",
        )
    return {name: dotenv.variable(variable) or "" for name, variable in names.items()}


def check_name(variable: str, key: str) -> None:
    """Refuse what is no variable's name, without showing it: `config.no_key`, under this key of the spec."""
    if not _NAME.fullmatch(variable):
        raise ConfigError(
            f"spec.target.{key} says what is no variable's name; it may be a secret, so it is not shown.",
            "Put the secret into a variable, such as export MY_KEY=…, and name that: MY_KEY.",
            code="config.no_key",
        )


def without(secrets: Iterable[str], text: str) -> str:
    """A stranger's text without these values."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_CHARS:
            text = text.replace(secret, "[hidden]")
    return text
