"""Validate TOML files with strict pydantic models; one error reports all problems with their places.

Importing pydantic is slow, so only code that bypasses every cache imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evalsi_kernel.checking.problems import Problem, describe_problems, inside
from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.checking.toml_text import parse_toml
from evalsi_kernel.checking.value_schema import shown
from evalsi_kernel.errors import EvalsiError


class Table(BaseModel):
    """A TOML table with exactly the declared keys, of exactly the declared types."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Misfit(ValueError):
    """A problem found by a validator, in the form of `Problem`: the rest of a sentence, and a hint."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


DottedName = Annotated[
    str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$", description="the dotted name of a module")
]
# No control characters: in a terminal they could hide a warning about untrusted text.
REST_OF_LINE = r"[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*$"
Line = Annotated[str, Field(pattern=f"^{REST_OF_LINE}", description="one line")]
FilledLine = Annotated[str, Field(min_length=1, pattern=f"^{REST_OF_LINE}", description="one line")]


TableType = TypeVar("TableType", bound=Table)
MoreProblems = Callable[[dict[str, Any]], Iterable[Problem]]
Raise = Callable[[str, str, list[Problem]], EvalsiError]

MAX_BYTES = 512 << 10
"""Maximum size of a TOML file; the largest known manifest has a twelfth of it."""
_KINDS = {
    "string_type": ("must be text", "Put it in quotes."),
    "bool_type": ("must be true or false", ""),
    "int_type": ("must be a whole number", ""),
    "int_from_float": ("must be a whole number", ""),
    "float_type": ("must be a number", ""),
    "finite_number": ("must be a finite number", ""),
    "list_type": ("must be a list", "Put it in [ ]."),
    "dict_type": ("must be a table", ""),
    "model_type": ("must be a table", ""),
    "string_too_short": ("must not be empty", ""),
}


def read_toml(path: Path, error: Raise) -> dict[str, Any]:
    """Return the tables of a file; `error` creates the exception for an unreadable one."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise error(f"{path} is larger than {MAX_BYTES >> 10} KiB.", "Shorten it.", [])
        return parse_toml(data.decode("utf-8-sig"))
    except OSError as cause:
        raise error(f"{path} cannot be read: {cause.strerror or cause}.", "Check that it is a file.", []) from cause
    except UnicodeDecodeError as cause:
        line = cause.object.count(b"\n", 0, cause.start) + 1
        raise error(f"{path} is not UTF-8 (line {line}).", "Save it as UTF-8.", []) from cause
    except (ValueError, RecursionError) as cause:
        raise error(f"{path} is not TOML: {cause}.", "Fix the syntax there.", []) from cause


def check_table(
    model: type[TableType], tables: dict[str, Any], path: Path, error: Raise, more: MoreProblems
) -> TableType:
    """Return the tables as a model; `error` creates the exception for all problems, including those of `more`."""
    problems: list[Problem] = []
    checked: TableType | None = None
    try:
        checked = model.model_validate(tables)
    except ValidationError as cause:
        problems = _problems(model, cause, "")
    problems += more(tables)
    if checked is None or problems:
        message, hint = describe_problems(str(path), problems)
        raise error(message, hint, problems)
    return checked


def problems_of(model: type[BaseModel], tables: dict[str, Any], place: str) -> list[Problem]:
    """Return the problems of the table at a place of a document; [] where it fits the model."""
    try:
        model.model_validate(tables)
    except ValidationError as cause:
        return _problems(model, cause, place)
    return []


def _problems(model: type[BaseModel], cause: ValidationError, place: str) -> list[Problem]:
    return [_problem(model, found, place) for found in cause.errors(include_url=False)]


def _problem(model: type[BaseModel], found: Any, at: str) -> Problem:
    for key in found["loc"]:
        at = inside(at, key)
    kind, value = found["type"], found["input"]
    if kind == "value_error" and isinstance(error := found["ctx"]["error"], Misfit):
        return Problem(at, error.what, error.hint)
    if kind == "missing":
        return Problem(at, "is missing", "Add it.")
    if kind == "extra_forbidden":
        of = _model_at(model, found["loc"][:-1])
        return Problem(at, "is not a known key", choose(str(found["loc"][-1]), of.model_fields if of else ()))
    if kind in _KINDS:
        what, hint = _KINDS[kind]
        return Problem(at, f"{what}, not {shown(value)}", hint)
    if kind == "literal_error":
        return Problem(at, f"must be {found['ctx']['expected']}, not {shown(value)}")
    if kind == "string_pattern_mismatch":
        # The description of a field with a pattern explains the pattern.
        of = _model_at(model, found["loc"][:-1])
        field = of.model_fields.get(found["loc"][-1]) if of else None
        words = field.description if field and field.description else "one line of text"
        return Problem(at, f"must be {words}, not {shown(value)}")
    return Problem(at, f"is {shown(value)}: {found['msg'][:1].lower()}{found['msg'][1:]}")


def _model_at(model: type[BaseModel], location: Iterable[str | int]) -> type[BaseModel] | None:
    """Return the model of the table at a location of pydantic; None within a map or a list of plain values."""
    for key in location:
        if isinstance(key, str):
            field = model.model_fields.get(key)
            annotation = None if field is None else field.annotation
            inner = next((one for one in (annotation, *get_args(annotation)) if _is_model(one)), None)
            if inner is None:
                return None
            model = inner
    return model


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
