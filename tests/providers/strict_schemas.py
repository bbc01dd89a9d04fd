"""What each vendor's structured output demands of a JSON schema beyond its being one. It knows no HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.providers.remembered import once_a_schema

ANTHROPIC_UNSUPPORTED: Final = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems"}
)


@once_a_schema
def openai_fault(schema: Any) -> str | None:
    """Why a strict schema is not taken: every object must be closed and require all that it names."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return "the root must have the type object"
    for part in _parts(schema):
        if part.get("type") == "object" or "properties" in part:
            if part.get("additionalProperties") is not False:
                return "additionalProperties must be false in every object"
            missing = part.get("properties", {}).keys() - set(part.get("required", ()))
            if missing:
                return f"required must name every property; {sorted(missing)[0]!r} is missing"
    return None


@once_a_schema
def anthropic_fault(schema: Any) -> str | None:
    """Why a schema is not taken: objects must be closed, and bounds of numbers and texts are not known."""
    if not isinstance(schema, Mapping):
        return "a schema must be an object"
    for part in _parts(schema):
        unknown = ANTHROPIC_UNSUPPORTED & part.keys()
        if unknown:
            return f"the property {sorted(unknown)[0]!r} is not supported"
        if part.get("minItems", 0) > 1:
            return "minItems may be 0 or 1"
        if (part.get("type") == "object" or "properties" in part) and part.get("additionalProperties") is not False:
            return "additionalProperties must be false in every object"
    return None


def _parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The schema and every schema in it; names of properties are no keywords."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    for key in ("properties", "$defs", "definitions"):
        for part in schema.get(key, {}).values():
            yield from _parts(part)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for part in schema.get(key, ()):
            yield from _parts(part)
    yield from _parts(schema.get("items"))
