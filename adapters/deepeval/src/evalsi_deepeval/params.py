"""The params that evaluators of this pack take: their types, defaults and what they mean. Names are DeepEval's own."""

from __future__ import annotations

from inspect import Parameter
from typing import Annotated, Any, Literal, NamedTuple

from evalsi import Param

REQUIRED = Parameter.empty

CASE_FIELDS = Literal[
    "input",
    "actual_output",
    "expected_output",
    "context",
    "retrieval_context",
    "tools_called",
    "expected_tools",
    "metadata",
    "tags",
]
TURN_FIELDS = Literal[
    "content", "role", "retrieval_context", "tools_called", "scenario", "expected_outcome", "metadata", "tags"
]
CALL_FIELDS = Literal["input_parameters", "output"]


class Setting(NamedTuple):
    """One param.

    Args:
        name: DeepEval's own, where DeepEval has it.
        type: as annotated in a signature.
        default: `REQUIRED` where there is none.
    """

    name: str
    type: Any
    default: Any = REQUIRED


def described(kind: Any, description: str, *, minimum: float | None = None, min_length: int | None = None) -> Any:
    """A type with what a catalog says of it."""
    return Annotated[kind, Param(description=description, minimum=minimum, min_length=min_length)]


def texts(name: str, description: str) -> Setting:
    """A required list of texts, of one at least."""
    return Setting(name, described(list[str], description, min_length=1))


def text(name: str, description: str) -> Setting:
    """A required text that says something."""
    return Setting(name, described(str, description, min_length=1))


def switch(name: str, description: str, default: bool = False) -> Setting:
    """True or false."""
    return Setting(name, described(bool, description), default)


def window(size: int) -> Setting:
    """How many exchanges one verdict sees."""
    return Setting("window_size", described(int, "so many exchanges are judged together", minimum=1), size)


def fields(kinds: Any, default: tuple[str, ...]) -> Setting:
    """Which parts of the case the judge is shown."""
    about = "what the judge is shown; a record that lacks one of these is skipped"
    return Setting("evaluation_params", described(list[kinds], about, min_length=1), default)


THRESHOLD = Setting(
    "threshold",
    Annotated[float | None, Param(description="also say whether the score is at least this", minimum=0, maximum=1)],
    None,
)
STRICT = switch("strict_mode", "a score below 1 becomes 0, and to pass is to score 1")
REASON = switch("include_reason", "ask the judge for the reason too, where that is a question of its own", True)
COMMON = (THRESHOLD, STRICT, REASON)

CRITERIA = Setting("criteria", described(str | None, "what to judge by; the judge makes the steps of it"), None)
ANSWER = Setting(
    "criteria",
    described(str | None, "what to judge by; the judge makes the steps of it"),
    # DeepEval has none; who names the metric alone is given what it is most often asked for.
    "Determine whether the actual output answers the input correctly, completely and clearly.",
)
STEPS = Setting("evaluation_steps", described(list[str] | None, "the steps to judge by, instead of criteria"), None)
RUBRIC = Setting(
    "rubric",
    described(
        list[dict[str, Any]] | None,
        "what grades mean: tables of score_range, two whole numbers from 0 to 10, and expected_outcome",
    ),
    None,
)
DAG = Setting(
    "dag",
    described(
        dict[str, Any],
        "the graph as DeepEval writes it with to_dict: nodes by id; a verdict's child is a node or a geval",
    ),
)
TRUTHS_LIMIT = Setting(
    "truths_extraction_limit",
    described(int | None, "take so many facts from what the output rests on", minimum=0),
    None,
)
PENALIZE_AMBIGUOUS = switch("penalize_ambiguous_claims", "a claim that is neither supported nor denied counts against")
AVAILABLE_TOOLS = "the tools that there were: names, or tables of name, description and input_parameters"
CHATBOT_ROLE = Setting(
    "chatbot_role",
    described(str | None, "the role that the assistant has; else metadata.chatbot_role of each record"),
    None,
)
