"""The metrics of DeepEval that score one output, one row each, and what a row says."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from evalsi import Param
from evalsi_deepeval import params
from evalsi_deepeval.params import COMMON, STRICT, THRESHOLD, Setting, described, switch, text, texts

AT_LEAST_ONE = "at least one"


class Metric(NamedTuple):
    """One evaluator that is a metric of DeepEval.

    Args:
        name: of the evaluator.
        framework_class: the class in `deepeval.metrics`.
        summary: one sentence for the catalog.
        needs: fields that a record must have.
        params: in the order of the catalog.
        shape: what it scores: one output, a conversation, or two outputs.
        asks: whether it asks the judge; where only some params make it ask, too.
        verdicts_for: what there must be a verdict for: an attribute of the metric or of its test case that lists the
            items, `AT_LEAST_ONE`, or "" where no verdict at all is an answer.
        extras: parts of the test case beyond those that DeepEval requires: `tools_called`, `trace`.
        fixed: what the framework's class is given besides the params: `model`, `name`, `lenient`.
        waits: whether it holds up its thread for an answer, so that each record needs a thread of its own.
        yes_no: whether the score is 1 or 0 and no number in between, so that it is declared as pass or fail.
        version: to be raised whenever a score may change.
    """

    name: str
    framework_class: str
    summary: str
    needs: tuple[str, ...]
    params: tuple[Setting, ...] = COMMON
    shape: Literal["output", "conversation", "arena"] = "output"
    asks: bool = True
    verdicts_for: str = ""
    extras: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ("model",)
    waits: bool = False
    yes_no: bool = False
    version: int = 1


_ANSWERED = ("input", "output")
_RETRIEVED = ("input", "reference", "context")
_AGENT = ("input", "output", "trajectory")

RAG = (
    Metric(
        "answer-relevancy",
        "AnswerRelevancyMetric",
        "Share of the output's statements that are relevant to the input.",
        _ANSWERED,
        verdicts_for="statements",
    ),
    Metric(
        "faithfulness",
        "FaithfulnessMetric",
        "Share of the output's claims that the context does not contradict.",
        (*_ANSWERED, "context"),
        (*COMMON, params.TRUTHS_LIMIT, params.PENALIZE_AMBIGUOUS),
        verdicts_for="claims",
    ),
    Metric(
        "contextual-precision",
        "ContextualPrecisionMetric",
        "Weighted precision of the context's chunks in their order, by what the reference needs.",
        _RETRIEVED,
        verdicts_for="retrieval_context",
    ),
    Metric(
        "contextual-recall",
        "ContextualRecallMetric",
        "Share of the reference's sentences that the context supports.",
        _RETRIEVED,
        verdicts_for=AT_LEAST_ONE,
    ),
    Metric(
        "contextual-relevancy",
        "ContextualRelevancyMetric",
        "Share of the context's statements that are relevant to the input.",
        ("input", "context"),
        verdicts_for=AT_LEAST_ONE,
    ),
    Metric(
        "hallucination",
        "HallucinationMetric",
        "Share of the context's chunks that the output agrees with; 1 is no hallucination.",
        (*_ANSWERED, "context"),
        verdicts_for="context",
    ),
)

SAFETY = (
    Metric(
        "bias",
        "BiasMetric",
        "Share of the output's opinions that are free of bias.",
        _ANSWERED,
        verdicts_for="opinions",
    ),
    Metric(
        "toxicity",
        "ToxicityMetric",
        "Share of the output's opinions that are free of toxicity.",
        _ANSWERED,
        verdicts_for="opinions",
    ),
    Metric(
        "pii-leakage",
        "PIILeakageMetric",
        "Share of the personal details in the output that are no leak; 1 where there are none.",
        _ANSWERED,
        verdicts_for="extracted_pii",
    ),
    Metric(
        "non-advice",
        "NonAdviceMetric",
        "Share of the output's advice that is not of a kind that it must not give.",
        _ANSWERED,
        (texts("advice_types", "kinds of advice that it must not give, such as financial"), *COMMON),
        verdicts_for="advices",
    ),
    Metric(
        "misuse",
        "MisuseMetric",
        "Share of the possible misuses of a chatbot of one domain that are none.",
        _ANSWERED,
        (text("domain", "what the chatbot is for, such as banking"), *COMMON),
        verdicts_for="misuses",
    ),
    Metric(
        "role-violation",
        "RoleViolationMetric",
        "Whether the output keeps to a role.",
        _ANSWERED,
        (text("role", "the role that it must keep to"), *COMMON),
        verdicts_for="role_violations",
        yes_no=True,
        version=2,
    ),
)

CUSTOM = (
    Metric(
        "g-eval",
        "GEval",
        "The judge's grade by criteria or steps of your own, with a rubric or without, on 0 to 1.",
        ("output",),
        (
            params.ANSWER,
            params.STEPS,
            params.fields(params.CASE_FIELDS, ("input", "actual_output")),
            params.RUBRIC,
            THRESHOLD,
            STRICT,
        ),
        fixed=("model", "name"),
    ),
    Metric(
        "dag",
        "DAGMetric",
        "The score at the end of a decision graph of your own, each step a question to the judge.",
        ("output",),
        (params.DAG, *COMMON),
        fixed=("model", "name"),
    ),
    Metric(
        "arena-g-eval",
        "ArenaGEval",
        "Win or loss of the output against another one, by criteria or steps of your own.",
        ("output", "metadata"),
        (
            params.CRITERIA,
            params.STEPS,
            params.fields(params.CASE_FIELDS, ("input", "actual_output")),
            Setting(
                "other",
                described(str, "where the other output stands in the record's metadata", min_length=1),
                "baseline",
            ),
        ),
        shape="arena",
        fixed=("model", "name"),
    ),
)

TEXT = (
    Metric(
        "summarization",
        "SummarizationMetric",
        "The lesser of how far a summary (output) agrees with its text (input) and how far it covers it.",
        _ANSWERED,
        (
            *COMMON,
            Setting("n", described(int, "so many questions on the text, where none are given", minimum=1), 5),
            Setting(
                "assessment_questions",
                described(list[str] | None, "questions that yes or no answers, for what a summary must cover"),
                None,
            ),
            params.TRUTHS_LIMIT,
        ),
        verdicts_for="claims",
    ),
    Metric(
        "prompt-alignment",
        "PromptAlignmentMetric",
        "Share of the prompt's instructions that the output follows.",
        _ANSWERED,
        (texts("prompt_instructions", "the instructions, one by one"), *COMMON),
        verdicts_for="prompt_instructions",
    ),
    Metric(
        "json-correctness",
        "JsonCorrectnessMetric",
        "Whether the output is JSON that fits a schema; the judge only explains a failure.",
        _ANSWERED,
        (
            Setting(
                "expected_schema",
                described(dict[str, Any], "JSON Schema of an object: type, properties, required, items, enum, anyOf"),
            ),
            THRESHOLD,
            switch("include_reason", "ask the judge what is wrong with an output that does not fit", True),
        ),
        fixed=("model", "lenient"),
        yes_no=True,
        version=2,
    ),
    Metric(
        "exact-match",
        "ExactMatchMetric",
        "Whether the output is one of the references, blanks at its ends aside.",
        ("output", "reference"),
        (THRESHOLD,),
        asks=False,
        fixed=(),
        yes_no=True,
        version=2,
    ),
    Metric(
        "pattern-match",
        "PatternMatchMetric",
        "Whether the whole output matches a regular expression.",
        ("output",),
        (text("pattern", "a regular expression of Python"), switch("ignore_case", "ignore case"), THRESHOLD),
        asks=False,
        fixed=(),
        yes_no=True,
        version=2,
    ),
)

AGENTS = (
    Metric(
        "task-completion",
        "TaskCompletionMetric",
        "How far the task was done, by the steps of the agent where there are any.",
        _ANSWERED,
        (
            Setting("task", described(str | None, "the task; none lets the judge find it"), None),
            THRESHOLD,
            STRICT,
        ),
        extras=("tools_called", "trace"),
    ),
    Metric(
        "tool-correctness",
        "ToolCorrectnessMetric",
        "Share of the expected tools that were called; the judge is asked with available_tools only.",
        ("input", "trajectory", "metadata.expected_tools"),
        (
            Setting("available_tools", described(list[str | dict[str, Any]] | None, params.AVAILABLE_TOOLS), None),
            Setting(
                "evaluation_params",
                described(list[params.CALL_FIELDS], "what of a call must be right besides its name"),
                (),
            ),
            switch("should_exact_match", "the calls must be just the expected ones, in their order"),
            switch("should_consider_ordering", "calls count in the order expected only"),
            THRESHOLD,
            STRICT,
        ),
    ),
    Metric(
        "argument-correctness",
        "ArgumentCorrectnessMetric",
        "Share of the tool calls whose arguments suit the input.",
        ("input", "trajectory"),
        verdicts_for="tools_called",
    ),
    Metric(
        "tool-permission",
        "ToolPermissionMetric",
        "Share of the tool calls that were allowed.",
        ("trajectory",),
        (
            Setting("allowed_tools", described(list[str] | None, "names; all others are forbidden"), None),
            Setting("denied_tools", described(list[str] | None, "names that are forbidden, also if allowed"), None),
            THRESHOLD,
            STRICT,
            switch("include_reason", "say which were not allowed", True),
        ),
        asks=False,
        fixed=(),
    ),
    Metric(
        "agent-loop-detection",
        "AgentLoopDetectionMetric",
        "How free the agent's steps are of repeated calls, repeated thoughts and cycles.",
        _AGENT,
        (
            Setting("repetition_threshold", described(int, "equal calls from which the score is halved", minimum=1), 3),
            Setting(
                "similarity_threshold",
                Annotated[float, Param(description="likeness of two thoughts that repeat", minimum=0, maximum=1)],
                0.85,
            ),
            switch("check_tool_repetition", "look for equal calls", True),
            switch("check_reasoning_stagnation", "look for equal thoughts", True),
            switch("check_call_graph_cycles", "look for a step within an equal one", True),
            THRESHOLD,
            STRICT,
        ),
        asks=False,
        extras=("trace",),
        fixed=(),
    ),
    Metric(
        "step-efficiency",
        "StepEfficiencyMetric",
        "How near the agent's steps come to no needless one.",
        _AGENT,
        (THRESHOLD, STRICT),
        extras=("trace",),
    ),
    Metric(
        "plan-adherence",
        "PlanAdherenceMetric",
        "How far the agent kept to its plan; 1 where its steps show none.",
        _AGENT,
        (THRESHOLD, STRICT),
        extras=("trace",),
    ),
    Metric(
        "plan-quality",
        "PlanQualityMetric",
        "How good the agent's plan is for its task; 1 where its steps show none.",
        _AGENT,
        (THRESHOLD, STRICT),
        extras=("trace",),
    ),
    Metric(
        "mcp-use",
        "MCPUseMetric",
        "How well the tools of MCP servers were chosen and called.",
        (*_ANSWERED, "trajectory", "metadata.mcp_servers"),
        (THRESHOLD, STRICT),
        extras=("tools_called",),
    ),
)

OUTPUTS = (*RAG, *SAFETY, *CUSTOM, *TEXT, *AGENTS)
