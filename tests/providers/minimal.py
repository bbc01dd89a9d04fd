"""The smallest value that a JSON schema allows, always the same one. It knows schemas and nothing of requests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from typing import Any


def minimal(schema: Any, root: Any = None, followed: Set[str] = frozenset()) -> Any:
    """A minimal value that the schema allows.

    Args:
        schema: A JSON schema; `$ref` may point into the same document.
        root: The document that `$ref` points into; the schema itself unless given.
        followed: The references that led here; one that comes again would never end.

    Raises:
        ValueError: No value is allowed, none ends, or one must match a pattern, which is not made here.
    """
    root = schema if root is None else root
    if schema is True:
        return None
    if not isinstance(schema, Mapping):
        raise ValueError(f"no value is allowed by the schema {schema!r}")
    flat, followed = _flat(schema, root, followed)
    if "const" in flat:
        return flat["const"]
    if "enum" in flat:
        return flat["enum"][0]
    for either in ("anyOf", "oneOf"):
        if either in flat:
            return _first_possible(flat, either, root, followed)
    return _of_type(flat, root, followed)


def _first_possible(schema: Mapping[str, Any], either: str, root: Any, followed: Set[str]) -> Any:
    rest = {key: value for key, value in schema.items() if key != either}
    trouble: ValueError | None = None
    for option in schema[either]:
        try:
            return minimal({"allOf": [rest, option]}, root, followed)
        except ValueError as impossible:
            trouble = impossible
    raise trouble or ValueError(f"{either} of the schema is empty")


def _of_type(schema: Mapping[str, Any], root: Any, followed: Set[str]) -> Any:
    kind = schema.get("type") or _guessed(schema)
    kind = kind[0] if isinstance(kind, list) else kind
    match kind:
        case "object":
            shapes = schema.get("properties", {})
            return {name: minimal(shapes.get(name, True), root, followed) for name in schema.get("required", ())}
        case "array":
            first = [minimal(one, root, followed) for one in schema.get("prefixItems", ())]
            missing = max(0, schema.get("minItems", 0) - len(first))
            return first + [minimal(schema.get("items", True), root, followed) for _ in range(missing)]
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


def _flat(schema: Mapping[str, Any], root: Any, followed: Set[str]) -> tuple[Mapping[str, Any], Set[str]]:
    """The schema with what `$ref` and `allOf` demand written out, and the references that were followed."""
    if "$ref" not in schema and "allOf" not in schema:
        return schema, followed
    parts = list(schema.get("allOf", ()))
    all_followed = set(followed)
    if "$ref" in schema:
        if schema["$ref"] in followed:
            raise ValueError("the schema requires an endless value")
        all_followed.add(schema["$ref"])
        parts.append(_at(root, schema["$ref"]))
    flat = {key: value for key, value in schema.items() if key not in {"$ref", "allOf"}}
    below = frozenset(all_followed)
    for part in parts:
        if part is True:
            continue
        if not isinstance(part, Mapping):
            raise ValueError("a part of the schema allows no value")
        demanded, more = _flat(part, root, below)
        all_followed |= more
        _add(flat, demanded)
    return flat, all_followed


def _add(flat: dict[str, Any], demanded: Mapping[str, Any]) -> None:
    """Let the first schema demand what the second does as well."""
    for key, value in demanded.items():
        if key == "properties":
            flat[key] = {**flat.get(key, {}), **value}
        elif key == "required":
            flat[key] = [*flat.get(key, ()), *(name for name in value if name not in flat.get(key, ()))]
        elif key in {"minimum", "minLength", "minItems", "exclusiveMinimum"} and key in flat:
            flat[key] = max(flat[key], value)
        elif key in {"maximum", "exclusiveMaximum"} and key in flat:
            flat[key] = min(flat[key], value)
        else:
            flat[key] = value


def _at(root: Any, pointer: str) -> Any:
    if not pointer.startswith("#"):
        raise ValueError(f"$ref {pointer!r} points out of the schema")
    found = root
    for step in pointer.lstrip("#/").split("/") if pointer.strip("#/") else []:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found[int(name)] if isinstance(found, list) else found[name]
    return found
