"""Test deriving the schema of params from types."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from inspect import Parameter, Signature
from typing import Annotated, Any, Dict, List, Literal, Optional, Union  # noqa: UP035 -- the old spellings count too.

import pytest

from evalsi import Param, ParamError, Record
from evalsi.params import function_of, params_schema
from evalsi_kernel.checking.param_schema import params_schema_problems

Mode = Literal["strict", "loose"]
REQUIRED = Parameter.empty


class Colour(Enum):
    """An enum, which JSON does not have."""

    RED = "red"


def schema_of(hint: Any, default: Any = REQUIRED) -> dict[str, Any]:
    """The schema of one param of this type, which the kernel must understand too."""

    def probe() -> None: ...

    signature = Signature([Parameter("x", Parameter.KEYWORD_ONLY, default=default, annotation=hint)])
    probe.__signature__ = signature  # type: ignore[attr-defined]
    schema = params_schema(probe)
    assert list(params_schema_problems(schema, "params")) == []
    assert schema.get("required", []) == (["x"] if default is REQUIRED else [])
    properties: dict[str, dict[str, Any]] = schema["properties"]
    return properties["x"]


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (bool, {"type": "boolean"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (str, {"type": "string"}),
        (None, {"type": "null"}),
        (Any, {}),
        (Literal["a", "b"], {"enum": ["a", "b"]}),
        (Literal[1, True, "x"], {"enum": [1, True, "x"]}),
        (Literal["a", None], {"anyOf": [{"enum": ["a"]}, {"type": "null"}]}),
        (Literal[None], {"type": "null"}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (List[str], {"type": "array", "items": {"type": "string"}}),  # noqa: UP006
        (tuple[str, ...], {"type": "array", "items": {"type": "string"}}),
        (tuple[int, int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (list[list[Mode]], {"type": "array", "items": {"type": "array", "items": {"enum": ["strict", "loose"]}}}),
        (dict, {"type": "object"}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Dict[str, Any], {"type": "object", "additionalProperties": {}}),  # noqa: UP006
        (Mapping[str, str], {"type": "object", "additionalProperties": {"type": "string"}}),
        (str | None, {"type": ["string", "null"]}),
        (Optional[str], {"type": ["string", "null"]}),  # noqa: UP045
        (Union[int, str], {"type": ["integer", "string"]}),  # noqa: UP007
        (Mode | None, {"anyOf": [{"enum": ["strict", "loose"]}, {"type": "null"}]}),
        (list[str] | str, {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}),
        (Annotated[int, "a note for somebody else"], {"type": "integer"}),
    ],
    ids=str,
)
def test_a_type_becomes_its_json_schema(hint: Any, schema: dict[str, Any]) -> None:
    assert schema_of(hint) == schema


def test_a_param_may_say_more_than_its_type() -> None:
    hint = Annotated[float, Param(description="How far off.", minimum=0, maximum=1)]
    assert schema_of(hint) == {"type": "number", "description": "How far off.", "minimum": 0, "maximum": 1}


def test_a_least_length_counts_characters_of_a_text_and_items_of_a_list() -> None:
    assert schema_of(Annotated[str, Param(min_length=1)]) == {"type": "string", "minLength": 1}
    assert schema_of(Annotated[list[str], Param(min_length=1)])["minItems"] == 1


def test_a_description_of_one_choice_describes_the_param() -> None:
    described = Annotated[int, Param(description="At most so many.", minimum=1)]
    assert schema_of(described | None) == {
        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}],
        "description": "At most so many.",
    }
    assert schema_of(Annotated[str, Param(description="Which.")] | None) == {
        "type": ["string", "null"],
        "description": "Which.",
    }


@pytest.mark.parametrize(
    ("hint", "default", "written"),
    [
        (bool, False, False),
        (int, 0, 0),
        (float, 1e-6, 1e-6),
        (float, 1, 1),
        (str, "", ""),
        (list[str], ["a"], ["a"]),
        (Sequence[str], (), []),
        (tuple[str, ...], ("a", "b"), ["a", "b"]),
        (list[list[int]], [(1, 2), (3,)], [[1, 2], [3]]),
        (dict[str, float], {"a": 0.5}, {"a": 0.5}),
    ],
    ids=str,
)
def test_a_default_is_written_as_json(hint: Any, default: Any, written: Any) -> None:
    assert schema_of(hint, default)["default"] == written


@pytest.mark.parametrize(
    ("hint", "default"),
    [
        (str | None, None),
        (str, None),
        (float, math.inf),
        (float, math.nan),
        (Any, object()),
        (Any, Colour.RED),
        (list[Any], [None]),
        (Any, {"a": None}),
        (Any, {1: "a"}),
        (Any, {1, 2}),
    ],
    ids=["none", "none-of-text", "inf", "nan", "sentinel", "enum", "null-in-list", "null-in-map", "int-key", "set"],
)
def test_a_default_without_a_json_form_makes_the_param_optional_and_stays_python_s(hint: Any, default: Any) -> None:
    assert "default" not in schema_of(hint, default)


def test_a_default_in_the_schema_is_not_the_list_that_the_function_holds() -> None:
    shared = ["a"]
    schema_of(list[str], shared)["default"].append("b")
    assert shared == ["a"]


@pytest.mark.parametrize(
    ("hint", "why"),
    [
        (bytes, "which JSON does not have. Use bool, int"),
        (Colour, "which JSON does not have"),
        (set[str], "which JSON does not have"),
        (Record, "which JSON does not have"),
        (list[bytes], "which JSON does not have"),
        (dict[int, str], "keys other than strings"),
        (tuple[int, str], r"a tuple of different types, which JSON does not have. Use list\[T\]"),
        (Literal[b"x"], "may be b'x', which JSON does not have. Use strings and integers"),
        (Literal[Colour.RED], "which JSON does not have"),
        ("Nowhere", "has the type 'Nowhere', but name 'Nowhere' is not defined. Define it at the top of the module"),
        ("list[Nowhere]", "name 'Nowhere' is not defined"),
        ("math.nothing", "has an invalid type 'math.nothing'"),
        ("a list", "has an invalid type 'a list'"),
        ([str], r"has an invalid type \[<class 'str'>\]|which JSON does not have"),
        (3, "invalid type|which JSON does not have"),
    ],
    ids=str,
)
def test_a_type_that_json_does_not_have_is_a_type_error_that_names_the_param(hint: Any, why: str) -> None:
    with pytest.raises(TypeError, match=rf"probe\(x\) .*({why})"):
        schema_of(hint)


def test_a_param_without_a_type_is_refused_with_what_to_write() -> None:
    def bare(record: Record, *, threshold=0.5) -> bool:  # type: ignore[no-untyped-def]
        return bool(threshold)

    with pytest.raises(TypeError, match=r"bare\(threshold\) has no type. Annotate it, such as threshold: str"):
        params_schema(bare, ("record",))


def test_a_param_that_cannot_be_named_is_refused() -> None:
    def positional(record: Record, threshold: float, /) -> bool:
        return threshold > 0

    with pytest.raises(TypeError, match=r"positional\(threshold\) is positional-only"):
        params_schema(positional, ("record",))


def test_types_written_as_text_are_found_where_the_function_stands() -> None:
    def probe(record: Record, *, mode: Mode = "strict", tolerance: Annotated[float, Param(minimum=0)] = 0.0) -> bool:
        return bool(mode) and tolerance >= 0

    assert probe.__annotations__["mode"] == "Mode"
    assert params_schema(probe, ("record",))["properties"] == {
        "mode": {"enum": ["strict", "loose"], "default": "strict"},
        "tolerance": {"type": "number", "minimum": 0, "default": 0.0},
    }


def test_only_the_types_of_params_need_to_be_found() -> None:
    class LocalRecord:
        """A type that a function's text cannot reach."""

    def probe(record: LocalRecord, *, limit: int = 3) -> LocalRecord:
        return record

    assert params_schema(probe, ("record",))["properties"] == {"limit": {"type": "integer", "default": 3}}


def test_a_local_type_in_a_param_is_a_type_error_that_says_where_to_define_it() -> None:
    LocalMode = Literal["a", "b"]

    def probe(record: Record, *, mode: LocalMode = "a") -> bool:
        return bool(mode)

    with pytest.raises(TypeError, match=r"probe\(mode\) has the type 'LocalMode'.*Define it at the top of the module"):
        params_schema(probe, ("record",))


def test_the_rest_of_the_arguments_is_no_param() -> None:
    def probe(record: Record, *args: bytes, limit: int, **kwargs: bytes) -> bool:
        return bool(limit)

    assert params_schema(probe, ("record",)) == {
        "type": "object",
        "properties": {"limit": {"type": "integer"}},
        "additionalProperties": False,
        "required": ["limit"],
    }


def test_the_params_of_a_dataclass_are_its_fields_and_a_factory_makes_one_optional() -> None:
    @dataclass
    class Probe:
        """Params as fields."""

        pattern: str
        flags: list[str] = field(default_factory=list)
        limit: int = 3

    schema = params_schema(Probe.__init__, ("self",))
    assert schema["required"] == ["pattern"]
    assert schema["properties"] == {
        "pattern": {"type": "string"},
        "flags": {"type": "array", "items": {"type": "string"}},
        "limit": {"type": "integer", "default": 3},
    }


def test_the_types_of_a_wrapped_function_of_a_partial_and_of_an_object_are_found() -> None:
    def plain(record: Record, *, limit: int = 3) -> bool:
        return bool(limit)

    @functools.wraps(plain)
    def wrapped(*args: Any, **kwargs: Any) -> bool:
        return plain(*args, **kwargs)

    class Called:
        """An object that is called."""

        def __call__(self, record: Record, *, limit: int = 3) -> bool:
            return bool(limit)

    for target in (plain, wrapped, functools.partial(plain), Called(), Called().__call__):
        assert params_schema(target, ("record",))["properties"] == {"limit": {"type": "integer", "default": 3}}
    partly = functools.partial(plain, limit=7)
    assert params_schema(partly, ("record",))["properties"]["limit"]["default"] == 7


def test_what_is_not_written_in_python_is_refused() -> None:
    with pytest.raises(TypeError, match="is not written in Python, so its arguments have no types"):
        function_of(len)


def test_a_param_error_names_the_param() -> None:
    error = ParamError("pattern", "an unclosed bracket")
    assert (error.param, error.message, str(error)) == (
        "pattern",
        "an unclosed bracket",
        "pattern: an unclosed bracket",
    )
