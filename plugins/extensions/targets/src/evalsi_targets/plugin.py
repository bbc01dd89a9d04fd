"""Owns the hooks by which a run finds its target: each kind loads when a spec names it.

It must not know how any of them answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalsi_kernel.hooks import hookimpl

if TYPE_CHECKING:
    from pydantic import BaseModel

    from evalsi_kernel.target import Target, TargetServices, TargetSettings


@hookimpl
def evalsi_target_options(connector: str) -> type[BaseModel]:
    """The keys of a kind; of a name that is none of ours, those of a model."""
    if connector == "replay":
        from .replay import ReplayOptions

        return ReplayOptions
    if connector == "http":
        from .http_options import HttpOptions

        return HttpOptions
    if connector == "responses":
        from .responses_options import ResponsesOptions

        return ResponsesOptions
    if connector == "python":
        from .function_target import FunctionOptions

        return FunctionOptions
    if connector == "command":
        from .command_options import CommandOptions

        return CommandOptions
    from .model_options import options_of

    return options_of(connector)


@hookimpl
def evalsi_target(settings: TargetSettings, lent: TargetServices) -> Target:
    """The target of a kind; of a name that is none of ours, a model behind that connector."""
    if settings.connector == "replay":
        from .replay import Replay

        return Replay(settings, lent)
    if settings.connector == "http":
        from .http_service import HttpService

        return HttpService(settings)
    if settings.connector == "responses":
        from .responses import Responses

        return Responses(settings)
    if settings.connector == "python":
        from .function_target import FunctionTarget

        return FunctionTarget(settings)
    if settings.connector == "command":
        from .command_target import command_target

        return command_target(settings)
    from .model_target import model_target

    return model_target(settings, lent)
