"""Generate values that match a JSON Schema, for answers of the scripted judge, and values that do not, for params.

Supports only the subset of JSON Schema of answers and params.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_OF_EVERY_KIND: Final[tuple[tuple[frozenset[str], Any], ...]] = (
    (frozenset({"string"}), "evalsi-conformance"),
    (frozenset({"integer", "number"}), 7),
    (frozenset({"number"}), 0.5),
    (frozenset({"boolean"}), True),
    (frozenset({"array"}), []),
    (frozenset({"object"}), {}),
    (frozenset({"null"}), None),
)
"""A value of each kind, with the names of the types that it is of."""
_TEXTS: Final = ("evalsi", "de", "en")
"""Other values of a text that may be anything. Many such texts are languages, which libraries like to keep globally."""


def value_for(schema: Any, pick: int, root: Mapping[str, Any] | None = None) -> Any:
    """Return a value that matches a schema.

    Args:
        schema: a JSON Schema; unsupported parts allow anything.
        pick: selects one of several matching values, deterministically.
        root: schema in which `$ref` is resolved; the schema itself by default.
    """
    if not isinstance(schema, dict):
        return "anything"
    root = schema if root is None else root
    if "$ref" in schema:
        return value_for(_referred(schema["$ref"], root), pick, root)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][pick % len(schema["enum"])]
    for several in ("anyOf", "oneOf"):
        if schema.get(several):
            return value_for(schema[several][0], pick, root)
    if schema.get("allOf"):
        merged: dict[str, Any] = {}
        for part in schema["allOf"]:
            merged |= _referred(part["$ref"], root) if "$ref" in part else part
        return value_for(merged, pick, root)
    kind = schema.get("type")
    return _of_kind(kind[0] if isinstance(kind, list) and kind else kind, schema, pick, root)


def misfits(schema: Mapping[str, Any]) -> list[Any]:
    """Return values that a param with this schema must reject; empty if unknown."""
    if "enum" in schema or "const" in schema:
        choices = schema.get("enum") or [schema.get("const")]
        return [value for value in ("evalsi-conformance: no such choice", 7, None) if value not in choices]
    kind = schema.get("type")
    kinds = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []
    wrong = [value for names, value in _OF_EVERY_KIND if kinds and names.isdisjoint(kinds)]
    if not {"integer", "number"}.isdisjoint(kinds):
        for key, step in (("minimum", -1), ("maximum", 1), ("exclusiveMinimum", 0), ("exclusiveMaximum", 0)):
            bound = schema.get(key)
            if isinstance(bound, int | float) and not isinstance(bound, bool):
                wrong.append(bound + step)
    least = schema.get("minLength", 0)
    if "string" in kinds and least > 0:
        wrong.append("x" * (least - 1))
    if "array" in kinds and isinstance(schema.get("items"), dict):
        wrong += [[value] for value in misfits(schema["items"])]
    return wrong


def other_values(schema: Any) -> list[Any]:
    """Return values that may match a param, for a session with other params. A pack rejects those that do not."""
    if not isinstance(schema, dict) or "const" in schema:
        return []
    if "enum" in schema:
        return list(schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return [value for part in schema[several] for value in other_values(part)]
    kind = schema.get("type")
    kinds = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []
    values: list[Any] = []
    if "boolean" in kinds:
        values += [True, False]
    if "string" in kinds:
        values += _TEXTS
    if not {"integer", "number"}.isdisjoint(kinds):
        name = "number" if "number" in kinds else "integer"
        values += list(dict.fromkeys(_number(name, schema, pick) for pick in (0, 1, 3)))
    if "array" in kinds and (inner := other_values(schema.get("items", {"type": "string"}))):
        values += [[value] for value in inner[:2]]
    return values


def _of_kind(kind: Any, schema: Mapping[str, Any], pick: int, root: Mapping[str, Any]) -> Any:
    if kind == "object" or (kind is None and "properties" in schema):
        wanted = schema.get("properties", {})
        return {name: value_for(part, pick + place, root) for place, (name, part) in enumerate(wanted.items())}
    if kind == "array":
        count = max(1, int(schema.get("minItems", 1)))
        return [value_for(schema.get("items", {}), pick + place, root) for place in range(count)]
    if kind in ("integer", "number"):
        return _number(kind, schema, pick)
    if kind == "boolean":
        return bool(pick % 2)
    if kind == "null":
        return None
    least = int(schema.get("minLength", 0))
    text = "as the words show"
    return (text + "." * max(0, least - len(text)))[: int(schema.get("maxLength", 10_000))]


def _number(kind: str, schema: Mapping[str, Any], pick: int) -> int | float:
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 10))
    if kind == "integer":
        first = int(low) + ("exclusiveMinimum" in schema)
        last = int(high) - ("exclusiveMaximum" in schema)
        return first + pick % max(1, last - first + 1)
    return float(low + (high - low) * (1 + pick % 7) / 8)


def _referred(ref: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = root
    for part in ref.removeprefix("#/").split("/"):
        found = found.get(part, {}) if isinstance(found, dict) else {}
    return found if isinstance(found, dict) else {}
