"""Owns the hooks by which a run finds the cache of replies, and the command line `cache`.

It must not know what a cache holds. The two load apart: a run with a judge needs no command.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from evalsi_kernel.hooks import hookimpl

if TYPE_CHECKING:
    from evalsi_kernel.broker.judge_cache import JudgeCache
    from evalsi_kernel.commands import Command, Toolkit


@hookimpl
def evalsi_judge_cache(on_note: Callable[[str], None], may_write: bool) -> JudgeCache:
    """The cache in the user's cache folder, or a look at it."""
    from .cache_store import default_cache_path

    if not may_write:
        from .glance import GlancedReplies

        return GlancedReplies(default_cache_path(), on_note)
    from .cache import ReplyCache

    return ReplyCache(default_cache_path(), on_note)


@hookimpl
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """The command `cache`, or None where the name is another's."""
    from .command import Cache

    return Cache(toolkit) if name == "cache" else None
