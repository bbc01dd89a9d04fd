"""The form of Anthropic's API: what it objects to, its replies and its errors. It sends nothing itself."""

from __future__ import annotations

import json
from collections.abc import Set
from typing import Any, Final

from tests.providers.answers import Answer
from tests.providers.faults import Change, Status
from tests.providers.requests import Request
from tests.providers.rules import Rules
from tests.providers.streams import anthropic_stream
from tests.providers.strict_schemas import anthropic_fault

REQUEST_ID: Final = "request-id"
FINISH: Final = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal", "content_filter": "refusal"}
KINDS: Final = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
EFFORTS: Final = frozenset({"low", "medium", "high", "xhigh", "max"})
THINKING: Final = frozenset({"enabled", "adaptive", "between_tools", "disabled"})
SAMPLING: Final = frozenset({"temperature", "top_p", "top_k"})
VERSIONS: Final = {"2023-06-01": SAMPLING, "2026-10-21": frozenset[str]()}
"""What each version of the API knows beside the fields of all."""
FIELDS: Final = frozenset(
    {
        "model", "max_tokens", "messages", "system", "stop_sequences", "stream", "metadata", "tools", "tool_choice",
        "thinking", "output_config", "service_tier", "cache_control", "container", "diagnostics", "inference_geo",
        "speed", "user_profile_id", "workspace_id",
    }
)  # fmt: skip


def error(status: Status, request_id: str | None = None) -> dict[str, Any]:
    """The body of an error."""
    usual = KINDS.get(status.status, "invalid_request_error" if status.status < 500 else "api_error")
    told: dict[str, Any] = {"type": usual, "message": status.message}
    if status.kind == "insufficient_quota":
        told["details"] = {"error_code": "enforced_spend_limit_reached"}
    return {"type": "error", "error": told, "request_id": request_id}


def key_objection(request: Request, rules: Rules) -> Status | None:
    """What is wrong with the headers, if anything is."""
    if rules.keys is not None and request.key not in rules.keys:
        return Status(401, "The API key is missing." if request.key is None else "The API key is not valid.")
    version = request.headers.get("anthropic-version")
    if version not in VERSIONS:
        return Status(400, f"anthropic-version: {version!r} is not a version of the API")
    return None


def objection(request: Request, rules: Rules) -> Status | None:
    """What is wrong with a request of a message, if anything is."""
    body = request.body
    known = FIELDS | VERSIONS[request.headers["anthropic-version"]]
    unknown = sorted((body.keys() - known) | (body.keys() & rules.refused_parameters))
    if unknown:
        return _wrong(f"{unknown[0]}: this field is not permitted")
    if not isinstance(request.model, str):
        return _wrong("model: the field is required")
    if rules.models is not None and request.model not in rules.models:
        return Status(404, f"model: {request.model}")
    if type(body.get("max_tokens")) is not int or body["max_tokens"] < 1:
        return _wrong("max_tokens: a whole number from 1 is required")
    if body.get("stream") not in {None, True, False}:
        return _wrong("stream: true or false is required")
    return (
        _message_objection(body.get("messages"))
        or _thinking_objection(body)
        or format_objection(request, rules.formats)
        or _tool_objection(body)
    )


def _message_objection(messages: Any) -> Status | None:
    if not isinstance(messages, list) or not messages:
        return _wrong("messages: at least one message is required")
    for place, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in {"user", "assistant"}:
            return _wrong(
                f"messages.{place}.role: {role!r} is neither user nor assistant; system has a field of its own"
            )
        if not message.get("content"):
            return _wrong(f"messages.{place}.content: it must not be empty")
    # The newest models take no words into their mouth.
    return None if messages[-1]["role"] == "user" else _wrong("messages: the last one must be the user's")


def _thinking_objection(body: dict[str, Any]) -> Status | None:
    config = body.get("output_config") or {}
    if config.get("effort") not in {None, *EFFORTS}:
        return _wrong(f"output_config.effort: {config['effort']!r} is not known")
    temperature = body.get("temperature")
    if temperature is not None and not 0 <= temperature <= 1:
        return _wrong("temperature: it must be from 0 to 1")
    if not _thinks(body):
        kind = (body.get("thinking") or {}).get("type")
        return None if kind in {None, *THINKING} else _wrong(f"thinking.type: {kind!r} is not known")
    if temperature not in {None, 1}:
        return _wrong("temperature: it must be 1 while the model thinks")
    if (body.get("tool_choice") or {}).get("type") in {"any", "tool"}:
        return _wrong("tool_choice: no tool can be forced while the model thinks")
    budget = body["thinking"].get("budget_tokens")
    if body["thinking"]["type"] == "enabled" and not (isinstance(budget, int) and 1024 <= budget < body["max_tokens"]):
        return _wrong("thinking.budget_tokens: it must be at least 1024 and below max_tokens")
    return None


def _thinks(body: dict[str, Any]) -> bool:
    return isinstance(body.get("thinking"), dict) and body["thinking"].get("type") in {"enabled", "adaptive"}


def format_objection(request: Request, formats: Set[str]) -> Status | None:
    """What is wrong with the format that is asked for, if anything is."""
    if request.format not in formats:
        return _wrong(f"{request.format}: this model does not support it")
    if request.format != "json_schema":
        return None
    wrong = anthropic_fault(request.schema)
    return _wrong(f"output_config.format.schema: {wrong}") if wrong else None


def _tool_objection(body: dict[str, Any]) -> Status | None:
    tools = body.get("tools") or []
    for place, tool in enumerate(tools):
        schema = tool.get("input_schema") if isinstance(tool, dict) else None
        if not isinstance(schema, dict) or schema.get("type") != "object" or not isinstance(tool.get("name"), str):
            return _wrong(f"tools.{place}: a name and an input_schema of the type object are required")
    choice = body.get("tool_choice") or {}
    if choice.get("type") == "tool" and choice.get("name") not in {tool["name"] for tool in tools}:
        return _wrong(f"tool_choice.name: there is no tool {choice.get('name')!r}")
    return None


def _wrong(message: str) -> Status:
    return Status(400, message)


def reply(request: Request, answer: Answer, change: Change | None = None) -> dict[str, Any]:
    """The body of a message."""
    content, stop = _content(request, answer)
    body = {
        "id": f"msg_{request.custom_id or request.number}",
        "type": "message",
        "role": "assistant",
        "model": answer.model or request.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": None, "explanation": None} if stop == "refusal" else None,
        "usage": {
            "input_tokens": (answer.input_tokens or 0) - answer.cached_tokens - answer.cache_write_tokens,
            "cache_creation_input_tokens": answer.cache_write_tokens,
            "cache_read_input_tokens": answer.cached_tokens,
            "output_tokens": answer.output_tokens or 0,
            "output_tokens_details": {"thinking_tokens": answer.reasoning_tokens},
        },
    }
    if change in {"no_choices", "no_usage"}:
        del body["content" if change == "no_choices" else "usage"]
    return body


def _content(request: Request, answer: Answer) -> tuple[list[dict[str, Any]], str]:
    """The blocks of the answer, and why it stopped."""
    if request.tool is not None and answer.finish == "stop":
        value = _object(answer.text)
        if value is not None:
            block = {"type": "tool_use", "id": f"toolu_{request.number}", "name": request.tool["name"], "input": value}
            return [block], "tool_use"
    thought = [{"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}] if _thinks(request.body) else []
    text = [{"type": "text", "text": answer.text}] if answer.text else []
    return [*thought, *text], FINISH[answer.finish]


def _object(text: str) -> dict[str, Any] | None:
    """The object that the text is, since a tool's input can be nothing else."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def in_pieces(_: Request, body: dict[str, Any]) -> bytes:
    """The body of a message, streamed."""
    return anthropic_stream(body)


def models(rules: Rules) -> dict[str, Any]:
    """The body of the list of models."""
    rows = [
        {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
        for name in sorted(rules.models or ())
    ]
    first, last = (rows[0]["id"], rows[-1]["id"]) if rows else (None, None)
    return {"data": rows, "has_more": False, "first_id": first, "last_id": last}
