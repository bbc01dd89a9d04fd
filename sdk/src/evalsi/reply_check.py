"""Check values against the kernel's subset of JSON Schema, for packs, which cannot import the kernel.

A test compares its verdicts with the kernel's.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any

_TYPES: dict[str, Any] = {
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "string": str,
    "array": list,
    "object": dict,
    "null": type(None),
}
_BOUNDS = {
    "minimum": operator.ge,
    "maximum": operator.le,
    "exclusiveMinimum": operator.gt,
    "exclusiveMaximum": operator.lt,
}
_LENGTHS = {"minLength": str, "minItems": list}
_INSIDE = {"type", "anyOf", "enum", "const", "items", "properties", "additionalProperties", "required"}
_KEYWORDS = {*_INSIDE, *_BOUNDS, *_LENGTHS, "default", "title", "description"}


def schema_fault(schema: Mapping[str, Any]) -> str:
    """Return why the kernel would reject a schema, as a sentence; "" if it would not."""
    if schema.get("type") != "object":
        return "The schema of an answer must have an object at the top level."
    strange = sorted(set(_keywords(schema)) - _KEYWORDS)
    return f"The schema has {strange[0]!r}, which the kernel does not support." if strange else ""


def misfit(schema: Mapping[str, Any], value: Any, at: str = "the answer") -> str:
    """Return why a JSON value does not match a schema; "" if it matches."""
    return next(_misfits(schema, value, at), "")


def _keywords(schema: Mapping[str, Any]) -> Iterator[str]:
    yield from schema
    inner = [schema.get("items"), schema.get("additionalProperties"), *schema.get("anyOf", ())]
    for part in [*inner, *schema.get("properties", {}).values()]:
        if isinstance(part, Mapping):
            yield from _keywords(part)


def _misfits(schema: Mapping[str, Any], value: Any, at: str) -> Iterator[str]:
    named = schema.get("type", [])
    names = [named] if isinstance(named, str) else named
    if names and not any(_is_a(value, name) for name in names):
        yield f"{at} is {value!r:.80}, not of type {' or '.join(names)}"
        return
    if "enum" in schema and not any(_same(value, choice) for choice in schema["enum"]):
        yield f"{at} is {value!r:.80}, not one of {schema['enum']!r}"
    if "const" in schema and not _same(value, schema["const"]):
        yield f"{at} is {value!r:.80}, not {schema['const']!r}"
    if "anyOf" in schema and all(misfit(option, value) for option in schema["anyOf"]):
        yield f"{at} is {value!r:.80}, which matches no option"
    for keyword, holds in _BOUNDS.items():
        if keyword in schema and _is_a(value, "number") and not holds(value, schema[keyword]):
            yield f"{at} is {value!r}, which violates {keyword} {schema[keyword]!r}"
    for keyword, kind in _LENGTHS.items():
        if isinstance(value, kind) and len(value) < schema.get(keyword, 0):
            yield f"{at} is {value!r:.80}, which violates {keyword} {schema[keyword]!r}"
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _misfits(schema.get("items", {}), item, f"{at}[{index}]")
    elif isinstance(value, dict):
        yield from _object_misfits(schema, value, at)


def _object_misfits(schema: Mapping[str, Any], value: dict[str, Any], at: str) -> Iterator[str]:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for key, item in value.items():
        part = properties.get(key, others)
        if part is False:
            yield f"{at} has the unknown key {key!r}; allowed: {', '.join(properties) or 'none'}"
        elif part is not True:
            yield from _misfits(part, item, f"{at}.{key}")
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{at} lacks {key!r}"


def _is_a(value: Any, name: str) -> bool:
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal: at any depth, true differs from 1, and 1 equals 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(item, other[key]) for key, item in one.items())
    return bool(one == other)
