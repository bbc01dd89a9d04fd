"""Import an extension and register its hooks; unknown hook names are an error."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import pluggy

from evalsi_kernel import hooks
from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.extensions.info import ExtensionInfo


def hooks_of(info: ExtensionInfo) -> pluggy.PluginManager:
    """Import an extension and register its hooks; raise as `Extensions.load`."""
    whose = f"The extension {info.name} of {info.distribution} {info.version}"
    try:
        module = importlib.import_module(info.module)
    except Exception as cause:
        raise ConfigError(
            f"{whose} cannot be imported: {type(cause).__name__}: {cause}.",
            f"Reinstall it with its dependencies, or remove it: pip uninstall {info.distribution}",
            code="config.extension",
        ) from cause
    manager = pluggy.PluginManager(hooks.PROJECT)
    manager.add_hookspecs(hooks)
    _check_names(whose, vars(module), [name for name in vars(hooks) if name.startswith("evalsi_")])
    try:
        manager.register(module, info.name)
        manager.check_pending()
    except pluggy.PluginValidationError as cause:
        detail = " ".join(str(cause).split())
        hint = f"Upgrade {info.distribution} and Evals.si to compatible versions."
        raise ConfigError(f"{whose} is incompatible: {detail}.", hint, code="config.extension") from cause
    return manager


def _check_names(whose: str, members: dict[str, Any], specified: Sequence[str]) -> None:
    """Reject functions that look like hooks but are not, because pluggy would ignore them."""
    for name, member in members.items():
        if not name.startswith("evalsi_") or not isinstance(member, FunctionType):
            continue
        if name not in specified:
            raise ConfigError(
                f"{whose} implements {name}, which is not a hook.",
                f"{did_you_mean(name, specified)} The hooks are {', '.join(specified)}.".strip(),
                code="config.extension",
            )
        if not hasattr(member, "evalsi_impl"):
            raise ConfigError(
                f"{whose} defines {name} without @hookimpl.", "Decorate it with @hookimpl.", code="config.extension"
            )
