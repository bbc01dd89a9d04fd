"""Owns the hooks by which a run finds its target: each kind loads when a spec names it.

It must not know how any of them answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalsi_kernel.hooks import hookimpl

if TYPE_CHECKING:
    from pydantic import BaseModel

    from evalsi_kernel.target import Lent, Target, TargetSettings


@hookimpl
def evalsi_target_options(connector: str) -> type[BaseModel]:
    """The keys of a kind; of a name that is none of ours, those of a model."""
    if connector == "replay":
        from .replay import ReplayOptions

        return ReplayOptions
    from .model import ModelOptions

    return ModelOptions


@hookimpl
def evalsi_target(settings: TargetSettings, lent: Lent) -> Target:
    """The target of a kind; of a name that is none of ours, a model behind that connector."""
    if settings.connector == "replay":
        from .replay import Replay

        return Replay(settings, lent)
    from .model import Model

    return Model(settings, lent)
