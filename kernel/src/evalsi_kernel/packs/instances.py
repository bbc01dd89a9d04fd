"""An evaluator as a run uses it: its name here, its params, and the metrics that it gives.

It must not know how it is run.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    """

    session: int
    name: str
    info: EvaluatorInfo
    params: Mapping[str, Any] = MappingProxyType({})
    when: str | None = None

    def metric(self, score_name: str) -> str:
        """The metric that a score of this name counts for."""
        if not score_name:
            return self.name
        return score_name if self.name == self.info.name else f"{self.name}.{score_name}"
