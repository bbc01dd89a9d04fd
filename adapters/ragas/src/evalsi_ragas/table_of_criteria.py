"""Metrics that judge by the user's own rubrics, aspects, criteria or prompts.

Sources: the classes of these names in RAGAS 0.4.3, `ragas.metrics.collections` and `ragas.metrics`.
"""

from __future__ import annotations

from typing import Annotated

from evalsi import Output, Param
from evalsi_ragas.row import YES_NO, Row, Setting

_ANYTHING = ("user_input", "retrieved_contexts", "reference_contexts", "reference")
_RUBRIC = Output(minimum=1.0, maximum=5.0)
_DEFINITION = "the criterion in your own words"
_ASPECT = Setting(
    "definition",
    Annotated[
        str,
        Param(
            "the aspect as a question, or harmfulness, maliciousness, coherence, correctness or conciseness",
            min_length=1,
        ),
    ],
)
_CRITERION = Setting("definition", Annotated[str, Param(_DEFINITION, min_length=1)])
_PROMPT = Setting(
    "prompt",
    Annotated[
        str,
        Param(
            "with places such as {response}, {user_input}, {reference}, {retrieved_contexts}, {reference_contexts}",
            min_length=1,
        ),
    ],
)
_RUBRICS = Setting(
    "rubrics",
    Annotated[dict[str, str] | None, Param("score1_description to score5_description; without them RAGAS' own")],
    None,
)

CRITERIA_ROWS = (
    Row(
        "domain-specific-rubrics",
        "DomainSpecificRubrics",
        "The judge's grade from 1 to 5 by a rubric for all records, without looking at a reference.",
        ("response",),
        ("user_input", "retrieved_contexts", "reference_contexts"),
        output=_RUBRIC,
        settings=(_RUBRICS,),
    ),
    Row(
        "domain-specific-rubrics-with-reference",
        "RubricsScoreWithReference",
        "The judge's grade from 1 to 5 by a rubric for all records, against the reference.",
        ("response", "reference"),
        ("user_input", "retrieved_contexts", "reference_contexts"),
        output=_RUBRIC,
        settings=(_RUBRICS,),
    ),
    Row(
        "instance-specific-rubrics",
        "InstanceSpecificRubrics",
        "The judge's grade from 1 to 5 by the record's own rubric.",
        ("response", "rubrics"),
        _ANYTHING,
        output=_RUBRIC,
    ),
    Row(
        "aspect-critic",
        ".AspectCritic",
        "1 when the judge says yes to an aspect of the output, else 0.",
        ("response",),
        _ANYTHING,
        settings=(_ASPECT,),
        fixed={"name": "aspect_critic"},
        way="sample",
        output=YES_NO,
        version=2,
    ),
    Row(
        "aspect-critic-of-conversation",
        ".AspectCritic",
        "1 when the judge says yes to an aspect of the whole conversation, else 0.",
        ("conversation",),
        settings=(_ASPECT,),
        fixed={"name": "aspect_critic"},
        way="dialogue",
        output=YES_NO,
        version=2,
    ),
    Row(
        "simple-criteria",
        ".SimpleCriteriaScore",
        "The judge's whole number for the output by a criterion, on the scale that the criterion names.",
        ("response",),
        ("user_input", "retrieved_contexts", "reference"),
        output=Output(),
        settings=(_CRITERION,),
        fixed={"name": "simple_criteria"},
        way="sample",
    ),
    Row(
        "simple-criteria-of-conversation",
        ".SimpleCriteriaScore",
        "The judge's whole number for the whole conversation by a criterion, on the scale that the criterion names.",
        ("conversation",),
        ("reference",),
        output=Output(),
        settings=(_CRITERION,),
        fixed={"name": "simple_criteria"},
        way="dialogue",
    ),
    Row(
        "discrete-metric",
        ".DiscreteMetric",
        "The word that the judge chooses for your own prompt.",
        ("response",),
        _ANYTHING,
        output=Output(kind="label"),
        settings=(
            _PROMPT,
            Setting(
                "allowed_values",
                Annotated[list[str], Param("the words that it may choose from", min_length=2)],
                ("pass", "fail"),
            ),
        ),
        fixed={"name": "discrete_metric"},
        way="prompt",
    ),
    Row(
        "numeric-metric",
        ".NumericMetric",
        "The number that the judge gives for your own prompt.",
        ("response",),
        _ANYTHING,
        output=Output(),
        settings=(
            _PROMPT,
            Setting("minimum", Annotated[float, Param("the least number that it may give")], 0.0),
            Setting("maximum", Annotated[float, Param("the greatest number that it may give")], 1.0),
        ),
        fixed={"name": "numeric_metric"},
        way="prompt",
    ),
)
