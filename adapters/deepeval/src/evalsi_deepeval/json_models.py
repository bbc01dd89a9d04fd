"""A JSON Schema as the pydantic class that DeepEval's JSON metric validates with.

The subset is that of params and questions; a keyword outside of it is refused, not ignored.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, create_model

_SIMPLE: dict[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "null": None}
_BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "minLength": "min_length",
    "minItems": "min_length",
}
_SAID = {"title", "description", "default", "$schema"}
_KNOWN = {"type", "anyOf", "enum", "const", "items", "properties", "required", "additionalProperties", *_BOUNDS, *_SAID}


def json_model(schema: dict[str, Any]) -> type[BaseModel]:
    """The class.

    Raises:
        ValueError: the schema is none of an object, or has a keyword that is not checked.
    """
    made = _type(schema, "the schema")
    if not (isinstance(made, type) and issubclass(made, BaseModel)):
        raise ValueError("the schema is none of an object. Give it type object and properties.")

    # The judge that explains a misfit is shown the schema as it was given.
    shown = {"__module__": __name__, "model_json_schema": classmethod(lambda *_, **__: schema)}
    return type("Expected", (made,), shown)


def _type(schema: Any, where: str) -> Any:
    if not isinstance(schema, dict):
        raise ValueError(f"{where} is no table. Write a JSON Schema.")
    strange = sorted(set(schema) - _KNOWN)
    if strange:
        raise ValueError(f"{where} has {strange[0]!r}, which is not checked. Leave it out.")
    bounds = {_BOUNDS[key]: value for key, value in schema.items() if key in _BOUNDS}
    kind = _kind(schema, where)
    return Annotated[kind, Field(**bounds)] if bounds else kind


def _kind(schema: dict[str, Any], where: str) -> Any:
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if "const" in schema:
        return Literal[schema["const"]]
    if "anyOf" in schema:
        return _either([_type(one, f"{where}.anyOf") for one in schema["anyOf"]])
    named = schema.get("type")
    if isinstance(named, list):
        return _either([_kind({**schema, "type": one}, where) for one in named])
    if named == "object":
        return _object(schema, where)
    if named == "array":
        return list[_type(schema.get("items", {}), f"{where}.items")]  # type: ignore[misc] # A type made from data.
    if named is None:
        return Any
    if named not in _SIMPLE:
        raise ValueError(f"{where} has the type {named!r}. Use object, array, {', '.join(_SIMPLE)}.")
    return _SIMPLE[named]


def _object(schema: dict[str, Any], where: str) -> Any:
    more = schema.get("additionalProperties", True)
    if "properties" not in schema:
        return dict[str, Any if isinstance(more, bool) else _type(more, where)]  # type: ignore[misc] # As above.
    required = set(schema.get("required", ()))
    fields: dict[str, Any] = {}
    for number, (name, part) in enumerate(schema["properties"].items()):
        kind = _type(part, f"{where}.{name}")
        # A key may be no name of Python, or one that pydantic keeps to itself; the alias is what JSON has.
        default = ... if name in required else None
        fields[f"key_{number}"] = (kind if name in required else _either([kind, None]), Field(default, alias=name))
    extra: Any = "forbid" if more is False else "allow"
    return create_model("Expected", __config__=ConfigDict(extra=extra), **fields)


def _either(kinds: list[Any]) -> Any:
    return Union[tuple(kinds)]  # noqa: UP007 -- of types that are known only as data.
