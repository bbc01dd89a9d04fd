"""Build an evaluator class from a row of the table."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from evalsi import Context, Record, Score, evaluator
from evalsi_ragas.row import Row

if TYPE_CHECKING:
    from evalsi_ragas.scoring import Scorer


class RagasEvaluator:
    """Base class of the evaluators; each row has its own subclass."""

    _scorer: Scorer

    async def score(self, record: Record, ctx: Context) -> Score:
        """Return the score of a record."""
        return await self._scorer.score(record, ctx)


def evaluator_of(row: Row) -> type[RagasEvaluator]:
    """Return the evaluator class of a row."""
    name = "".join(part.capitalize() for part in row.name.split("-"))
    made = type(name, (RagasEvaluator,), {"__doc__": row.summary, "__module__": __name__, "__init__": _opening(row)})
    return evaluator(name=row.name, version=row.version, needs=row.needs, asks=row.asks, outputs=[row.output])(made)


def _opening(row: Row) -> Any:
    """Return a constructor that takes the row's params; the SDK reads them from its signature."""

    def opening(self: RagasEvaluator, **params: Any) -> None:
        # Imported late: RAGAS takes a second and 120 MB, which starting the pack and building the catalog do not need.
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
