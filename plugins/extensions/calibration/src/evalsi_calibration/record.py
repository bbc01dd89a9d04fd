"""Owns the record of a calibration, as JSON: what was compared and how, who judged, and every figure.

It must not know how the figures came about, nor where the record is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from evalsi_kernel.packs.instances import Instance

from .agreement import Agreement
from .comparison import Comparison
from .confusion import PassRates
from .pairs import Pair, Paired

if TYPE_CHECKING:
    from evalsi_kernel.broker.ledger import Bill

SCHEMA_VERSION = 1


class Calibrated(NamedTuple):
    """A calibration, with all that it is to be known by.

    Args:
        manifest: of the evaluation, as results.json has it.
        instance: the evaluator.
        comparison: how it was compared.
        label: the name of the label.
        data: the name of the data.
        sha256: of the data's bytes; None where they were not read to their end.
        records: how many were read.
        labelled: how many of them have a label.
        paired: what could be compared, and what could not.
        agreement: the figures.
        level: of the intervals, between 0 and 1.
        bill: what the questions to a model took; None where none was asked.
    """

    manifest: Mapping[str, Any]
    instance: Instance
    comparison: Comparison
    label: str
    data: str
    sha256: str | None
    records: int
    labelled: int
    paired: Paired
    agreement: Agreement
    level: float
    bill: Bill | None = None

    @property
    def judge(self) -> dict[str, Any] | None:
        """The model that was asked, as the manifest has it; None where none was."""
        judging: Mapping[str, Any] = self.manifest.get("judge") or {}
        primary: dict[str, Any] | None = judging.get("roles", {}).get("primary") if judging.get("asks") else None
        return primary

    @property
    def left_out(self) -> dict[str, int]:
        """How many records were not compared, by what became of them."""
        return {"no_label": self.records - self.labelled, **self.paired.left_out}


def record_of(calibrated: Calibrated) -> dict[str, Any]:
    """The record, as JSON."""
    comparison, level = calibrated.comparison, calibrated.level
    scale = comparison.label_scale
    return {
        "schema_version": SCHEMA_VERSION,
        "evalsi_version": calibrated.manifest["evalsi_version"],
        "date": calibrated.manifest["finished_at"],
        "status": calibrated.manifest["status"],
        "dataset": {"source": calibrated.data, "records": calibrated.records, "sha256": calibrated.sha256},
        "label": {
            "name": calibrated.label,
            "compared_as": comparison.kind,
            "scale": None if scale is None else [scale.low, scale.high],
        },
        "evaluator": {
            "name": calibrated.instance.name,
            "ref": f"{calibrated.instance.info.ref}@{calibrated.instance.info.version}",
            "params": dict(calibrated.instance.params),
            "metric": comparison.metric,
            "threshold": comparison.threshold,
        },
        "judge": calibrated.judge,
        "bill": calibrated.bill and calibrated.bill._asdict(),
        "prompts": list(calibrated.paired.prompts),
        "confidence_level": level,
        "left_out": calibrated.left_out,
        "reasons": [
            {"outcome": outcome, "reason": reason, "count": count}
            for (outcome, reason), count in calibrated.paired.reasons.items()
        ],
        **_figures(calibrated.agreement, level),
    }


def _figures(found: Agreement, level: float) -> dict[str, Any]:
    matrix = found.matrix
    return {
        "n": found.n,
        "agreement": matrix and matrix.agreement.to_dict(level),
        "kappa": found.kappa and found.kappa.to_dict(level),
        "quadratic_kappa": found.quadratic_kappa and found.quadratic_kappa.to_dict(level),
        "confusion": matrix and {"categories": list(matrix.categories), "counts": [list(row) for row in matrix.counts]},
        "pass_rates": found.rates and _rates(found.rates, level),
        "bias": found.bias and found.bias.to_dict(),
        "bias_per_score": [{"human": score, **one.to_dict()} for score, one in found.bias_per_score.items()],
        "rank_correlation": found.rank_correlation,
        "position_bias": found.position_bias and found.position_bias.to_dict(level),
        "length_bias": found.length_bias and found.length_bias.to_dict(level),
        "notes": list(found.notes),
        "disagreements": [_disagreement(pair) for pair in found.disagreements],
    }


def _rates(rates: PassRates, level: float) -> dict[str, Any]:
    return {name: share.to_dict(level) for name, share in rates._asdict().items()}


def _disagreement(pair: Pair) -> dict[str, Any]:
    return {
        "record_id": pair.record_id,
        "human": pair.human.shown,
        "judge": pair.judge.shown,
        "distance": pair.distance,
        "explanation": pair.explanation,
    }
