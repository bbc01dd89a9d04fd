"""A trajectory as the trace of DeepEval's agent metrics: nested maps of type, name, input, output and children."""

from __future__ import annotations

from typing import Any

from evalsi import Record

_TYPES = {"llm": "llm", "tool": "tool", "retrieval": "retriever", "agent": "agent"}


def trace_of(record: Record) -> dict[str, Any]:
    """The steps beneath one agent, each beneath the step that it names as its parent; what is unknown is left out."""
    root = _span("agent", "agent", record.input.as_text(), record.output_text)
    spans = [_span_of(step) for step in record.trajectory]
    by_id = {step["span_id"]: span for step, span in zip(record.trajectory, spans, strict=True) if step.get("span_id")}
    for step, span in zip(record.trajectory, spans, strict=True):
        parent = by_id.get(step.get("parent_span_id"), root)
        (root if parent is span else parent)["children"].append(span)
    return root


def _span_of(step: dict[str, Any]) -> dict[str, Any]:
    kind = _TYPES.get(str(step.get("type", "")), "base")
    span = _span(kind, str(step.get("name", kind)), step.get("input"), step.get("output"))
    if step.get("error") is not None:
        span["error"] = step["error"]
    return span


def _span(kind: str, name: str, given: Any, gave: Any) -> dict[str, Any]:
    known = {"type": kind, "name": name, "input": given, "output": gave}
    return {**{key: value for key, value in known.items() if value is not None}, "children": []}
