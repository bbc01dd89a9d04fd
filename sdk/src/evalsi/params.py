"""An evaluator's params: their JSON Schema, derived from typed keyword arguments.

It reads signatures; it must not know what a param means. Values are checked against the schema by the kernel.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

_SIMPLE = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


class ParamError(ValueError):
    """Raised by an evaluator's constructor for a value that no schema can refuse, such as a bad pattern."""

    def __init__(self, param: str, message: str) -> None:
        super().__init__(f"{param}: {message}")
        self.param = param
        self.message = message


@dataclass(frozen=True, slots=True)
class Param:
    """More about a param than its type says: `Annotated[float, Param(description="…", minimum=0)]`."""

    description: str = ""
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None

    def to_schema(self) -> dict[str, Any]:
        """The JSON Schema keywords of this."""
        pairs = {
            "description": self.description or None,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "minLength": self.min_length,
        }
        return {key: value for key, value in pairs.items() if value is not None}


def params_schema(function: Callable[..., Any], skip: tuple[str, ...] = ()) -> dict[str, Any]:
    """The JSON Schema of a function's keyword-only arguments, or of a class's constructor.

    Args:
        function: the evaluator, or `Class.__init__`.
        skip: positional arguments that are no params.

    Raises:
        TypeError: an argument has no type, or one that JSON does not have.
    """
    signature = inspect.signature(function)
    hints = get_type_hints(function, include_extras=True)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, parameter in signature.parameters.items():
        if name in skip or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name not in hints:
            raise TypeError(f"The param {name!r} of {function.__qualname__} has no type; write {name}: str = …")
        schema = _type_schema(hints[name], f"{function.__qualname__}({name})")
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        else:
            schema["default"] = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
        properties[name] = schema
    result: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        result["required"] = required
    return result


def _type_schema(hint: Any, where: str) -> dict[str, Any]:
    if hint is Any:
        return {}
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        schema = _type_schema(arguments[0], where)
        for extra in arguments[1:]:
            if isinstance(extra, Param):
                schema.update(extra.to_schema())
        return schema
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return _union_schema(arguments, where)
    if hint is list or origin in (list, tuple):
        return {"type": "array", **({"items": _type_schema(arguments[0], where)} if arguments else {})}
    if hint is dict or origin is dict:
        return {"type": "object", **({"additionalProperties": _type_schema(arguments[1], where)} if arguments else {})}
    raise TypeError(f"{where} has the type {hint!r}, which JSON does not have; use bool, int, float, str, list or dict.")


def _union_schema(arguments: tuple[Any, ...], where: str) -> dict[str, Any]:
    options = [_type_schema(argument, where) for argument in arguments]
    if all(set(option) == {"type"} for option in options):
        return {"type": [option["type"] for option in options]}
    return {"anyOf": options}
