"""One record that has what every metric reads, the params of those that need some, and the same for DeepEval alone.

The cases and arguments for DeepEval are written by hand: they do not come through the adapter.
"""

from __future__ import annotations

from typing import Any

import deepeval.metrics
from deepeval.metrics.g_eval import Rubric
from deepeval.test_case import (
    ArenaTestCase,
    Contestant,
    ConversationalTestCase,
    LLMTestCase,
    MCPServer,
    MultiTurnParams,
    SingleTurnParams,
    ToolCall,
    ToolCallType,
    Turn,
)
from pydantic import BaseModel, ConfigDict

from evalsi import Record

CHUNKS = ["The ferry sails at noon.", "Dogs travel free.", "The harbour has a cafe."]
STEPS: list[dict[str, Any]] = [
    {"type": "llm", "name": "planner", "input": "When?", "output": "I look it up, then I answer.", "span_id": "a"},
    {"type": "tool", "name": "timetable", "input": {"day": "Monday"}, "output": "12:00", "parent_span_id": "a"},
    {"type": "tool", "name": "fares", "input": {"who": "dog"}, "output": "0", "parent_span_id": "a"},
    {"type": "tool", "name": "weather", "input": {}, "output": {"sun": True}},
]
SERVERS = [{"server_name": "port", "available_tools": [{"name": "timetable"}, {"name": "fares"}]}]
RECORD = Record(
    id="ferry",
    input="When does the ferry sail?",
    output="At noon. Dogs travel free.",
    reference="It sails at noon.",
    context=CHUNKS,
    trajectory=STEPS,
    metadata={
        "expected_tools": ["timetable", {"name": "fares", "arguments": {"who": "cat"}}],
        "mcp_servers": SERVERS,
        "baseline": "At midnight.",
    },
)
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "You sell tickets."},
    {"role": "user", "content": "I am Ada. When does the ferry sail?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "function": {"name": "timetable", "arguments": '{"day": "Monday"}'}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "12:00"},
    {"role": "assistant", "content": "At noon.", "context": CHUNKS},
    {"role": "user", "content": "May my dog come?"},
]
TALK = Record(
    id="talk",
    input=MESSAGES,
    output="Yes, dogs travel free.",
    reference="Dogs may come.",
    context=CHUNKS,
    metadata={"mcp_servers": SERVERS, "chatbot_role": "a ticket seller", "scenario": "At the harbour."},
)
CRITERIA = "The answer names an hour."
TOOLS: list[Any] = [{"name": "timetable", "description": "Hours."}, "fares"]
_NODES: dict[str, Any] = {
    "ask": {"type": "TaskNode", "instructions": "Take out the hours.", "output_label": "Hours", "children": ["any"]},
    "any": {"type": "BinaryJudgementNode", "criteria": "Is there an hour?", "children": ["no", "yes"]},
    "no": {"type": "VerdictNode", "verdict": False, "score": 0},
    "yes": {"type": "VerdictNode", "verdict": True, "child": {"type": "node", "ref": "how"}},
    "how": {"type": "NonBinaryJudgementNode", "criteria": "How is it said?", "children": ["plain", "odd"]},
    "plain": {"type": "VerdictNode", "verdict": "plainly", "score": 10},
}


def dag(shown: list[str]) -> dict[str, Any]:
    """A graph with every kind of node, and a grade by criteria at one of its ends."""
    grade = {"type": "geval", "name": "grade", "criteria": CRITERIA, "evaluation_params": shown}
    return {
        "nodes": {
            **_NODES,
            "ask": {**_NODES["ask"], "evaluation_params": shown},
            "odd": {"type": "VerdictNode", "verdict": "oddly", "child": grade},
        }
    }


PARAMS: dict[str, dict[str, Any]] = {
    "non-advice": {"advice_types": ["financial"]},
    "misuse": {"domain": "ferries"},
    "role-violation": {"role": "a ticket seller"},
    "g-eval": {"criteria": CRITERIA, "rubric": [{"score_range": [0, 10], "expected_outcome": "any"}]},
    "dag": {"dag": dag(["actual_output"])},
    "arena-g-eval": {"criteria": CRITERIA},
    "prompt-alignment": {"prompt_instructions": ["Be brief.", "Be kind.", "Name an hour."]},
    "json-correctness": {
        "expected_schema": {"type": "object", "properties": {"hour": {"type": "string"}}, "required": ["hour"]}
    },
    "pattern-match": {"pattern": "At noon.*"},
    "tool-correctness": {"available_tools": TOOLS, "evaluation_params": ["input_parameters"]},
    "tool-permission": {"denied_tools": ["weather"]},
    "agent-loop-detection": {"repetition_threshold": 1},
    "conversational-g-eval": {"criteria": CRITERIA},
    "conversational-dag": {"dag": dag(["content"])},
    "topic-adherence": {"relevant_topics": ["ferries"]},
    "tool-use": {"available_tools": TOOLS},
}


class _Hour(BaseModel):
    model_config = ConfigDict(extra="allow")
    hour: str

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
        schema: dict[str, Any] = PARAMS["json-correctness"]["expected_schema"]
        return schema


def _called() -> list[ToolCall]:
    return [
        ToolCall(name="timetable", input_parameters={"day": "Monday"}, output="12:00"),
        ToolCall(name="fares", input_parameters={"who": "dog"}, output="0"),
        ToolCall(name="weather", input_parameters={}, output={"sun": True}),
    ]


def _trace() -> dict[str, Any]:
    calls = [
        {"type": "tool", "name": "timetable", "input": {"day": "Monday"}, "output": "12:00", "children": []},
        {"type": "tool", "name": "fares", "input": {"who": "dog"}, "output": "0", "children": []},
    ]
    planner = {"type": "llm", "name": "planner", "input": "When?", "output": "I look it up, then I answer."}
    weather = {"type": "tool", "name": "weather", "input": {}, "output": {"sun": True}, "children": []}
    return {
        "type": "agent",
        "name": "agent",
        "input": "When does the ferry sail?",
        "output": "At noon. Dogs travel free.",
        "children": [{**planner, "children": calls}, weather],
    }


def _single(trace: bool, tools: bool) -> LLMTestCase:
    case = LLMTestCase(
        input="When does the ferry sail?",
        actual_output="At noon. Dogs travel free.",
        expected_output="It sails at noon.",
        context=CHUNKS,
        retrieval_context=CHUNKS,
        tools_called=_called() if tools else None,
        expected_tools=[
            ToolCall(name="timetable", input_parameters={}),
            ToolCall(name="fares", input_parameters={"who": "cat"}),
        ],
        mcp_servers=[MCPServer(**server) for server in SERVERS],
    )
    if trace:
        case._trace_dict = _trace()
    return case


def _talk(kind: ToolCallType) -> ConversationalTestCase:
    call = ToolCall(name="timetable", type=kind, input_parameters={"day": "Monday"}, output="12:00")
    return ConversationalTestCase(
        turns=[
            Turn(role="user", content="I am Ada. When does the ferry sail?"),
            Turn(role="assistant", content="At noon.", tools_called=[call], retrieval_context=CHUNKS),
            Turn(role="user", content="May my dog come?"),
            Turn(role="assistant", content="Yes, dogs travel free.", retrieval_context=CHUNKS),
        ],
        chatbot_role="a ticket seller",
        expected_outcome="Dogs may come.",
        scenario="At the harbour.",
        mcp_servers=[MCPServer(**server) for server in SERVERS],
    )


def case_for(name: str, shape: str) -> Any:
    """DeepEval's test case for the metric of this evaluator."""
    if shape == "conversation":
        return _talk(ToolCallType.MCP if "mcp" in name else ToolCallType.FUNCTION)
    if shape == "arena":
        given = "When does the ferry sail?"
        outputs = {"output": "At noon. Dogs travel free.", "other": "At midnight."}
        cases = {who: LLMTestCase(input=given, actual_output=one) for who, one in outputs.items()}
        return ArenaTestCase([Contestant(name=who, test_case=case) for who, case in cases.items()])
    traced = {"task-completion", "agent-loop-detection", "step-efficiency", "plan-adherence", "plan-quality"}
    return _single(name in traced, True)


def arguments_for(name: str, model: Any) -> dict[str, Any]:
    """The arguments of DeepEval's class; a threshold of None is the adapter's default and changes no score."""
    tools = [ToolCall(name="timetable", description="Hours.", input_parameters={}), ToolCall(name="fares")]
    tools[1].input_parameters = {}
    graph = deepeval.metrics.DeepAcyclicGraph
    special: dict[str, dict[str, Any]] = {
        "g-eval": {
            "name": "g-eval",
            "criteria": CRITERIA,
            "evaluation_params": [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
            "rubric": [Rubric(score_range=(0, 10), expected_outcome="any")],
        },
        "conversational-g-eval": {
            "name": "conversational-g-eval",
            "criteria": CRITERIA,
            "evaluation_params": [MultiTurnParams.CONTENT, MultiTurnParams.ROLE],
        },
        "arena-g-eval": {
            "name": "arena-g-eval",
            "criteria": CRITERIA,
            "evaluation_params": [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
        },
        "json-correctness": {"expected_schema": _Hour, "strict_mode": False},
        "tool-correctness": {
            "available_tools": tools,
            "evaluation_params": [deepeval.metrics.tool_correctness.tool_correctness.ToolCallParams.INPUT_PARAMETERS],
        },
        "tool-use": {"available_tools": tools},
    }
    if name.endswith("dag"):
        shown, multiturn = ("content", True) if name.startswith("conv") else ("actual_output", False)
        document = dag([shown])
        document["nodes"]["odd"]["child"]["model"] = model
        special[name] = {"name": name, "dag": graph.from_dict(document, multiturn=multiturn)}
    unjudged = {"exact-match", "pattern-match", "tool-permission", "agent-loop-detection"}
    # DeepEval's own threshold stands in two prompts; the adapter has none but the user's.
    threshold = {} if name == "arena-g-eval" else {"threshold": None}
    return {**threshold, **special.get(name, PARAMS.get(name, {})), **({} if name in unjudged else {"model": model})}
