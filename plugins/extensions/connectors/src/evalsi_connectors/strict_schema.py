"""Whether a JSON Schema keeps to the limits of strict structured output, in which the reply follows it for certain.

The limits are those that OpenAI documents: every property required, no other property, and a few keywords. It must not
know who is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MAX_DEPTH = 10
_MAX_PROPERTIES = 5000
_KEYWORDS = {
    "$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "exclusiveMaximum",
    "exclusiveMinimum", "format", "items", "maxItems", "maximum", "minItems", "minimum", "multipleOf", "pattern",
    "properties", "required", "title", "type",
}  # fmt: skip


def fits_strict(schema: Mapping[str, Any]) -> bool:
    """Whether the schema of a reply may be sent as a strict one."""
    if schema.get("type") != "object" or "anyOf" in schema:
        return False
    counts = [0]
    try:
        return _fits(schema, 0, counts) and counts[0] <= _MAX_PROPERTIES
    except (TypeError, AttributeError):
        # A keyword whose value has a type of its own making; whoever validates the reply says so.
        return False


def _fits(schema: object, depth: int, counts: list[int]) -> bool:
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH or not schema.keys() <= _KEYWORDS:
        return False
    properties = schema.get("properties", {})
    if schema.get("type") == "object" or "object" in _types(schema):
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties):
            return False
    counts[0] += len(properties)
    parts = [*properties.values(), *schema.get("anyOf", ()), *schema.get("$defs", {}).values()]
    if "items" in schema:
        parts.append(schema["items"])
    return all(_fits(part, depth + 1, counts) for part in parts)


def _types(schema: Mapping[str, Any]) -> list[Any]:
    types = schema.get("type")
    return types if isinstance(types, list) else [types]
