"""Owns the question whether a calibration holds for a run: the same evaluator, params, prompt and judge.

It must not know how good an agreement is good enough; that is for whoever sets a gate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

_JUDGE = ("provider", "model", "effort")


def why_uncalibrated(
    manifest: Mapping[str, Any],
    calibration: Mapping[str, Any] | None,
    *,
    evaluator: str | None = None,
    prompts: Collection[str] = (),
) -> str | None:
    """Why a run's judge counts as not calibrated, as a sentence for a warning.

    Args:
        manifest: of the run, as results.json has it.
        calibration: the record of a calibration; None where there is none.
        evaluator: the name, in the run, of the evaluator that is in question; None takes the one that was calibrated.
        prompts: the hashes of the prompts that the run's scores name, where they are at hand.

    Returns:
        None where the calibration holds, and for a run that asked no judge.
    """
    judge = ((manifest.get("judge") or {}).get("roles") or {}).get("primary")
    if judge is None:
        return None
    if calibration is None:
        return "The judge was not calibrated against people."
    was = calibration["evaluator"]
    ran = _ran(manifest, evaluator, was["ref"])
    if ran is None:
        return f"The calibration is of {was['ref']}, and this run has no such evaluator."
    if ran["ref"] != was["ref"]:
        return f"The calibration is of {was['ref']}, and {ran['ref']} ran."
    return (
        _differing_judge(judge, calibration.get("judge"))
        or _differing_params(ran["params"], was["params"])
        or _differing_prompt(prompts, calibration["prompts"])
        or _says_nothing(calibration)
    )


def _ran(manifest: Mapping[str, Any], name: str | None, ref: str) -> Mapping[str, Any] | None:
    """The evaluator in question: by its name in the run, or else the one of this ref, in whatever version."""
    for one in manifest["evaluators"]:
        if one["name"] == name or (name is None and unversioned(one["ref"]) == unversioned(ref)):
            found: Mapping[str, Any] = one
            return found
    return None


def unversioned(ref: str) -> str:
    """A ref without the evaluator's version."""
    return ref.rpartition("@")[0]


def _differing_judge(judge: Mapping[str, Any], calibrated: Mapping[str, Any] | None) -> str | None:
    if calibrated is None:
        return "The calibration asked no judge, and this run did."
    for key in _JUDGE:
        if judge.get(key) != calibrated.get(key):
            return f"The judge was calibrated with the {key} {calibrated.get(key)}, and {judge.get(key)} judged."
    return None


def _differing_params(ran: Mapping[str, Any], calibrated: Mapping[str, Any]) -> str | None:
    for key in sorted({*ran, *calibrated}):
        if ran.get(key) != calibrated.get(key):
            return f"The judge was calibrated with {key} = {calibrated.get(key)}, and ran with {ran.get(key)}."
    return None


def _differing_prompt(ran: Collection[str], calibrated: Collection[str]) -> str | None:
    if ran and not set(ran) <= set(calibrated):
        return "The judge was calibrated with another prompt."
    return None


def _says_nothing(calibration: Mapping[str, Any]) -> str | None:
    if calibration["status"] != "complete":
        return "The calibration was stopped before its end."
    if calibration.get("kappa") is None and calibration.get("rank_correlation") is None:
        return "The calibration could not tell agreement from chance."
    return None
