"""Use the harness' filters as params: list them, check them and build a pipeline from JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from evalsi import Param, ParamError, Record
from evalsi_lm_eval.harness import harness


class FilterRow(NamedTuple):
    """A filter of the harness.

    Args:
        name: the harness' name.
        takes: description of its params.
        why_not: why it cannot be used here; "" if it can.
    """

    name: str
    takes: str = ""
    why_not: str = ""


FILTERS = (
    FilterRow("regex", "`regex_pattern`, `group_select`, `fallback`"),
    FilterRow(
        "multi_choice_regex",
        "`regex_pattern`, `group_select`, `fallback`, `ignore_case`, `ignore_punctuation`, `regexes_to_ignore`; the "
        "choices are those of `metadata.choices`",
    ),
    FilterRow("remove_whitespace"),
    FilterRow("lowercase"),
    FilterRow("uppercase"),
    FilterRow("map", "`mapping_dict`, `default_value`"),
    FilterRow("format_span"),
    FilterRow("take_first", "ends every pipeline; added where it is left out"),
    FilterRow("take_first_k", "`k`, of `metadata.responses`"),
    FilterRow("majority_vote", "of `metadata.responses`"),
    FilterRow("regex_pos", "", "gives lists of tags, which only a task's own code takes: use `lm-eval/task`"),
    FilterRow("custom", "", "is a function of Python, which no param can hold: use `lm-eval/task` with a YAML file"),
    FilterRow("decontaminate", "", "is unfinished in the harness: it gives nothing back, and is not registered"),
)

Filters = Annotated[
    Sequence[dict[str, Any]],
    Param(description='applied in order, as in a task: {"function": "regex", "regex_pattern": "…"}'),
]
TAKE_FIRST = "take_first"


def pipeline(filters: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the `filter_list` of a config, after creating each filter once to check its params.

    Raises:
        ParamError: a filter is unknown, cannot be used here, or rejects its params.
    """
    usable = {row.name: row for row in FILTERS}
    for given in filters:
        name = given.get("function")
        row = usable.get(name) if isinstance(name, str) else None
        if row is None:
            known = ", ".join(row.name for row in FILTERS if not row.why_not)
            raise ParamError("filters", f"there is no filter {name!r}; there are {known}")
        if row.why_not:
            raise ParamError("filters", f"{row.name} {row.why_not}")
        try:
            harness().filters[row.name](**{key: value for key, value in given.items() if key != "function"})
        except Exception as error:
            raise ParamError("filters", f"{row.name} refuses its params: {error}") from error
    steps = [dict(given) for given in filters]
    if any(step["function"] == TAKE_FIRST for step in steps[:-1]):
        raise ParamError("filters", f"what follows {TAKE_FIRST} would be given single letters; put it last")
    if not steps or steps[-1]["function"] != TAKE_FIRST:
        steps.append({"function": TAKE_FIRST})
    return [{"name": "none", "filter": steps}]


def responses_of(record: Record) -> list[str]:
    """Return the model's responses to the input: `metadata.responses` if it was asked repeatedly, else the output."""
    responses = record.metadata.get("responses")
    if isinstance(responses, list) and responses and all(isinstance(one, str) for one in responses):
        return responses
    return [record.output_text]
