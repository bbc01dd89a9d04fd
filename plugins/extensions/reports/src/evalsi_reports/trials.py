"""Owns what several trials of the same records tell: how often a record passes, and which do not agree with themselves.

It must not know how a trial came about; pass@k and pass^k are metrics of the run's summaries.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from math import isnan
from typing import NamedTuple

from .columns import Rows
from .metrics import Metric


class TrialShares(NamedTuple):
    """One pass/fail metric over the trials of each record.

    Args:
        metric: its name.
        records: with at least one scored trial.
        always, sometimes, never: how many of them passed all, some or none of their scored trials.
        wavering: ids of some that passed only some.
    """

    metric: str
    records: int
    always: int
    sometimes: int
    never: int
    wavering: tuple[str, ...]


def most_trials(rows: Rows) -> int:
    """How often a record ran at most."""
    return max(rows.trials, default=1)


def trial_shares(metrics: Sequence[Metric], rows: Rows) -> list[TrialShares]:
    """For each pass/fail metric how its trials agree; empty where each record ran once."""
    if most_trials(rows) == 1:
        return []
    return [_shares(metric, rows) for metric in metrics if metric.kind == "pass" and metric.column is not None]


def failed_trials(metrics: Sequence[Metric], rows: Rows, ids: Collection[str]) -> dict[str, int]:
    """In how many of their trials some records failed a check."""
    columns = [metric.column for metric in metrics if metric.is_check and metric.column is not None]
    found = dict.fromkeys(ids, 0)
    for row, record_id in enumerate(rows.ids):
        if record_id in found and any(column[row] == 0 for column in columns):
            found[record_id] += 1
    return found


def _shares(metric: Metric, rows: Rows) -> TrialShares:
    column = metric.column
    assert column is not None
    passes: defaultdict[str, list[bool]] = defaultdict(list)
    for row, record_id in enumerate(rows.ids):
        if not isnan(column[row]):
            passes[record_id].append(column[row] > 0)
    kinds = Counter("always" if all(one) else "sometimes" if any(one) else "never" for one in passes.values())
    wavering = [record_id for record_id, one in passes.items() if any(one) and not all(one)]
    return TrialShares(
        metric.name, len(passes), kinds["always"], kinds["sometimes"], kinds["never"], tuple(wavering[:10])
    )
