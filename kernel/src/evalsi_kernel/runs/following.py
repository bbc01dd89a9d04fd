"""A run followed while it goes on, to stop it as soon as its gates are decided.

Records are fed in the order in which they were to be done, however they came: what is quick is no sample. It must not
know the test behind a decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalsi_kernel.gates.early_stopping import EarlyStopping, RecordScores
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.records.chunks import Outcome
from evalsi_kernel.runs.values import numbers_of


class Following:
    """Feeds a test with the records of a run.

    Args:
        test: of the gates.
        order: the numbers of the records in the order in which they are taken up.
        instances: the evaluators.
        trials: of each record.
    """

    def __init__(self, test: EarlyStopping, order: Sequence[int], instances: Sequence[Instance], trials: int) -> None:
        self.test = test
        self._order = order
        self._next = 0
        self._instances = instances
        self._trials = trials
        self._open: dict[int, list[Mapping[int, Outcome]]] = {}

    def add(self, item: int, outcomes: Mapping[int, Outcome]) -> bool:
        """Take in an item that is done; returns whether every gate is decided now."""
        number = item // self._trials
        self._open.setdefault(number, []).append(outcomes)
        while self._next < len(self._order) and len(self._open.get(self._order[self._next], ())) == self._trials:
            self.test.add(self._scores(self._open.pop(self._order[self._next])))
            self._next += 1
            if self.test.is_decided:
                return True
        return False

    def _scores(self, trials: Sequence[Mapping[int, Outcome]]) -> dict[str, RecordScores]:
        scores: dict[str, RecordScores] = {}
        for instance in self._instances:
            values: dict[str, list[float]] = {instance.metric(one.name): [] for one in instance.info.outputs}
            errors = skipped = 0
            for outcomes in trials:
                outcome = outcomes[instance.session]
                errors += outcome[0] == "error"
                skipped += outcome[0] == "skipped"
                for metric, value in numbers_of(instance, outcome):
                    values.setdefault(metric, []).append(value)
            scores |= {metric: RecordScores(some, errors, skipped) for metric, some in values.items()}
        return scores
