"""An evaluator as a run uses it: its name here, its params, and the metrics that it gives.

It must not know how it is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from types import MappingProxyType
from typing import Any, NamedTuple

from evalsi_kernel.packs.pack_info import EvaluatorInfo


class Instance(NamedTuple):
    """An evaluator as this run uses it.

    Args:
        session: its number on the wire.
        name: as the user calls it; the evaluator's own name by default.
        info: what the catalog says of it.
        params: with the defaults filled in.
        when: the condition in CEL under which it scores a record of a run; None always does.
        qualified: the scores whose names other evaluators of the run have too; see `tell_apart`.
    """

    session: int
    name: str
    info: EvaluatorInfo
    params: Mapping[str, Any] = MappingProxyType({})
    when: str | None = None
    qualified: Set[str] = frozenset()

    def metric(self, score_name: str) -> str:
        """Return the metric that a score of this name counts for; the evaluator's name tells equal ones apart."""
        if not score_name:
            return self.name
        if self.name == self.info.name and score_name not in self.qualified:
            return score_name
        return f"{self.name}.{score_name}"


def tell_apart(scores: Iterable[tuple[Instance, str]]) -> dict[int, set[str]]:
    """Qualify the scores that count for one metric though they are of several evaluators.

    Args:
        scores: each evaluator with the name of a score of its; `qualified` of these evaluators must be a set.

    Returns:
        By the evaluator's session, the names of the scores that are qualified now and were not before.
    """
    givers: dict[str, list[tuple[Instance, str]]] = {}
    for instance, name in scores:
        givers.setdefault(instance.metric(name), []).append((instance, name))
    fresh: dict[int, set[str]] = {}
    for shared in givers.values():
        for instance, name in shared if len(shared) > 1 else ():
            if name and name not in instance.qualified and isinstance(instance.qualified, set):
                instance.qualified.add(name)
                fresh.setdefault(instance.session, set()).add(name)
    return fresh
