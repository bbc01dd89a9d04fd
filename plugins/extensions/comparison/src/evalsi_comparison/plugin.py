"""Owns the hooks by which `compare` is found, and by the kernel the reader of baselines and the advice on trials.

It must not know how runs are compared.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from evalsi_kernel.commands import Command, Toolkit
from evalsi_kernel.gates.baseline import Baseline
from evalsi_kernel.gates.trial_advice import TrialAdvice
from evalsi_kernel.hooks import hookimpl
from evalsi_kernel.packs.instances import Instance

from .baseline import read_baseline
from .command import Compare
from .trial_advice import Advice


@hookimpl
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """The command `compare`, or None where the name is another's."""
    return Compare(toolkit) if name == "compare" else None


@hookimpl
def evalsi_read_baseline(path: Path, name: str, paired: Collection[str]) -> Baseline:
    """A results file that a gate compares with, and the test for its pairs."""
    return read_baseline(path, name, paired)


@hookimpl
def evalsi_trial_advice(
    ranges: Mapping[str, tuple[float, float]], instances: Sequence[Instance], trials: int, level: float
) -> TrialAdvice:
    """What says how many trials a run would need."""
    return Advice(ranges, instances, trials, level)
