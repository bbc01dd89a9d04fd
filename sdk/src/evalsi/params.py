"""Derive the JSON Schema of an evaluator's params from its typed keyword arguments.

The kernel checks values against the schema.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from evalsi.signatures import EMPTY, arguments_of

_SIMPLE = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
_LISTS = (list, tuple, Sequence)
_MAPS = (dict, Mapping)
_TYPES = "bool, int, float, str, Literal, list, dict or a union of these"


class ParamError(ValueError):
    """Raise it in an evaluator's constructor for a value that a schema cannot reject, such as an invalid pattern."""

    def __init__(self, param: str, message: str) -> None:
        super().__init__(f"{param}: {message}")
        self.param = param
        self.message = message


class Param(NamedTuple):
    """Description and limits of a param: `Annotated[float, Param(description="…", minimum=0)]`.

    Args:
        description: one sentence for the catalog.
        minimum: smallest allowed number.
        maximum: largest allowed number.
        min_length: minimum number of characters of a text, or of elements of a list.
    """

    description: str = ""
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None

    def to_schema(self, of: str = "string") -> dict[str, Any]:
        """Return the JSON Schema keywords for a param of the JSON type `of`."""
        pairs = {
            "description": self.description or None,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "minItems" if of == "array" else "minLength": self.min_length,
        }
        return {key: value for key, value in pairs.items() if value is not None}


def params_schema(target: Callable[..., Any], skip: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the JSON Schema of the keyword arguments of a function or constructor.

    A default that a manifest cannot represent, such as None or a sentinel object, is left out. The param is still
    optional, and Python supplies the default.

    Args:
        target: the evaluator, or `Class.__init__`.
        skip: arguments that are not params.

    Raises:
        TypeError: an argument has no type, or a type that JSON does not have.
    """
    function = function_of(target)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, argument in arguments_of(target).items():
        if name in skip or argument.kind in ("var_positional", "var_keyword"):
            continue
        where = f"{function.__qualname__}({name})"
        if argument.kind == "positional_only":
            raise TypeError(f"{where} is positional-only, but a param is passed by name. Remove the slash.")
        if argument.annotation is EMPTY:
            raise TypeError(f"{where} has no type. Annotate it, such as {name}: str.")
        schema = _type_schema(resolved(argument.annotation, function, where), where)
        if argument.default is EMPTY:
            required.append(name)
        elif _can_be_written(argument.default):
            schema["default"] = _with_lists(argument.default)
        properties[name] = schema
    result: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        result["required"] = required
    return result


def function_of(target: Any) -> types.FunctionType:
    """Return the function that runs when the target, such as a partial, method, wrapper or object, is called.

    Raises:
        TypeError: the target is not written in Python, such as a builtin.
    """
    inner = target
    while isinstance(inner, functools.partial):
        inner = inner.func
    if type(inner) is not types.FunctionType or hasattr(inner, "__wrapped__"):
        import inspect  # Imported late: it takes 5 ms, and plain functions do not need it.

        if not inspect.isroutine(inner):
            inner = type(inner).__call__
        inner = inspect.unwrap(getattr(inner, "__func__", inner))
    if not isinstance(inner, types.FunctionType):
        raise TypeError(f"{target!r} is not written in Python, so its arguments have no types. Write a function.")
    return inner


def resolved(annotation: Any, function: types.FunctionType, where: str) -> Any:
    """Return the type for one annotation, which may be a string. The types of other arguments need not resolve.

    Raises:
        TypeError: the annotation uses an undefined name, or is not a type.
    """
    holder = types.SimpleNamespace(__annotations__={"param": annotation})
    try:
        return get_type_hints(holder, function.__globals__, include_extras=True)["param"]
    except NameError as error:
        raise TypeError(
            f"{where} has the type {annotation!r}, but {error}. Define it at the top of the module, or write it out."
        ) from error
    except (AttributeError, SyntaxError, TypeError) as error:
        raise TypeError(f"{where} has an invalid type {annotation!r}: {error}. Use {_TYPES}.") from error


def _type_schema(hint: Any, where: str) -> dict[str, Any]:
    if hint is Any:
        return {}
    if isinstance(hint, type) and hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin is Annotated:
        return _annotated_schema(arguments, where)
    if origin is Literal:
        return _literal_schema(arguments, where)
    if origin in (Union, types.UnionType):
        return _union_schema(arguments, where)
    if origin in _LISTS:
        items = [_type_schema(argument, where) for argument in arguments if argument is not Ellipsis]
        if any(item != items[0] for item in items):
            raise TypeError(f"{where} is a tuple of different types, which JSON does not have. Use list[T].")
        return {"type": "array", **({"items": items[0]} if items else {})}
    if origin in _MAPS:
        if arguments and arguments[0] is not str:
            raise TypeError(f"{where} has keys other than strings, which JSON does not have. Use dict[str, T].")
        return {"type": "object", **({"additionalProperties": _type_schema(arguments[1], where)} if arguments else {})}
    raise TypeError(f"{where} has the type {hint!r}, which JSON does not have. Use {_TYPES}.")


def _annotated_schema(arguments: tuple[Any, ...], where: str) -> dict[str, Any]:
    schema = _type_schema(arguments[0], where)
    for extra in arguments[1:]:
        if isinstance(extra, Param):
            schema.update(extra.to_schema(schema.get("type", "string")))
    return schema


def _literal_schema(values: tuple[Any, ...], where: str) -> dict[str, Any]:
    choices = [value for value in values if value is not None]
    strange = [value for value in choices if type(value) not in (bool, int, str)]
    if strange:
        raise TypeError(f"{where} may be {strange[0]!r}, which JSON does not have. Use strings and integers.")
    schemas: list[dict[str, Any]] = [{"enum": choices}] if choices else []
    # TOML has no null, so None becomes a type instead of an enum value.
    schemas += [{"type": "null"}] if None in values else []
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _union_schema(arguments: tuple[Any, ...], where: str) -> dict[str, Any]:
    options = [_type_schema(argument, where) for argument in arguments]
    # The description of an option describes the whole param, so it moves to the top level.
    described = dict(pair for option in options for pair in option.items() if pair[0] == "description")
    options = [{key: part for key, part in option.items() if key != "description"} for option in options]
    if all(set(option) == {"type"} for option in options):
        return {"type": [option["type"] for option in options], **described}
    return {"anyOf": options, **described}


def _can_be_written(default: Any) -> bool:
    if type(default) in (list, tuple):
        return all(map(_can_be_written, default))
    if type(default) is dict:
        return all(type(key) is str and _can_be_written(value) for key, value in default.items())
    return type(default) in (bool, int, str) or (type(default) is float and isfinite(default))


def _with_lists(default: Any) -> Any:
    """Return a copy of the default with tuples as lists. A copy, because the schema outlives the call."""
    if isinstance(default, (list, tuple)):
        return [_with_lists(item) for item in default]
    return {key: _with_lists(item) for key, item in default.items()} if isinstance(default, dict) else default
