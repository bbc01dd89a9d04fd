"""The metrics of DeepEval that score a conversation, one row each; and those that have no row, each with its reason."""

from __future__ import annotations

from typing import Any

from evalsi_deepeval import params
from evalsi_deepeval.metrics import AT_LEAST_ONE, OUTPUTS, Metric
from evalsi_deepeval.params import COMMON, STRICT, THRESHOLD, Setting, described, texts, window

_SAID = ("output",)


def _of(name: str, framework_class: str, summary: str, *, needs: tuple[str, ...] = _SAID, **more: Any) -> Metric:
    return Metric(name, framework_class, summary, needs, shape="conversation", **more)


CONVERSATIONS = (
    _of(
        "knowledge-retention",
        "KnowledgeRetentionMetric",
        "Share of the assistant's turns that forget nothing that the user said before.",
    ),
    _of(
        "conversation-completeness",
        "ConversationCompletenessMetric",
        "Share of the user's intentions that the conversation meets.",
        params=(*COMMON, window(3)),
    ),
    _of(
        "turn-relevancy",
        "TurnRelevancyMetric",
        "Share of the assistant's turns that are relevant to what went before.",
        params=(*COMMON, window(10)),
    ),
    _of(
        "role-adherence",
        "RoleAdherenceMetric",
        "Share of the turns in which the assistant keeps to its role.",
        params=(params.CHATBOT_ROLE, *COMMON),
    ),
    _of(
        "turn-faithfulness",
        "TurnFaithfulnessMetric",
        "Mean share of the claims of the assistant's turns that their context does not contradict.",
        params=(*COMMON, window(10), params.TRUTHS_LIMIT, params.PENALIZE_AMBIGUOUS),
        waits=True,
        verdicts_for=AT_LEAST_ONE,
        extras=("retrieval_context",),
    ),
    _of(
        "turn-contextual-precision",
        "TurnContextualPrecisionMetric",
        "Mean weighted precision of the chunks of the turns' context, by what the reference needs.",
        needs=("output", "reference"),
        params=(*COMMON, window(10)),
        verdicts_for=AT_LEAST_ONE,
        extras=("retrieval_context",),
    ),
    _of(
        "turn-contextual-recall",
        "TurnContextualRecallMetric",
        "Mean share of the reference's sentences that the turns' context supports.",
        needs=("output", "reference"),
        params=(*COMMON, window(10)),
        verdicts_for=AT_LEAST_ONE,
        extras=("retrieval_context",),
    ),
    _of(
        "turn-contextual-relevancy",
        "TurnContextualRelevancyMetric",
        "Mean share of the statements of the turns' context that are relevant to the user's messages.",
        params=(*COMMON, window(10)),
        verdicts_for=AT_LEAST_ONE,
        extras=("retrieval_context",),
    ),
    _of(
        "conversational-g-eval",
        "ConversationalGEval",
        "The judge's grade of a conversation by criteria or steps of your own, on 0 to 1.",
        params=(
            params.CRITERIA,
            params.STEPS,
            params.fields(params.TURN_FIELDS, ("content", "role")),
            params.RUBRIC,
            THRESHOLD,
            STRICT,
        ),
        fixed=("model", "name"),
    ),
    _of(
        "conversational-dag",
        "ConversationalDAGMetric",
        "The score at the end of a decision graph of your own over a conversation.",
        params=(params.DAG, *COMMON),
        fixed=("model", "name"),
    ),
    _of(
        "goal-accuracy",
        "GoalAccuracyMetric",
        "How far the user's goals were reached, and how good the plan for them was.",
        params=(THRESHOLD, STRICT),
    ),
    _of(
        "topic-adherence",
        "TopicAdherenceMetric",
        "Share of the questions that were rightly answered or rightly refused, by their topic.",
        params=(texts("relevant_topics", "the topics that the assistant may speak of"), *COMMON),
    ),
    _of(
        "tool-use",
        "ToolUseMetric",
        "How well tools were chosen and called in a conversation.",
        params=(
            Setting("available_tools", described(list[str | dict[str, Any]], params.AVAILABLE_TOOLS, min_length=1)),
            THRESHOLD,
            STRICT,
        ),
    ),
    _of(
        "mcp-task-completion",
        "MCPTaskCompletionMetric",
        "How far the tasks were done with the tools of MCP servers.",
        needs=("output", "metadata.mcp_servers"),
        waits=True,
    ),
    _of(
        "multi-turn-mcp-use",
        "MultiTurnMCPUseMetric",
        "How well the tools of MCP servers were chosen and called in a conversation.",
        needs=("output", "metadata.mcp_servers"),
        waits=True,
    ),
)

METRICS: tuple[Metric, ...] = (*OUTPUTS, *CONVERSATIONS)

_VENDOR = "asks the model of a vendor's service over the network, which a pack does not"
_SOUND = "scores sound, which records do not hold"
_PICTURES = "scores pictures, which records do not hold"
LEFT_OUT: dict[str, str] = {
    "JevEval": _VENDOR,
    "ConversationalJevEval": _VENDOR,
    "TranscriptionAccuracyMetric": "compares transcripts that only voice connectors write",
    **dict.fromkeys(
        (
            "AudioGlitchMetric",
            "AgentResponsivenessMetric",
            "AudioIntegrityMetric",
            "SpeechIntelligibilityMetric",
            "TurnTakingNaturalnessMetric",
            "VoiceConsistencyMetric",
            "VoiceNaturalnessMetric",
            "VoiceReliabilityMetric",
        ),
        _SOUND,
    ),
    **dict.fromkeys(
        (
            "TextToImageMetric",
            "ImageEditingMetric",
            "ImageCoherenceMetric",
            "ImageHelpfulnessMetric",
            "ImageReferenceMetric",
        ),
        _PICTURES,
    ),
}
NO_METRICS = (
    "BaseMetric",
    "BaseConversationalMetric",
    "BaseArenaMetric",
    "Verdict",
    "GEvalTemplate",
    "DeepAcyclicGraph",
)
