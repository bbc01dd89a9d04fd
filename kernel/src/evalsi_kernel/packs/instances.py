"""An evaluator as used in a run: its name, its params and its metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from types import MappingProxyType
from typing import Any, NamedTuple

from evalsi_kernel.packs.pack_info import EvaluatorInfo


class Instance(NamedTuple):
    """An evaluator as used in a run.

    Args:
        session: ID of its session in the protocol.
        name: name in the run; the evaluator's own name by default.
        info: its entry in the catalog.
        params: params with defaults filled in.
        when: CEL condition under which it scores a record of a run; None means always.
        qualified: scores that share their name with a score of another evaluator; see `qualify_shared_names`.
    """

    session: int
    name: str
    info: EvaluatorInfo
    params: Mapping[str, Any] = MappingProxyType({})
    when: str | None = None
    qualified: Set[str] = frozenset()

    def metric(self, score_name: str) -> str:
        """Return the metric name of a score; the evaluator's name qualifies it where it is ambiguous."""
        if not score_name:
            return self.name
        if self.name == self.info.name and score_name not in self.qualified:
            return score_name
        return f"{self.name}.{score_name}"


def qualify_shared_names(scores: Iterable[tuple[Instance, str]]) -> dict[int, set[str]]:
    """Qualify scores of different evaluators that have the same metric name.

    Args:
        scores: pairs of an evaluator and the name of one of its scores; `qualified` of these evaluators must be a set.

    Returns:
        The newly qualified score names, by session.
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
