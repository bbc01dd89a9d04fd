"""JSON schemas of the model and budget arguments of `evaluate` and `complete`."""

from __future__ import annotations

from typing import Any, Final

_NAME: Final = {"type": "string", "minLength": 1}
_TEXT: Final = {"type": ["string", "null"]}

MODEL: Final[dict[str, Any]] = {
    "type": ["string", "object"],
    "required": ["model"],
    "additionalProperties": False,
    "properties": {
        "model": _NAME,
        "provider": _NAME,
        "base_url": _TEXT,
        "api_key_env": _TEXT,
        "effort": _TEXT,
        "max_tokens": {"type": "integer", "minimum": 1},
        "temperature": {"type": ["number", "null"]},
        "timeout_s": {"type": "number", "exclusiveMinimum": 0},
        "max_in_flight": {"type": "integer", "minimum": 1},
        "max_wait_s": {"type": "number", "exclusiveMinimum": 0},
    },
}
BUDGET: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "usd": {"type": "number", "exclusiveMinimum": 0},
        "tokens": {"type": "integer", "minimum": 1},
    },
}
