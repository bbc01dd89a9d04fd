"""Fill an evaluator's arguments from a record: by their names, converted to their types (decision 0020)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, NoReturn, Union, get_args, get_origin, is_typeddict

from evalsi.content import Content, ContentError
from evalsi.params import function_of, resolved
from evalsi.record import Record
from evalsi.score import MissingField, shown
from evalsi.signatures import EMPTY, Argument, arguments_of

if TYPE_CHECKING:
    from evalsi.context import Context

FIELDS_BY_NAME = {
    "input": "input",
    "output": "output",
    "reference": "reference",
    "expected": "reference",
    "context": "context",
    "metadata": "metadata",
    "trajectory": "trajectory",
}
"""Argument names that are filled from the record → field of the record."""
_RECORD, _CONTEXT = "record", "ctx"
_MEANT = {
    "input": ("inputs", "input_text", "prompt", "question", "query"),
    "output": (
        *("outputs", "output_text", "answer", "response", "prediction", "predicted", "pred", "actual", "actual_output"),
        *("completion", "generated", "generation", "generated_text", "candidate", "hypothesis", "text"),
    ),
    "reference": (
        *("references", "expected_output", "expected_answer", "reference_output", "reference_outputs", "target"),
        *("targets", "gold", "golden", "ground_truth", "ideal", "label", "correct_answer"),
    ),
    "context": ("contexts", "retrieval_context", "retrieved_contexts", "documents", "docs"),
    "metadata": ("meta",),
    "trajectory": ("steps", "trace"),
}
_FIELD_MEANT = {name: field for field, names in _MEANT.items() for name in names}
_SCALARS = (str, bool, int, float)
_SEQUENCES = (list, Sequence)
_MAPPINGS = (dict, Mapping)
_READABLE = "str, int, float, bool, list[T], dict[str, T], Content, a union of these, or no type"

Read = Callable[[Record], Any]


class FieldTypeError(ValueError):
    """A field of the record does not have the type of the evaluator's argument. `hint` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Bound(NamedTuple):
    """One argument that is filled from the record.

    Args:
        name: name of the argument.
        field: field of the record; "record" for the whole record.
        read: returns the value; raises `MissingField` if the record lacks it, `FieldTypeError` if its type is wrong.
        default: value for a record that lacks the field; `EMPTY` skips the record.
        positional: whether the argument is passed by position.
    """

    name: str
    field: str
    read: Read
    default: Any
    positional: bool

    def value(self, record: Record) -> Any:
        """Return the argument's value for a record."""
        try:
            return self.read(record)
        except MissingField:
            if self.default is EMPTY:
                raise
            return self.default


class Binding(NamedTuple):
    """The arguments of a callable that are filled from the record.

    Args:
        bound: these arguments, in order.
        takes_context: whether the callable takes `ctx`.
        takes_rest: whether fields without an argument of their own are passed in its `**kwargs`.
        preset: arguments fixed by a `partial` that cannot be params: fields, and arguments without a type.
    """

    bound: tuple[Bound, ...]
    takes_context: bool
    takes_rest: bool
    preset: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments that are not params."""
        return (*(one.name for one in self.bound), *((_CONTEXT,) if self.takes_context else ()), *self.preset)

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields that the evaluator requires."""
        fields = (one.field for one in self.bound if one.default is EMPTY and one.field != _RECORD)
        return tuple(dict.fromkeys(fields))

    def caller(self, function: Callable[..., Any], context: Context | None) -> Callable[[Record], Any]:
        """Return the function as a callable of one record. Its params must already be bound."""
        takes_context = self.takes_context
        if [(one.field, one.positional) for one in self.bound] == [(_RECORD, True)]:
            if not takes_context:
                return function
            return lambda record: function(record, ctx=None if context is None else context.of(record))
        by_place = [one for one in self.bound if one.positional]
        by_name = [one for one in self.bound if not one.positional]
        rest = self._rest() if self.takes_rest else ()

        def call(record: Record) -> Any:
            places = [one.value(record) for one in by_place]
            names = {one.name: one.value(record) for one in by_name}
            for one in rest:
                value = one.value(record)
                if value is not EMPTY:
                    names[one.name] = value
            if takes_context:
                names[_CONTEXT] = None if context is None else context.of(record)
            return function(*places, **names)

        return call

    def _rest(self) -> list[_Rest]:
        taken = {one.name for one in self.bound}
        return [_Rest(name, _reader(name, field, EMPTY)) for name, field in FIELDS_BY_NAME.items() if name not in taken]


class _Rest(NamedTuple):
    """A field for `**kwargs`, left out if the record lacks it."""

    name: str
    read: Read

    def value(self, record: Record) -> Any:
        try:
            return self.read(record)
        except MissingField:
            return EMPTY


def binding_of(function: Callable[..., Any]) -> Binding:
    """Determine from a signature which arguments are filled from the record.

    The argument `record` receives the record. So does a first argument with any other name that has no type or the type
    `Record`. The arguments `input`, `output`, `reference` (or `expected`), `context`, `metadata` and `trajectory`
    receive fields. If a function takes the whole record, its keyword-only arguments are always params.

    Raises:
        TypeError: no argument takes the record or one of its fields, or an argument has an unsupported type.
    """
    where = function_of(function).__qualname__
    given = _preset(function)
    arguments = [one for one in arguments_of(function).values() if one.name not in given]
    preset = tuple(
        name
        for name, one in arguments_of(function).items()
        if name in given and (name in FIELDS_BY_NAME or one.annotation is EMPTY)
    )
    first = arguments[0] if arguments else None
    whole = _takes_record(first, function, where, [one.name for one in arguments])
    bound: list[Bound] = []
    rest = False
    in_place = True
    for argument in arguments:
        field = FIELDS_BY_NAME.get(argument.name)
        keyword_only = argument.kind == "keyword_only"
        if argument.kind in ("var_positional", "var_keyword") and argument is not first:
            rest = rest or argument.kind == "var_keyword"
            in_place = in_place and argument.kind != "var_positional"
            continue
        if (whole and argument is first) or argument.name == _RECORD:
            if argument is not first:
                _check_record_type(argument, function, where)
            reader: Read = _whole
            field = _RECORD
        elif field is not None and not (whole and keyword_only):
            reader = _reader(f"{where}({argument.name})", field, _hint(argument, function, where))
        else:
            in_place = False
            if argument.name != _CONTEXT and argument.annotation is EMPTY:
                _refuse_untyped(argument, where)
            continue
        in_place = in_place and not keyword_only
        default = argument.default if field != _RECORD else EMPTY
        if default is EMPTY and field != _RECORD and _is_optional(_hint(argument, function, where)):
            default = None
        if not in_place and argument.kind == "positional_only":
            raise TypeError(f"{where}({argument.name}) is positional-only and follows a param. Remove the slash.")
        bound.append(Bound(argument.name, field, reader, default, in_place))
    takes_context = any(one.name == _CONTEXT for one in arguments)
    if not bound:
        _refuse(where, [one.name for one in arguments])
    return Binding(tuple(bound), takes_context, rest and not any(one.field == _RECORD for one in bound), preset)


def method_binding(target: type, name: str) -> Binding | None:
    """Return the binding of a class's method without creating an instance; None if that needs an instance.

    Raises:
        TypeError: the method takes neither a record nor a field, or has an argument that cannot be filled.
    """
    found = next((vars(one)[name] for one in target.__mro__ if name in vars(one)), None)
    if type(found) is staticmethod:
        function = found.__func__
    elif type(found) is FunctionType:
        function = found.__get__(_NoInstance())
    else:
        return None
    binding = binding_of(function)
    for argument in arguments_of(function).values():
        required = argument.default is EMPTY and not argument.kind.startswith("var_")
        if required and argument.name not in binding.names:
            raise TypeError(
                f"{target.__qualname__}.{name}({argument.name}) cannot be filled{did_you_mean(argument.name)}. "
                "Name it as a field of the record, or make it a param of the constructor."
            )
    return binding


class _NoInstance:
    """Placeholder for the instance of a method whose signature is read."""


def _preset(function: Any) -> set[str]:
    """Return the arguments that a `partial` fixes by name. A record does not override them."""
    names: set[str] = set()
    while isinstance(function, functools.partial):
        names |= function.keywords.keys()
        function = function.func
    return names


def _takes_record(first: Argument | None, function: Any, where: str, names: list[str]) -> bool:
    """Return whether the first argument takes the record. Raise `TypeError` if it takes neither record nor field."""
    if first is None or first.kind in ("keyword_only", "var_keyword") or first.name in FIELDS_BY_NAME:
        return False
    if first.name == _CONTEXT:
        if set(names) & {_RECORD, *FIELDS_BY_NAME}:
            return False
        _refuse(where, names)
    if first.kind == "var_positional":
        return True
    if first.annotation is EMPTY:
        # An argument named "answer" is meant to be compared with text, which a Record never equals.
        others = set(names[1:]) & FIELDS_BY_NAME.keys()
        if first.name != _RECORD and (did_you_mean(first.name) or others):
            raise TypeError(
                f"{where}({first.name}) would get the whole record{did_you_mean(first.name)}. Name it as the field "
                f"that it stands for ({', '.join(FIELDS_BY_NAME)}), or write {first.name}: Record."
            )
        return True
    _check_record_type(first, function, where)
    return True


def _check_record_type(argument: Argument, function: Any, where: str) -> None:
    """Raise `TypeError` if the argument's type excludes Record. Types known only to type checkers match by name."""
    annotation = argument.annotation
    if annotation is EMPTY or (isinstance(annotation, str) and annotation.rpartition(".")[2].strip("'\" ") == "Record"):
        return
    try:
        hint = _hint(argument, function, where)
    except TypeError:
        if argument.name in _FIELD_MEANT:
            raise
        # A local name, or one known only to type checkers, may be an alias of Record.
        return
    if not any(map(_takes_a_record, _options(hint))):
        meant = did_you_mean(argument.name)
        raise TypeError(
            f"{where}({argument.name}: {_shown(annotation)}) does not accept a Record{meant}. Write "
            f"{argument.name}: Record, name it as a field ({', '.join(FIELDS_BY_NAME)}), or make it keyword-only "
            "where it is a param."
        )


def _takes_a_record(hint: Any) -> bool:
    if hint is Any:
        return True
    # Protocols are accepted without checking their members.
    if not isinstance(hint, type) or is_typeddict(hint):
        return False
    return getattr(hint, "_is_protocol", False) or issubclass(Record, hint)


def _refuse(where: str, names: list[str]) -> NoReturn:
    meant = next((did_you_mean(name) for name in names if name in _FIELD_MEANT), "")
    if names == [_CONTEXT]:
        meant = ", only ctx, which asks a judge (in pydantic-evals ctx holds the output; here it is an argument)"
    name = where.rpartition(".")[2]
    raise TypeError(f"{where} takes no record{meant}. Write def {name}(record) or def {name}(output, reference): …")


def _refuse_untyped(argument: Argument, where: str) -> NoReturn:
    raise TypeError(
        f"{where}({argument.name}) has no type{did_you_mean(argument.name)}. For a param write {argument.name}: str, "
        f"or whatever it is; the fields of a record are {', '.join(FIELDS_BY_NAME)}."
    )


def did_you_mean(name: str) -> str:
    """Return a hint in parentheses with the field that other tools call by this name; "" if there is none."""
    if name == "test_case":
        return " (DeepEval's test case is not built here: its fields are arguments, such as input and output)"
    return f" (did you mean {_FIELD_MEANT[name]!r}?)" if name in _FIELD_MEANT else ""


def _hint(argument: Argument, function: Any, where: str) -> Any:
    if argument.annotation is EMPTY:
        return EMPTY
    return resolved(argument.annotation, function_of(function), f"{where}({argument.name})")


def _options(hint: Any) -> list[Any]:
    """Return the types that a type hint allows, without None."""
    if get_origin(hint) is Annotated:
        return _options(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return [option for part in get_args(hint) for option in _options(part)]
    return [] if hint in (None, NoneType) else [hint]


def _is_optional(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return _is_optional(get_args(hint)[0])
    return get_origin(hint) in (Union, UnionType) and any(part is NoneType for part in get_args(hint))


def _kind(option: Any) -> Any:
    """Return the plain type of an option: a scalar, list, dict or Content; None for any other type."""
    origin = get_origin(option) or option
    if origin in _SEQUENCES:
        return list
    if origin in _MAPPINGS or is_typeddict(origin):
        return dict
    return origin if origin in (*_SCALARS, Content) else None


def _whole(record: Record) -> Record:
    return record


def _reader(where: str, field: str, hint: Any) -> Read:
    """Return a reader that converts a field to a type. Raise `TypeError` for a type that the field cannot have."""
    options = [] if hint is EMPTY else _options(hint)
    if any(option in (Any, object) for option in options):
        options = []
    kinds = {_kind(option) for option in options}
    special: dict[str, set[Any]] = {"context": {list, str}, "metadata": {dict}, "trajectory": {list}}
    allowed = special.get(field, {*_SCALARS, list, dict, Content})
    if not kinds <= allowed:
        named = " or ".join(sorted(one.__name__ for one in allowed))
        accepted = f"such as {named}" if len(allowed) < 4 else _READABLE
        raise TypeError(f"{where}: the {field} of a record cannot have the type {_shown(hint)}. Write {accepted}.")
    if field == "metadata":
        return lambda record: _present(record, "metadata")
    if field == "trajectory":
        return lambda record: record.trajectory
    if field == "context":
        return _context_reader(where, options)
    if field == "reference":
        return _reference_reader(where, options)
    return lambda record: _read(getattr(record, field), options, where)


def _present(record: Record, field: str) -> Any:
    if field not in record.wire:
        raise MissingField(field)
    return record.wire[field]


def _context_reader(where: str, options: list[Any]) -> Read:
    lists = [option for option in options if _kind(option) is list]
    if options and not lists:
        return lambda record: "\n\n".join(one.as_text() for one in record.context)
    items = _items(lists)
    return lambda record: [_read(one, items, where) for one in record.context]


def _reference_reader(where: str, options: list[Any]) -> Read:
    lists = [option for option in options if _kind(option) is list]
    items = _items(lists)

    def read(record: Record) -> Any:
        several = type(record.wire.get("reference")) is list
        references = record.references
        if several and (lists or not options):
            return [_read(one, items, where) for one in references]
        if len(references) > 1:
            raise FieldTypeError(
                f"{where} takes one reference, and the record has {len(references)}.",
                "Annotate it as a list, such as list[str], or take the record and read record.references.",
            )
        one = references[0]
        if lists and len(lists) == len(options) and not _is_list(one, items):
            # A single reference counts as a list of one, as in `record.references`.
            return [_read(one, items, where)]
        return _read(one, options, where)

    return read


def _is_list(content: Content, items: list[Any]) -> bool:
    """Return whether one reference is itself a list: a JSON array, or chat messages if text is not an option."""
    wire = content.wire
    if not isinstance(wire, dict):
        return False
    return isinstance(wire["json"], list) if "json" in wire else str not in {_kind(item) for item in items}


def _items(lists: list[Any]) -> list[Any]:
    """Return the types that the elements of a list may have; empty if any type is allowed."""
    arguments = [argument for option in lists for argument in get_args(option)]
    options = [option for argument in arguments for option in _options(argument)]
    return [] if any(option in (Any, object) for option in options) else options


def _read(content: Content, options: list[Any], where: str) -> Any:
    """Convert content to one of the types. Without types, return JSON as its value and everything else as text."""
    wire = content.wire
    kinds = {_kind(option) for option in options}
    if Content in kinds:
        return content
    if isinstance(wire, dict) and "json" in wire:
        value = wire["json"]
        if not options or _fits(value, options):
            return _as(value, kinds)
        if str in kinds:
            return content.as_text()
        raise _unfit(where, value, options)
    if not options or str in kinds:
        return content.as_text()
    if isinstance(wire, dict) and list in kinds:
        return content.messages()
    try:
        value = content.as_json()
    except ContentError as error:
        raise _unfit(where, content.as_text(), options) from error
    if not _fits(value, options):
        raise _unfit(where, value, options)
    return _as(value, kinds)


def _as(value: Any, kinds: set[Any]) -> Any:
    return float(value) if type(value) is int and float in kinds and int not in kinds else value


def _fits(value: Any, options: list[Any]) -> bool:
    return any(_fits_one(value, option) for option in options)


def _fits_one(value: Any, option: Any) -> bool:
    if option in (Any, object):
        return True
    kind, arguments = _kind(option), get_args(option)
    if kind is float:
        return type(value) in (int, float)
    if kind is list:
        items = _options(arguments[0]) if arguments else []
        return isinstance(value, list) and (not items or all(_fits(item, items) for item in value))
    return kind is not None and type(value) is kind


def _unfit(where: str, value: Any, options: list[Any]) -> FieldTypeError:
    expected = " or ".join(map(_shown, options))
    return FieldTypeError(
        f"{where} has the type {expected}, but the record has {shown(value)}.",
        "Give the argument the type of the data, or no type.",
    )


def _shown(hint: Any) -> str:
    if isinstance(hint, str):
        return hint
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint).replace("typing.", "")
