"""Build an evaluator class from a row of the table.

Do not import Inspect here: building the catalog imports this module.
"""

from __future__ import annotations

import re
from importlib import import_module
from inspect import Parameter, Signature
from typing import Any, ClassVar

from evalsi import Context, Output, ParamError, Record, Score, evaluator
from evalsi_inspect.table import ScorerRow


class InspectScorer:
    """Base class of the evaluators: a scorer of Inspect with its params."""

    row: ClassVar[ScorerRow]

    def __init__(self, **params: Any) -> None:
        _check(params)
        self._params = params
        self._runner: Any = None

    async def score(self, record: Record, ctx: Context) -> Score:
        """Return Inspect's verdict as a score.

        Raises:
            NoGrade: Inspect gave no verdict.
            Exception: any error of the scorer.
        """
        if self._runner is None:
            # Imported late: Inspect takes 1.2 s, which starting the pack and building the catalog do not need.
            self._runner = import_module("evalsi_inspect.scoring").Runner(self.row, self._params)
        score: Score = await self._runner.score(record, ctx)
        return score


_OUTPUTS: dict[str, list[Output]] = {
    "pass": [Output(kind="pass")],
    "number": [Output(minimum=0.0, maximum=1.0)],
    # Not declared: it is pass or fail, or a number, depending on the params. The first score decides.
    "by params": [],
}


def evaluator_of(row: ScorerRow) -> type[InspectScorer]:
    """Return the evaluator class of a row."""

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
    # Inspect would also accept the path or URL of a file, which a pack may not open.
    if template is not None and "{answer}" not in template:
        raise ParamError("template", "there is no {answer} in it. Write the prompt itself, and {answer} where it goes.")
