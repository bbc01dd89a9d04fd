"""Owns the hook by which the kernel finds the rule behind `stop_when_decided`.

It must not know how a gate is decided.
"""

from evalsi_kernel.gates.early_stopping import StoppingRule
from evalsi_kernel.hooks import hookimpl

from .following import FollowedGates


@hookimpl
def evalsi_stopping_rule() -> StoppingRule:
    """The test by betting."""
    return FollowedGates
