"""Owns the hook by which the kernel finds the test behind `stop_when_decided`.

It must not know how a gate is decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalsi_kernel.gates.early_stopping import EarlyStopping
from evalsi_kernel.gates.spec import GateSpec
from evalsi_kernel.hooks import hookimpl

from .following import FollowedGates


@hookimpl
def evalsi_early_stopping(
    gates: Sequence[GateSpec | None],
    ranges: Mapping[str, tuple[float, float]],
    records: int | None,
    trials: int,
    error_rate: float,
) -> EarlyStopping:
    """The test by betting."""
    return FollowedGates(gates, ranges, records=records, trials=trials, error_rate=error_rate)
