"""An evaluator's params: their JSON Schema, derived from typed keyword arguments.

It reads signatures; it must not know what a param means. Values are checked against the schema by the kernel.
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
    """Raised by an evaluator's constructor for a value that no schema can refuse, such as a bad pattern."""

    def __init__(self, param: str, message: str) -> None:
        super().__init__(f"{param}: {message}")
        self.param = param
        self.message = message


class Param(NamedTuple):
    """More about a param than its type says: `Annotated[float, Param(description="…", minimum=0)]`.

    Args:
        description: one sentence for the catalog.
        minimum: the least number that is allowed.
        maximum: the greatest number that is allowed.
        min_length: the least number of characters of a text, or of items of a list.
    """

    description: str = ""
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None

    def to_schema(self, of: str = "string") -> dict[str, Any]:
        """The JSON Schema keywords of this, for a param of the JSON type `of`."""
        pairs = {
            "description": self.description or None,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "minItems" if of == "array" else "minLength": self.min_length,
        }
        return {key: value for key, value in pairs.items() if value is not None}


def params_schema(target: Callable[..., Any], skip: tuple[str, ...] = ()) -> dict[str, Any]:
    """The JSON Schema of a function's keyword arguments, or of a class's constructor.

    A default that a manifest has no form for, such as None or an object that stands for "not given", is left out: the
    param is then optional, and Python fills it in.

    Args:
        target: the evaluator, or `Class.__init__`.
        skip: arguments that are no params.

    Raises:
        TypeError: an argument has no type, or one that JSON does not have.
    """
    function = function_of(target)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, argument in arguments_of(target).items():
        if name in skip or argument.kind in ("var_positional", "var_keyword"):
            continue
        where = f"{function.__qualname__}({name})"
        if argument.kind == "positional_only":
            raise TypeError(f"{where} is positional-only, and a param is given by its name. Take the slash away.")
        if argument.annotation is EMPTY:
            raise TypeError(f"{where} has no type. Write {name}: str, or whatever it is.")
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
    """The function whose code runs when the target is called: within a partial, a method, a wrapper or an object.

    Raises:
        TypeError: there is none, as in a builtin.
    """
    inner = target
    while isinstance(inner, functools.partial):
        inner = inner.func
    if type(inner) is not types.FunctionType or hasattr(inner, "__wrapped__"):
        import inspect  # 5 ms that plain functions need not wait for.

        if not inspect.isroutine(inner):
            inner = type(inner).__call__
        inner = inspect.unwrap(getattr(inner, "__func__", inner))
    if not isinstance(inner, types.FunctionType):
        raise TypeError(f"{target!r} is not written in Python, so its arguments have no types. Write a function.")
    return inner


def resolved(annotation: Any, function: types.FunctionType, where: str) -> Any:
    """Return the type behind one annotation, which may be text; the other arguments' types need not be known.

    Raises:
        TypeError: the annotation names nothing that is there, or is no type.
    """
    holder = types.SimpleNamespace(__annotations__={"param": annotation})
    try:
        return get_type_hints(holder, function.__globals__, include_extras=True)["param"]
    except NameError as error:
        raise TypeError(
            f"{where} has the type {annotation!r}, but {error}. Define it at the top of the module, or write it out."
        ) from error
    except (AttributeError, SyntaxError, TypeError) as error:
        raise TypeError(f"{where} has the type {annotation!r}, which is none: {error}. Use {_TYPES}.") from error


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
            raise TypeError(f"{where} is a tuple of several types, which JSON does not have. Use list[T].")
        return {"type": "array", **({"items": items[0]} if items else {})}
    if origin in _MAPS:
        if arguments and arguments[0] is not str:
            raise TypeError(f"{where} has keys that are no text, which JSON does not have. Use dict[str, T].")
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
        raise TypeError(f"{where} may be {strange[0]!r}, which JSON does not have. Use texts and integers.")
    schemas: list[dict[str, Any]] = [{"enum": choices}] if choices else []
    # A manifest has no null, so None is a type of its own and no choice.
    schemas += [{"type": "null"}] if None in values else []
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _union_schema(arguments: tuple[Any, ...], where: str) -> dict[str, Any]:
    options = [_type_schema(argument, where) for argument in arguments]
    # What is said of one option describes the param, and is looked for there.
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
    """The default with each tuple as the list that it is in JSON; a fresh value, as the schema outlives the call."""
    if isinstance(default, (list, tuple)):
        return [_with_lists(item) for item in default]
    return {key: _with_lists(item) for key, item in default.items()} if isinstance(default, dict) else default
