"""The tool calls of a record: those an agent made, those that were expected, and the tools that there were.

It reads records and params.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from evalsi import Content, Record, Skip


class Call(NamedTuple):
    """One call of a tool, or a tool that could be called.

    Args:
        name: of the tool.
        arguments: by their names; of a tool that could be called what it takes.
        output: what it gave; None where that is unknown.
        description: of a tool that could be called.
    """

    name: str
    arguments: dict[str, Any]
    output: Any = None
    description: str | None = None


def calls_made(record: Record) -> list[Call]:
    """The calls of the trajectory: its steps of type tool; where there are none, what its models asked for."""
    steps = record.trajectory
    done = [
        Call(str(step.get("name", "")), arguments_of(step.get("input")), step.get("output", step.get("error")))
        for step in steps
        if step.get("type") == "tool"
    ]
    return done or [call for step in steps if step.get("type") == "llm" for call in _asked(step.get("output"))]


def calls_expected(record: Record) -> list[Call]:
    """The calls of `metadata.expected_tools`.

    Raises:
        Skip: there is no such key.
        ValueError: it is no list of names and tables.
    """
    listed = record.metadata.get("expected_tools")
    if listed is None:
        raise Skip("record has no metadata.expected_tools")
    return named_calls(listed, "metadata.expected_tools")


def named_calls(listed: Any, where: str) -> list[Call]:
    """Calls or tools from names, or from tables with a name.

    Raises:
        ValueError: it is something else.
    """
    if not isinstance(listed, list):
        raise ValueError(f"{where} is no list. Write a list of names, or of tables with a name.")
    return [_named(one, f"{where}[{index}]") for index, one in enumerate(listed)]


def message_calls(message: Mapping[str, Any], results: Mapping[str, Any]) -> list[Call]:
    """The calls that a chat message asks for, with the results by the ids of the calls."""
    return [
        call._replace(output=results.get(str(asked.get("id", ""))))
        for asked in message.get("tool_calls") or ()
        if isinstance(asked, dict) and (call := _of_message(asked)) is not None
    ]


def arguments_of(value: Any) -> dict[str, Any]:
    """Arguments by name: an object as it is, also as JSON text; anything else under `input`; nothing for none."""
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = None
        value = parsed if isinstance(parsed, dict) else value
    if value is None or value == "":
        return {}
    return value if isinstance(value, dict) else {"input": value}


def _named(one: Any, where: str) -> Call:
    if isinstance(one, str):
        return Call(one, {})
    if not isinstance(one, dict) or not isinstance(one.get("name"), str):
        raise ValueError(f"{where} is neither a name nor a table with a name. Write one of the two.")
    given = next((one[key] for key in ("input_parameters", "arguments", "args", "input") if key in one), None)
    return Call(one["name"], arguments_of(given), one.get("output"), one.get("description"))


def _asked(output: Any) -> Iterator[Call]:
    """The calls in what a model gave: one message, or several."""
    messages: Iterable[Any] = output if isinstance(output, list) else [output]
    for message in messages:
        if isinstance(message, dict):
            yield from message_calls(message, {})


def _of_message(asked: Mapping[str, Any]) -> Call | None:
    inner = asked.get("function")
    table = inner if isinstance(inner, dict) else asked
    name = table.get("name")
    return Call(name, arguments_of(table.get("arguments"))) if isinstance(name, str) else None


def text_of(message: dict[str, Any]) -> str:
    """The text of one chat message, "" where it has none."""
    return Content({"messages": [message]}).as_text()
