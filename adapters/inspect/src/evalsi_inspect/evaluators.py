"""From a row of the table to an evaluator: a class whose constructor has the row's params.

It must not import Inspect: the catalog's tables are written from here.
"""

from __future__ import annotations

import re
from importlib import import_module
from inspect import Parameter, Signature
from typing import Any, ClassVar

from evalsi import Context, Output, ParamError, Record, Score, evaluator
from evalsi_inspect.table import ScorerRow


class InspectScorer:
    """One of Inspect's scorers with its params."""

    row: ClassVar[ScorerRow]

    def __init__(self, **params: Any) -> None:
        _check(params)
        self._params = params
        self._runner: Any = None

    async def score(self, record: Record, ctx: Context) -> Score:
        """Inspect's verdict as a number; raises what Inspect raises, and `NoGrade` where it has no verdict."""
        if self._runner is None:
            # 1.2 s that neither hello nor the catalog need wait for.
            self._runner = import_module("evalsi_inspect.scoring").Runner(self.row, self._params)
        score: Score = await self._runner.score(record, ctx)
        return score


_OUTPUTS: dict[str, list[Output]] = {
    "pass": [Output(kind="pass")],
    "number": [Output(minimum=0.0, maximum=1.0)],
    # Not declared, since pass or fail and a number are different kinds: the first score says which it is.
    "by params": [],
}


def evaluator_of(row: ScorerRow) -> type[InspectScorer]:
    """The evaluator of a row."""

    def __init__(self: InspectScorer, **params: Any) -> None:
        InspectScorer.__init__(self, **params)

    keywords = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=param.default, annotation=param.type)
        for name, param in row.params.items()
    ]
    __init__.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter("self", Parameter.POSITIONAL_ONLY), *keywords]
    )
    made = type(f"Inspect_{row.scorer}", (InspectScorer,), {"row": row, "__init__": __init__, "__doc__": row.summary})
    attach = evaluator(
        name=row.name,
        version=row.version,
        needs=row.needs,
        asks=("judge",) if row.asks_judge else (),
        outputs=_OUTPUTS[row.verdict],
    )
    return attach(made)


def _check(params: dict[str, Any]) -> None:
    for name in ("pattern", "grade_pattern"):
        pattern = params.get(name)
        if pattern is not None:
            try:
                groups = re.compile(pattern).groups
            except re.error as error:
                raise ParamError(name, f"{pattern!r} is no regular expression: {error}.") from error
            if name == "grade_pattern" and groups != 1:
                raise ParamError(name, f"{pattern!r} has {groups} groups. Put one around the grade, and no other.")
    template = params.get("template")
    # Inspect would also take the path or the address of a file, which is not for a pack to open.
    if template is not None and "{answer}" not in template:
        raise ParamError("template", "there is no {answer} in it. Write the prompt itself, and {answer} where it goes.")
