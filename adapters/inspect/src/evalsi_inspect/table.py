"""Table of Inspect's scorers: those that are evaluators, with names and params, and why the others are not."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter
from typing import Annotated, Any, Literal, NamedTuple

from evalsi import Param

REQUIRED = Parameter.empty


class ParamRow(NamedTuple):
    """Type of a param, with its description for the catalog, and its default."""

    type: Any
    default: Any = REQUIRED


class ScorerRow(NamedTuple):
    """A scorer of Inspect as an evaluator.

    Args:
        name: name in `--evaluators`, after `inspect/`.
        scorer: its name in `inspect_ai.scorer`.
        summary: one line for the catalog.
        params: params of the scorer that JSON can express, under their own names.
        needs: fields that a record must have.
        asks_judge: whether it grades with a model.
        verdict: a number, pass or fail, or either depending on the params.
        version: increased whenever a score may change.
    """

    name: str
    scorer: str
    summary: str
    params: Mapping[str, ParamRow] = {}
    needs: tuple[str, ...] = ("output", "reference")
    asks_judge: bool = False
    verdict: Literal["pass", "number", "by params"] = "pass"
    version: int = 2


_IGNORE_CASE = ParamRow(Annotated[bool, Param(description="whether capitals and small letters are the same")], True)
_GRADING: dict[str, ParamRow] = {
    "template": ParamRow(
        Annotated[
            str | None,
            Param(description="the whole prompt, with {question}, {answer}, {criterion} and {instructions} in it"),
        ],
        None,
    ),
    "instructions": ParamRow(
        Annotated[str | None, Param(description="how to grade; they must ask for what grade_pattern finds")], None
    ),
    "grade_pattern": ParamRow(
        Annotated[str | None, Param(description="finds the grade (C, P or I) in the reply, as its only group")], None
    ),
    "include_history": ParamRow(
        Annotated[bool, Param(description="show the whole conversation and not the input alone")], False
    ),
    "partial_credit": ParamRow(Annotated[bool, Param(description="offer the grade P, a half")], False),
}

SCORERS = (
    ScorerRow(
        "match",
        "match",
        "Whether the output ends (or begins, …) with the reference; with numeric, whether the numbers are equal.",
        {
            "location": ParamRow(
                Annotated[
                    Literal["begin", "end", "any", "exact"], Param(description="where in the output it must stand")
                ],
                "end",
            ),
            "ignore_case": _IGNORE_CASE,
            "numeric": ParamRow(Annotated[bool, Param(description="compare as numbers, to five digits")], False),
        },
    ),
    ScorerRow("includes", "includes", "Whether the reference stands in the output.", {"ignore_case": _IGNORE_CASE}),
    ScorerRow(
        "pattern",
        "pattern",
        "Whether what a pattern finds in the output is the reference.",
        {
            "pattern": ParamRow(Annotated[str, Param(description="a regular expression of Python's", min_length=1)]),
            "ignore_case": _IGNORE_CASE,
            "match_all": ParamRow(
                Annotated[bool, Param(description="every group must be the reference, not one")], False
            ),
        },
    ),
    ScorerRow(
        "answer",
        "answer",
        'Whether what follows "ANSWER:" in the output is the reference.',
        {
            "pattern": ParamRow(
                Annotated[Literal["letter", "word", "line"], Param(description="how much after it is the answer")]
            )
        },
    ),
    ScorerRow(
        "choice",
        "choice",
        'Whether the letters after "ANSWER:" are the reference; the choices stand in metadata.choices.',
        {
            "multiple_correct": ParamRow(
                Annotated[bool, Param(description="whether several letters may be right together")], False
            )
        },
        ("output", "reference", "metadata.choices"),
    ),
    ScorerRow("exact", "exact", "Whether output and reference are equal once case, punctuation and articles are gone."),
    ScorerRow(
        "f1",
        "f1",
        "F1 of the words of output and reference, to two digits; of several references the best.",
        {"stop_words": ParamRow(Annotated[list[str] | None, Param(description="words that do not count")], None)},
        verdict="number",
        version=1,
    ),
    ScorerRow(
        "math",
        "math",
        "Whether the final answer of the output and the reference are the same mathematical expression.",
        {
            "timeout": ParamRow(
                Annotated[float, Param(description="seconds for the reading of an expression", minimum=0.01)], 2.0
            )
        },
    ),
    ScorerRow(
        "model-graded-qa",
        "model_graded_qa",
        "The judge's grade (C, P, I) of the output by the criterion in the reference.",
        _GRADING,
        ("input", "output", "reference"),
        asks_judge=True,
        verdict="by params",
    ),
    ScorerRow(
        "model-graded-fact",
        "model_graded_fact",
        "The judge's grade (C, P, I) of whether the output holds the facts of the reference.",
        _GRADING,
        ("input", "output", "reference"),
        asks_judge=True,
        verdict="by params",
    ),
)

NOT_OFFERED = {
    "cascade": "runs other scorers; name several evaluators, all of which are run",
    "multi_scorer": "runs other scorers; name several evaluators, or one under several names",
    "perplexity": "reads the log-probabilities of a prompt, which no record holds",
    "target_perplexity": "reads the log-probabilities of a prompt, which no record holds",
    "precomputed_scores": "reads scores from a file; join them to the data instead",
}
"""What Inspect exports beside `SCORERS`, and why it is no evaluator."""
