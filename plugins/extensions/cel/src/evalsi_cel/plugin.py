"""Owns the hook by which the kernel finds the language of conditions.

It must not know a condition. Neither engine is imported before the first one is compiled.
"""

from __future__ import annotations

import pluggy

from evalsi_kernel.gates.conditions import ConditionLanguage

from .language import Cel

hookimpl = pluggy.HookimplMarker("evalsi")


@hookimpl
def evalsi_condition_language() -> ConditionLanguage:
    """CEL, on the engine that is installed."""
    return Cel()
