"""A record as DeepEval's test case: LLMTestCase, ConversationalTestCase or ArenaTestCase.

Only the parts that a metric reads are filled in, so that a fault in another part of a record does not matter to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deepeval.test_case import (
    ArenaTestCase,
    Contestant,
    ConversationalTestCase,
    LLMTestCase,
    MCPServer,
    ToolCall,
    ToolCallType,
    Turn,
)

from evalsi import Content, Record, Skip
from evalsi.content import content
from evalsi.record import require_shown
from evalsi_deepeval.construction import framework_class, shown_fields, tool_call
from evalsi_deepeval.metrics import Metric
from evalsi_deepeval.tool_calls import calls_expected, calls_made
from evalsi_deepeval.traces import trace_of
from evalsi_deepeval.turns import Said, turns_of


def fields_read(metric: Metric, params: Mapping[str, Any]) -> set[str]:
    """The parts of the test case that the metric reads with these params, by DeepEval's names."""
    of = framework_class(metric)
    listed = getattr(of, "_required_test_case_params" if metric.shape == "conversation" else "_required_params", ())
    required = {one.value for one in listed} if isinstance(listed, (list, tuple)) else set()
    if "input" not in metric.needs:
        # DeepEval requires it of every test case; some metrics never look at it.
        required.discard("input")
    return required | shown_fields(metric, params) | set(metric.extras)


def case_of(metric: Metric, params: Mapping[str, Any], fields: set[str], record: Record) -> Any:
    """The test case.

    Raises:
        Skip: the record lacks a part that the metric reads, or its judge would not see an image or the like.
        ValueError: such a part is there and cannot be read.
    """
    if metric.asks:
        record.require_shown(*_shown(metric, fields))
    if metric.shape == "conversation":
        return _conversation(metric, params, fields, record)
    if metric.shape == "arena":
        return _arena(str(params["other"]), fields, record)
    return _single(fields, record)


def _shown(metric: Metric, fields: set[str]) -> set[str]:
    """Return the fields of a record whose text the judge reads."""
    always = {"input", "output"} | ({"reference"} if metric.shape == "conversation" else set())
    return always | {_SHOWN_AS[name] for name in fields if name in _SHOWN_AS}


def _single(fields: set[str], record: Record, output: str | None = None) -> LLMTestCase:
    # A test case cannot do without an input; a metric that reads none is given an empty one.
    given = record.input.as_text() if record.has("input") or "input" in fields else ""
    read = {name: _FIELDS[name](record) for name in fields if name in _FIELDS}
    case = LLMTestCase(input=given, **({**read, "actual_output": output} if output is not None else read))
    if "trace" in fields and record.has("trajectory"):
        case._trace_dict = trace_of(record)
    return case


def _arena(other: str, fields: set[str], record: Record) -> ArenaTestCase:
    value: Any = record.metadata
    for part in other.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if value is None:
        raise Skip(f"record has no metadata.{other}")
    other_output = Content(content(value), "other output")
    require_shown(other_output, "other output")
    rival = other_output.as_text()
    outputs = {"output": record.output_text, "other": rival}
    return ArenaTestCase(
        [Contestant(name=name, test_case=_single(fields, record, one)) for name, one in outputs.items()]
    )


def _conversation(
    metric: Metric, params: Mapping[str, Any], fields: set[str], record: Record
) -> ConversationalTestCase:
    turns = turns_of(record)
    if "retrieval_context" in fields and not any(turn.context for turn in turns):
        raise Skip("no context, neither the record's own nor that of a message")
    metadata = record.metadata
    servers = _servers(record) if "metadata.mcp_servers" in metric.needs else None
    role = params.get("chatbot_role") or metadata.get("chatbot_role")
    return ConversationalTestCase(
        turns=[_turn(turn, servers) for turn in turns],
        chatbot_role=None if role is None else str(role),
        expected_outcome=record.reference_texts[0] if record.has("reference") else None,
        scenario=_text(metadata.get("scenario")),
        user_description=_text(metadata.get("user_description")),
        metadata=metadata or None,
        tags=_tags(record),
        mcp_servers=servers,
    )


def _turn(said: Said, servers: list[MCPServer] | None) -> Turn:
    calls = [tool_call(call) for call in said.calls]
    if servers is not None:
        offered = {tool.get("name") for server in servers for tool in server.available_tools or ()}
        for call in calls:
            call.type = ToolCallType.MCP if call.name in offered else call.type
    return Turn(role=said.role, content=said.text, tools_called=calls or None, retrieval_context=said.context)


def _context(record: Record) -> list[str]:
    parts = [part.as_text() for part in record.context]
    if not parts:
        raise Skip("no context")
    return parts


def _servers(record: Record) -> list[MCPServer]:
    listed = record.metadata.get("mcp_servers")
    if listed is None:
        raise Skip("record has no metadata.mcp_servers")
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise ValueError("metadata.mcp_servers is no list of tables. Write server_name and available_tools of each.")
    return [
        MCPServer(
            server_name=str(one.get("server_name", one.get("name", ""))),
            available_tools=one.get("available_tools", one.get("tools")),
            available_resources=one.get("available_resources", one.get("resources")),
            available_prompts=one.get("available_prompts", one.get("prompts")),
        )
        for one in listed
    ]


def _tags(record: Record) -> list[str] | None:
    tags = record.metadata.get("tags")
    return None if tags is None else [str(tag) for tag in (tags if isinstance(tags, list) else [tags])]


def _text(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else Content({"json": value}).as_text()


def _calls_made(record: Record) -> list[ToolCall] | None:
    return [tool_call(call) for call in calls_made(record)] if record.has("trajectory") else None


_SHOWN_AS = {"expected_output": "reference", "context": "context", "retrieval_context": "context"}
_FIELDS: dict[str, Callable[[Record], Any]] = {
    "actual_output": lambda record: record.output_text,
    "expected_output": lambda record: record.reference_texts[0],
    "context": _context,
    "retrieval_context": _context,
    "tools_called": _calls_made,
    "expected_tools": lambda record: [tool_call(call) for call in calls_expected(record)],
    "metadata": lambda record: record.metadata or None,
    "tags": _tags,
    "mcp_servers": _servers,
}
