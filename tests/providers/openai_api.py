"""The form of an OpenAI-compatible API: what it objects to, its replies and its errors. It sends nothing itself."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Final

from tests.providers.answers import Answer
from tests.providers.faults import Change, Status
from tests.providers.requests import Request
from tests.providers.rules import Rules
from tests.providers.streams import openai_stream
from tests.providers.strict_schemas import openai_fault

REQUEST_ID: Final = "x-request-id"
CREATED: Final = 1_767_225_600
"""Every reply is of the same second, so that two runs can be compared to the byte."""
FINISH: Final = {"stop": "stop", "length": "length", "refusal": "stop", "content_filter": "content_filter"}
KINDS: Final = {429: "rate_limit_error", 503: "service_unavailable_error"}
ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})


def error(status: Status, request_id: str | None = None) -> dict[str, Any]:
    """The body of an error, which does not name the request."""
    usual = KINDS.get(status.status, "invalid_request_error" if status.status < 500 else "server_error")
    return {
        "error": {
            "message": status.message,
            "type": status.kind or usual,
            "param": status.param,
            "code": status.code,
        }
    }


def key_objection(request: Request, rules: Rules) -> Status | None:
    """What is wrong with the key, if anything is."""
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    if rules.keys is None or (scheme == "Bearer" and key in rules.keys):
        return None
    if not key:
        return Status(401, "No API key came with the request; send it as a bearer token.")
    return Status(401, f"The API key {key[:3]}*** is not valid.", "invalid_api_key")


def model_objection(request: Request, rules: Rules) -> Status | None:
    """What is wrong with the model, if anything is."""
    model = request.model
    if not isinstance(model, str):
        return Status(400, "The field model is required.", "missing_required_parameter", "model")
    if rules.models is not None and model not in rules.models:
        return Status(404, f"The model {model!r} does not exist, or this key may not use it.", "model_not_found")
    return None


def parameter_objection(request: Request, rules: Rules) -> Status | None:
    """What is wrong with the names of the fields, if anything is."""
    for name in sorted(rules.refused_parameters & request.body.keys()):
        return Status(400, f"The parameter {name!r} is not supported by this model.", "unsupported_parameter", name)
    return None


def objection(request: Request, rules: Rules) -> Status | None:
    """What is wrong with a request of a completion, if anything is."""
    wrong = model_objection(request, rules) or parameter_objection(request, rules)
    if wrong:
        return wrong
    messages = request.field("messages")
    if not isinstance(messages, list) or not messages:
        return Status(
            400, "The field messages must hold at least one message.", "missing_required_parameter", "messages"
        )
    for place, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ROLES:
            return Status(400, f"The role {role!r} is not known.", "invalid_value", f"messages[{place}].role")
    if request.body.get("n") not in {None, 1}:
        return Status(400, "This server gives one answer a request.", "unsupported_value")
    if "stream_options" in request.body and not request.body.get("stream"):
        return Status(400, "stream_options goes with stream only.", "invalid_value", "stream_options")
    if "max_tokens" in request.body and "max_completion_tokens" in request.body:
        return Status(400, "Set one of max_tokens and max_completion_tokens.", "invalid_parameter_combination")
    return format_objection(request, rules.formats)


def format_objection(request: Request, formats: Set[str]) -> Status | None:
    """What is wrong with the format that is asked for, if anything is."""
    if request.format not in formats:
        return Status(
            400,
            f"response_format of type {request.format!r} is not supported by this model.",
            "unsupported_value",
            "response_format.type",
        )
    if request.format == "json_object" and "json" not in request.prompt.lower():
        return Status(400, "For json_object a message must hold the word json.", param="messages")
    if request.format != "json_schema":
        return None
    wrapped = request.body["response_format"].get("json_schema")
    if not isinstance(wrapped, dict) or not isinstance(wrapped.get("name"), str):
        return Status(
            400, "A json_schema needs a name.", "missing_required_parameter", "response_format.json_schema.name"
        )
    wrong = openai_fault(wrapped.get("schema")) if wrapped.get("strict") else None
    return (
        Status(400, f"The schema is not valid: {wrong}.", "invalid_json_schema", "response_format") if wrong else None
    )


def reply(request: Request, answer: Answer, change: Change | None = None) -> dict[str, Any]:
    """The body of a completion."""
    refused = answer.finish == "refusal"
    message = {
        "role": "assistant",
        "content": None if refused else answer.text,
        "refusal": answer.text if refused else None,
    }
    sent, came = answer.input_tokens or 0, answer.output_tokens or 0
    body = {
        "id": f"chatcmpl-{request.custom_id or request.number}",
        "object": "chat.completion",
        "created": CREATED,
        "model": answer.model or request.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": FINISH[answer.finish]}],
        "usage": {
            "prompt_tokens": sent,
            "completion_tokens": came,
            "total_tokens": sent + came,
            "prompt_tokens_details": {"cached_tokens": answer.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": answer.reasoning_tokens},
        },
        "system_fingerprint": "fp_local",
    }
    if change in {"no_choices", "no_usage"}:
        del body["choices" if change == "no_choices" else "usage"]
    return body


def in_pieces(request: Request, body: dict[str, Any]) -> bytes:
    """The body of a completion, streamed."""
    options = request.field("stream_options") or {}
    return openai_stream(body, tells_usage=bool(options.get("include_usage")))


def models(rules: Rules) -> dict[str, Any]:
    """The body of the list of models."""
    rows = [
        {"id": name, "object": "model", "created": CREATED, "owned_by": "tests"} for name in sorted(rules.models or ())
    ]
    return {"object": "list", "data": rows}
