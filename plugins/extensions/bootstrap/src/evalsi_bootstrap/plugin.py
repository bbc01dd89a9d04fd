"""Owns the hook by which the kernel finds the interval method `bootstrap`.

Imports no numpy: the method does, when its first interval is asked for.
"""

import pluggy

from evalsi_kernel.scores.intervals import IntervalMethod

from .percentile import PercentileBootstrap

hookimpl = pluggy.HookimplMarker("evalsi")


@hookimpl
def evalsi_interval_method(name: str) -> IntervalMethod | None:
    """The method that `--ci NAME` asks for, or None where the name is another's."""
    return PercentileBootstrap() if name == PercentileBootstrap.name else None
