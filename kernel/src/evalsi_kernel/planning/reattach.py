"""`EVALSI_REATTACH`: use packs that a developer has started under a debugger."""

from __future__ import annotations

import os
from collections.abc import Collection

from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.packs.pack_info import PackInfo

VARIABLE = "EVALSI_REATTACH"
SERVICE = "service"
NO_LIMIT_S = 86_400.0
"""Timeout of such a pack, long enough for breakpoints."""


def reattached(pack: PackInfo, names: Collection[str]) -> PackInfo:
    """Return the pack, or the running one if the variable has its address (`NAME=ADDRESS …`).

    Such a pack has one process and no timeouts, and its version is marked as unreleased.

    Raises:
        ConfigError: `config.reattach`: the variable is malformed, or has a name that is not in `names`.
    """
    for word in os.environ.get(VARIABLE, "").split():
        name, _, address = word.partition("=")
        fault = "has no address" if not address else "is not a pack" if name not in names else ""
        if fault:
            hint = "Write NAME=ADDRESS, such as acme/tone=unix:///tmp/tone." if not address else choose(name, names)
            raise ConfigError(f"{VARIABLE} names {name!r}, which {fault}.", hint, code="config.reattach")
        if name == pack.name:
            fresh = f"{pack.version}+reattached"
            return pack._replace(
                version=fresh, runtime=SERVICE, module=address, workers="wide", record_timeout_s=NO_LIMIT_S
            )
    return pack
