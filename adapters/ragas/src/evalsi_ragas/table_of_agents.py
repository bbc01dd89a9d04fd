"""Metrics of conversations: goals reached, tools called, topics kept to.

Sources: the classes of these names in RAGAS 0.4.3, `ragas.metrics.collections`.
"""

from __future__ import annotations

from typing import Annotated

from evalsi import Param
from evalsi_ragas.row import YES_NO, Row, Setting, choice

_CALLS = ("conversation", "reference_tool_calls")

AGENT_ROWS = (
    Row(
        "agent-goal-accuracy",
        "AgentGoalAccuracyWithReference",
        "1 when the judge finds that the conversation ended where the reference says, else 0.",
        ("conversation", "reference"),
        output=YES_NO,
        version=2,
    ),
    Row(
        "agent-goal-accuracy-without-reference",
        "AgentGoalAccuracyWithoutReference",
        "1 when the judge finds that the conversation reached what its user wanted, else 0.",
        ("conversation",),
        output=YES_NO,
        version=2,
    ),
    Row(
        "tool-call-accuracy",
        "ToolCallAccuracy",
        "Share of the expected arguments that the tool calls give; 0 when the tools are called in another order.",
        _CALLS,
        asks=(),
        settings=(Setting("strict_order", Annotated[bool, Param("whether the order of the calls counts")], True),),
        may_be_empty=("reference_tool_calls",),
    ),
    Row(
        "tool-call-f1",
        "ToolCallF1",
        "F1 of the tool calls against those expected, name and arguments; skipped where there are none of either.",
        _CALLS,
        asks=(),
        may_be_empty=("reference_tool_calls",),
    ),
    Row(
        "topic-adherence",
        "TopicAdherence",
        "F1, precision or recall of answering the topics of the reference and refusing others.",
        ("conversation", "reference_topics"),
        settings=(choice("mode", "f1", "precision", "recall", about="what is computed"),),
    ),
)
