"""A row made into an evaluator: a class whose constructor takes the row's params.

It must not know RAGAS; what does is loaded when an evaluator is opened.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from evalsi import Context, Record, Score, evaluator
from evalsi_ragas.row import Row

if TYPE_CHECKING:
    from evalsi_ragas.scoring import Scorer


class RagasEvaluator:
    """One of RAGAS' metrics; each row has a class of its own."""

    _scorer: Scorer

    async def score(self, record: Record, ctx: Context) -> Score:
        """What RAGAS says of one record."""
        return await self._scorer.score(record, ctx)


def evaluator_of(row: Row) -> type[RagasEvaluator]:
    """The evaluator of a row."""
    name = "".join(part.capitalize() for part in row.name.split("-"))
    made = type(name, (RagasEvaluator,), {"__doc__": row.summary, "__module__": __name__, "__init__": _opening(row)})
    return evaluator(name=row.name, version=row.version, needs=row.needs, asks=row.asks, outputs=[row.output])(made)


def _opening(row: Row) -> Any:
    """A constructor with the row's params; the SDK reads them from its signature."""

    def opening(self: RagasEvaluator, **params: Any) -> None:
        # A second and 120 MB, for which neither the greeting nor the catalog waits.
        from evalsi_ragas.scoring import Scorer

        settings = {setting.name: params.get(setting.name, setting.default) for setting in row.settings}
        self._scorer = Scorer(row, settings)

    arguments = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    arguments += [
        inspect.Parameter(
            setting.name, inspect.Parameter.KEYWORD_ONLY, default=setting.default, annotation=setting.hint
        )
        for setting in row.settings
    ]
    opening.__signature__ = inspect.Signature(arguments)  # type: ignore[attr-defined]  # Functions may have one.
    return opening
