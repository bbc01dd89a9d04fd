"""`EVALSI_REATTACH`: packs that a developer has started himself, under a debugger, and that are asked where they are.

It must not know how a pack that runs already is reached; the runtime `service` does.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.packs.pack_info import PackInfo

VARIABLE = "EVALSI_REATTACH"
SERVICE = "service"
NO_LIMIT_S = 86_400.0
"""Whoever stops at a breakpoint takes his time."""


def reattached(pack: PackInfo, names: Collection[str]) -> PackInfo:
    """The pack as it is, or, where the variable gives its address (`NAME=ADDRESS …`), as the one that runs there.

    Such a pack has one process and no limits of time, and its version says that it is none that was released.

    Raises:
        ConfigError: `config.reattach`; the variable cannot be read, or names none of `names`.
    """
    for word in os.environ.get(VARIABLE, "").split():
        name, _, address = word.partition("=")
        fault = "has no address" if not address else "is no pack" if name not in names else ""
        if fault:
            hint = "Write NAME=ADDRESS, such as acme/tone=unix:///tmp/tone." if not address else choose(name, names)
            raise ConfigError(f"{VARIABLE} names {name!r}, which {fault}.", hint, code="config.reattach")
        if name == pack.name:
            fresh = f"{pack.version}+reattached"
            return pack._replace(
                version=fresh, runtime=SERVICE, module=address, workers="wide", record_timeout_s=NO_LIMIT_S
            )
    return pack
