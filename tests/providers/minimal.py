"""The smallest value that a JSON schema allows, always the same one. It knows schemas and nothing of requests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

DEPTH = 64


def minimal(schema: Any, root: Any = None, depth: int = 0) -> Any:
    """A minimal value that the schema allows.

    Args:
        schema: A JSON schema; `$ref` may point into the same document.
        root: The document that `$ref` points into; the schema itself unless given.
        depth: How deep the value is.

    Raises:
        ValueError: The schema asks for what is not written here (a pattern, an endless recursion).
    """
    root = schema if root is None else root
    if schema is True or schema == {}:
        return None
    if not isinstance(schema, Mapping):
        raise ValueError(f"no value is allowed by the schema {schema!r}")
    if depth > DEPTH:
        raise ValueError("the schema requires an endless value")
    if "$ref" in schema:
        return minimal(_at(root, schema["$ref"]), root, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "allOf" in schema:
        return minimal(_merged(schema, root), root, depth + 1)
    for either in ("anyOf", "oneOf"):
        if either in schema:
            return _first_possible(schema, either, root, depth)
    return _of_type(schema, root, depth)


def _first_possible(schema: Mapping[str, Any], either: str, root: Any, depth: int) -> Any:
    rest = _without(schema, either)
    trouble: ValueError | None = None
    for option in schema[either]:
        try:
            return minimal(_merged({"allOf": [rest, option]}, root), root, depth + 1)
        except ValueError as impossible:
            trouble = impossible
    raise trouble or ValueError(f"{either} of the schema is empty")


def _of_type(schema: Mapping[str, Any], root: Any, depth: int) -> Any:
    kind = schema.get("type") or _guessed(schema)
    kind = kind[0] if isinstance(kind, list) else kind
    match kind:
        case "object":
            shapes = schema.get("properties", {})
            return {name: minimal(shapes.get(name, True), root, depth + 1) for name in schema.get("required", ())}
        case "array":
            first = [minimal(one, root, depth + 1) for one in schema.get("prefixItems", ())]
            missing = max(0, schema.get("minItems", 0) - len(first))
            return first + [minimal(schema.get("items", True), root, depth + 1) for _ in range(missing)]
        case "string":
            return _string(schema)
        case "integer" | "number":
            return _number(schema, whole=kind == "integer")
        case "boolean":
            return False
        case "null":
            return None
    raise ValueError(f"the schema's type {kind!r} is unknown")


def _guessed(schema: Mapping[str, Any]) -> str:
    hints = {"properties": "object", "required": "object", "items": "array", "minItems": "array", "minLength": "string"}
    hints |= dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), "number")
    return next((kind for hint, kind in hints.items() if hint in schema), "null")


def _string(schema: Mapping[str, Any]) -> str:
    if "pattern" in schema:
        raise ValueError("a string with a pattern is not made here; answer with a fixed text")
    return "x" * int(schema.get("minLength", 0))


def _number(schema: Mapping[str, Any], *, whole: bool) -> float:
    step = schema.get("multipleOf", 1)
    low = schema.get("minimum", -math.inf)
    if "exclusiveMinimum" in schema:
        low = max(low, math.nextafter(schema["exclusiveMinimum"], math.inf))
    high = schema.get("maximum", math.inf)
    if "exclusiveMaximum" in schema:
        high = min(high, math.nextafter(schema["exclusiveMaximum"], -math.inf))
    value: float = 0
    if low > 0:
        value = math.ceil(low / step) * step
    elif high < 0:
        value = math.floor(high / step) * step
    if value > high or value < low:
        if whole or "multipleOf" in schema or low > high:
            raise ValueError(f"the schema {dict(schema)!r} allows no number")
        value = low
    return value


def _merged(schema: Mapping[str, Any], root: Any) -> dict[str, Any]:
    """One schema that demands what all parts of an `allOf` demand together."""
    merged: dict[str, Any] = {}
    for part in [_without(schema, "allOf"), *schema["allOf"]]:
        for key, value in _plain(part, root).items():
            if key == "properties":
                merged[key] = {**merged.get(key, {}), **value}
            elif key == "required":
                merged[key] = [*merged.get(key, ()), *(name for name in value if name not in merged.get(key, ()))]
            elif key in {"minimum", "minLength", "minItems", "exclusiveMinimum"} and key in merged:
                merged[key] = max(merged[key], value)
            elif key in {"maximum", "exclusiveMaximum"} and key in merged:
                merged[key] = min(merged[key], value)
            else:
                merged[key] = value
    return merged


def _plain(part: Any, root: Any) -> Mapping[str, Any]:
    """One part of an `allOf` with what it refers to written out."""
    if part is True:
        return {}
    if not isinstance(part, Mapping):
        raise ValueError("an allOf of the schema allows no value")
    if "$ref" in part:
        return _merged({"allOf": [_at(root, part["$ref"]), _without(part, "$ref")]}, root)
    return _merged(part, root) if "allOf" in part else part


def _without(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != name}


def _at(root: Any, pointer: str) -> Any:
    if not pointer.startswith("#"):
        raise ValueError(f"$ref {pointer!r} points out of the schema")
    found = root
    for step in pointer.lstrip("#/").split("/") if pointer.strip("#/") else []:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found[int(name)] if isinstance(found, list) else found[name]
    return found
