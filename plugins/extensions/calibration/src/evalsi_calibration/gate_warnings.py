"""Owns the warnings of gates that rest on a judge: which of them no calibration beside the spec holds for.

It must not know how a gate is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalsi_kernel.errors import ConfigError

from .calibration_file import read_calibration
from .uncalibrated import unversioned, why_uncalibrated

FILES = "calibration*.json"
"""Where calibrations of a run are looked for, beside its spec."""


def warnings_of(gated: Sequence[Mapping[str, Any]], judge: Mapping[str, Any] | None, folder: Path) -> list[str]:
    """A sentence for each evaluator that asks a judge for which no calibration holds, and for each broken file.

    Args:
        gated: the evaluators that gates rest on, as the manifest has them.
        judge: the model that judges; None where there is none.
        folder: where calibrations are looked for.
    """
    judged = [one for one in gated if "judge" in one["asks"]]
    if judge is None or not judged:
        return []
    calibrations, warnings = _read(folder)
    for one in judged:
        why = _why(one, judge, calibrations)
        if why is not None:
            hint = f"Run: evalsi calibrate --evaluator {one['name']}, and keep its --output as calibration.json there."
            warnings.append(f"A gate rests on {one['name']}, and no {FILES} beside the spec holds for it. {why} {hint}")
    return warnings


def _read(folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The calibrations that can be read, and why others cannot."""
    calibrations: list[dict[str, Any]] = []
    warnings: list[str] = []
    for path in sorted(folder.glob(FILES)):
        try:
            calibrations.append(read_calibration(path))
        except ConfigError as error:
            warnings.append(str(error))
    return calibrations, warnings


def _why(ran: Mapping[str, Any], judge: Mapping[str, Any], calibrations: Sequence[Mapping[str, Any]]) -> str | None:
    """Why no calibration holds; of several of its evaluator, the last one. None where one does."""
    manifest = {"evaluators": [ran], "judge": {"roles": {"primary": judge}}}
    own = [one for one in calibrations if unversioned(one["evaluator"]["ref"]) == unversioned(ran["ref"])]
    prompts = ran.get("prompts", ())
    why = why_uncalibrated(manifest, None, evaluator=ran["name"])
    for one in own:
        why = why_uncalibrated(manifest, one, evaluator=ran["name"], prompts=prompts)
        if why is None:
            break
    return why
