"""Check that the params schema of a manifest stays within the supported subset of JSON Schema.

Unsupported keywords are rejected rather than ignored, so that no limit of an author goes unchecked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalsi_kernel.checking.problems import Problem, inside
from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.checking.value_schema import (
    BOUNDS,
    KEYWORDS,
    LENGTHS,
    MAX_DEPTH,
    TYPES,
    shown,
    types_of,
    value_problems,
)


def params_schema_problems(schema: dict[str, Any], at: str) -> Iterator[Problem]:
    """Yield the problems of the schema of all params: an object with one property per param."""
    if schema.get("type") != "object":
        yield Problem(inside(at, "type"), 'must be "object"', 'Write type = "object".')
    yield from schema_problems(schema, at)


def schema_problems(schema: Any, at: str, depth: int = 0) -> Iterator[Problem]:
    """Yield the problems of a schema and its nested schemas; a default must fit its own schema."""
    if not isinstance(schema, dict):
        yield Problem(at, f"must be a table, not {shown(schema)}")
        return
    if depth > MAX_DEPTH:
        yield Problem(at, f"is nested deeper than {MAX_DEPTH} levels")
        return
    found = [*_keyword_problems(schema, at), *_nested_problems(schema, at, depth)]
    yield from found
    if "default" in schema and not found:
        yield from value_problems(schema, schema["default"], inside(at, "default"))


def _keyword_problems(schema: dict[str, Any], at: str) -> Iterator[Problem]:
    for keyword in schema:
        if keyword not in KEYWORDS:
            yield Problem(inside(at, keyword), "is not a keyword of the params' schema", choose(keyword, KEYWORDS))
    named = schema.get("type", [])
    if not isinstance(named, str | list) or not all(isinstance(name, str) for name in named):
        yield Problem(inside(at, "type"), f"must be a type or a list of types, not {shown(named)}")
    else:
        for name in types_of(schema):
            if name not in TYPES:
                yield Problem(inside(at, "type"), f'has the unknown type "{name}"', choose(name, TYPES))
    for keyword in BOUNDS:
        if not _is_number(schema.get(keyword, 0)):
            yield Problem(inside(at, keyword), f"must be a number, not {shown(schema[keyword])}")
    for keyword in LENGTHS:
        least = schema.get(keyword, 0)
        if type(least) is not int or least < 0:
            yield Problem(inside(at, keyword), f"must be a whole number of at least 0, not {shown(least)}")
    for keyword in ("title", "description"):
        if not isinstance(schema.get(keyword, ""), str):
            yield Problem(inside(at, keyword), f"must be text, not {shown(schema[keyword])}")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield Problem(inside(at, "required"), "must be a list of names")


def _nested_problems(schema: dict[str, Any], at: str, depth: int) -> Iterator[Problem]:
    for keyword in ("anyOf", "enum"):
        choices = schema.get(keyword, ["any"])
        if not isinstance(choices, list) or not choices:
            yield Problem(inside(at, keyword), f"must be a list with at least one item, not {shown(choices)}")
        elif keyword == "anyOf" and keyword in schema:
            for index, option in enumerate(choices):
                yield from schema_problems(option, inside(inside(at, keyword), index), depth + 1)
        elif keyword in schema:
            yield from value_problems({}, choices, inside(at, keyword), depth)
    if "const" in schema:
        yield from value_problems({}, schema["const"], inside(at, "const"), depth)
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        yield Problem(inside(at, "properties"), f"must be a table, not {shown(properties)}")
        properties = {}
    for name, nested in properties.items():
        yield from schema_problems(nested, inside(inside(at, "properties"), name), depth + 1)
    if "items" in schema:
        yield from schema_problems(schema["items"], inside(at, "items"), depth + 1)
    others = schema.get("additionalProperties", True)
    if not isinstance(others, bool):
        yield from schema_problems(others, inside(at, "additionalProperties"), depth + 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0
