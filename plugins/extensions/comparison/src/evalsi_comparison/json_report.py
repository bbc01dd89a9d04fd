"""Owns the JSON of a comparison; docs/how-to/compare-two-runs.md describes it.

It must not know how a figure came about.
"""

from __future__ import annotations

from typing import Any

from .comparison import Comparison
from .difference import Difference, Flip, difference_dict
from .error_share import errors_dict
from .words import errors_clause, headline

SCHEMA_VERSION = 1


def json_report(found: Comparison) -> dict[str, Any]:
    """The comparison as JSON values; of changed records those that are shown."""
    alpha = found.settings.alpha
    judged = None if found.judged is None else [one._asdict() for one in found.judged]
    return {
        "schema_version": SCHEMA_VERSION,
        "headline": headline(found),
        "base": found.base._asdict(),
        "candidate": found.candidate._asdict(),
        "confidence": found.settings.level,
        "alpha": alpha,
        "cluster_by": found.cluster_by,
        "regression": None if judged is None else {"failed": found.failed, "metrics": judged},
        "metrics": [{**difference_dict(one, alpha), "changed": _changed(found, one)} for one in found.differences],
        "errors": errors_dict(found.errors, alpha),
        "untested": [one._asdict() for one in found.whole],
        "changes": [one._asdict() for one in found.changes],
        "weakened": any(one.weakens for one in found.changes),
        "records": found.records._asdict(),
        "notes": list(found.notes),
    }


def differences(found: Comparison) -> dict[str, Any]:
    """What the comparison says of each metric as JSON values, with the ids of all records that changed."""
    alpha = found.settings.alpha
    return {
        "cluster_by": found.cluster_by,
        "errors": errors_dict(found.errors, alpha) | {"told": errors_clause(found)},
        "metrics": [
            {
                **difference_dict(one, alpha),
                "lost_ids": [flip.record_id for flip in one.flips[: one.lost]],
                "won_ids": [flip.record_id for flip in one.flips[one.lost :]],
            }
            for one in found.differences
        ],
    }


def _changed(found: Comparison, one: Difference) -> dict[str, Any]:
    lost, won = found.flips_of(one)
    return {"lost": [_flip(found, flip) for flip in lost], "won": [_flip(found, flip) for flip in won]}


def _flip(found: Comparison, flip: Flip) -> dict[str, Any]:
    said = found.excerpts[flip.item]
    return {
        "record_id": flip.record_id,
        "base": flip.before,
        "candidate": flip.after,
        "trials": flip.trials,
        "trial": flip.trial,
        "input": said.input,
        "base_output": said.base,
        "candidate_output": said.candidate,
    }
