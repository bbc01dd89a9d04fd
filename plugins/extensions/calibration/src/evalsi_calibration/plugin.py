"""Owns the hooks by which the command line finds `calibrate`, and gates hear of a judge that nobody calibrated.

It must not know how an evaluator is compared with people.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalsi_kernel.commands import Command, Toolkit
from evalsi_kernel.hooks import hookimpl

from .command import Calibrate
from .gate_warnings import warnings_of


@hookimpl
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """The command `calibrate`, or None where the name is another's."""
    return Calibrate(toolkit) if name == "calibrate" else None


@hookimpl
def evalsi_gate_warnings(
    gated: Sequence[Mapping[str, Any]], judge: Mapping[str, Any] | None, folder: Path
) -> list[str]:
    """A sentence for each gated evaluator whose judge no calibration beside the spec holds for."""
    return warnings_of(gated, judge, folder)
