"""The subset of JSON Schema for params in a manifest: its keywords, and validation of values.

Types are strict: true is not 1, and 1.0 is not an integer.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any

from evalsi_kernel.checking.problems import Problem, inside
from evalsi_kernel.checking.suggestions import choose

TYPES = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
MAX_DEPTH = 32
INTEGERS = range(-(2**63), 2**64)
BOUNDS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "minimum": ("at least", operator.ge),
    "maximum": ("at most", operator.le),
    "exclusiveMinimum": ("more than", operator.gt),
    "exclusiveMaximum": ("less than", operator.lt),
}
LENGTHS: dict[str, tuple[type[str] | type[list[Any]], str]] = {
    "minLength": (str, "characters"),
    "minItems": (list, "items"),
}
WITHIN = ("items", "properties", "additionalProperties", "required")
KEYWORDS = ("type", "anyOf", "enum", "const", *BOUNDS, *LENGTHS, *WITHIN, "default", "title", "description")


def value_problems(schema: dict[str, Any], value: Any, at: str, depth: int = 0) -> Iterator[Problem]:
    """Yield the problems of a value under a valid schema; none where it fits."""
    if depth > MAX_DEPTH:
        yield Problem(at, f"is nested deeper than {MAX_DEPTH} levels")
        return
    types = types_of(schema)
    if types and not any(_is_of_type(value, name) for name in types):
        yield Problem(at, f"must be {_either([TYPES[name] for name in types])}, not {shown(value)}")
        return
    if "enum" in schema and not any(same(value, choice) for choice in schema["enum"]):
        yield Problem(at, f"must be one of {', '.join(map(_json, schema['enum']))}, not {shown(value)}")
    if "const" in schema and not same(value, schema["const"]):
        yield Problem(at, f"must be {_json(schema['const'])}, not {shown(value)}")
    if "anyOf" in schema:
        yield from _any_of_problems(schema["anyOf"], value, at, depth)
    yield from _size_problems(schema, value, at)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from value_problems(schema.get("items", {}), item, inside(at, index), depth + 1)
    elif isinstance(value, dict):
        yield from _object_problems(schema, value, at, depth)
    elif not types and not _is_json_scalar(value):
        yield Problem(at, f"must be a JSON value, not {shown(value)}")


def types_of(schema: dict[str, Any]) -> list[str]:
    """Return the types that a schema allows; [] where it allows all."""
    named = schema.get("type", [])
    return [named] if isinstance(named, str) else list(named)


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; true is not 1, but 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    return bool(one == other)


def shown(value: Any) -> str:
    """Return a description of a value for error messages: its type, and the value itself where it is short."""
    if value is None or isinstance(value, bool):
        return _json(value)
    if isinstance(value, str):
        return f"the text {_json(value if len(value) <= 60 else value[:60] + '…')}"
    if isinstance(value, int | float):
        # Python limits the decimal conversion of very long integers.
        is_long = isinstance(value, int) and value.bit_length() > 256
        return "a very long number" if is_long else f"the number {value!r}"
    if isinstance(value, list):
        return "an empty list" if not value else "a list"
    return "an object" if isinstance(value, dict) else f"a {type(value).__name__}"


def _is_of_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if isinstance(value, int):
        return name in ("integer", "number")
    if isinstance(value, float):
        return name == "number" and isfinite(value)
    if isinstance(value, str):
        return name == "string" and _is_text(value)
    kinds: dict[str, type] = {"array": list, "object": dict, "null": type(None)}
    return name in kinds and isinstance(value, kinds[name])


def _is_json_scalar(value: Any) -> bool:
    return any(_is_of_type(value, name) for name in TYPES)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _any_of_problems(options: list[dict[str, Any]], value: Any, at: str, depth: int) -> Iterator[Problem]:
    tried = [list(value_problems(option, value, at, depth + 1)) for option in options]
    if not all(tried):
        return
    # If only one option allows the type of the value, its problems are the most helpful.
    near = [found for option, found in zip(options, tried, strict=True) if _could_be(option, value)]
    if len(near) == 1:
        yield from near[0]
    else:
        yield Problem(at, f"must be {_either([_described(option) for option in options])}, not {shown(value)}")


def _could_be(option: dict[str, Any], value: Any) -> bool:
    types = types_of(option)
    if types:
        return any(_is_of_type(value, name) for name in types)
    return any(type(choice) is type(value) for choice in option.get("enum", ()))


def _described(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return f"one of {', '.join(map(_json, schema['enum']))}"
    if "const" in schema:
        return _json(schema["const"])
    return _either([TYPES[name] for name in types_of(schema)]) or "a JSON value"


def _size_problems(schema: dict[str, Any], value: Any, at: str) -> Iterator[Problem]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if isinstance(value, int) and value not in INTEGERS:
            yield Problem(at, "must fit 64 bits")
        for keyword, (words, fits) in BOUNDS.items():
            if keyword in schema and not fits(value, schema[keyword]):
                yield Problem(at, f"must be {words} {schema[keyword]!r}, not {shown(value)}")
    for keyword, (kind, unit) in LENGTHS.items():
        least = schema.get(keyword, 0)
        if isinstance(value, kind) and len(value) < least:
            yield Problem(at, f"must have at least {least} {unit}, not {len(value)}")


def _object_problems(schema: dict[str, Any], value: dict[Any, Any], at: str, depth: int) -> Iterator[Problem]:
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for key, item in value.items():
        if not isinstance(key, str) or not _is_text(key):
            yield Problem(at, f"has the key {key!r}, which is not text")
        elif key in properties:
            yield from value_problems(properties[key], item, inside(at, key), depth + 1)
        elif others is False:
            yield Problem(inside(at, key), "is not a known key", choose(key, properties))
        else:
            yield from value_problems({} if others is True else others, item, inside(at, key), depth + 1)
    for key in schema.get("required", ()):
        if key not in value:
            yield Problem(inside(at, key), "is missing")


def _either(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
