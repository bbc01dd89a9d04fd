"""E13: arguments are filled by name; an argument that cannot be filled is rejected at load time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional, TypedDict

import pytest

import evalsi
from evalsi import Content, Context, Param, Record, evaluator
from evalsi.definition import definition_of
from evalsi.testing import score

if TYPE_CHECKING:
    from evalsi import Record as Known

CHAT = {"messages": [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "Paris"}]}
RECORD = Record(
    input="Capital of France?",
    output="Paris",
    reference="Paris",
    context=["Paris is the capital.", "France is in Europe."],
    metadata={"level": 3},
    trajectory=[{"type": "tool", "name": "search", "input": {}, "output": "x"}],
)


class Step(TypedDict):
    name: str


def seen(function: Callable[..., Any], record: Record = RECORD, **params: Any) -> Any:
    """What the function gets of a record, where it returns its arguments through `got`."""
    got.clear()
    found = score(function, record, **params)
    assert found.kind == "scored", found
    return got[0]


got: list[Any] = []


def keep(*values: Any) -> bool:
    got.append(values[0] if len(values) == 1 else values)
    return True


def by_output(output: str) -> bool:
    return keep(output)


def by_pair(output, expected) -> bool:  # type: ignore[no-untyped-def]
    return keep(output, expected)


def autoevals_form(output, expected=None, **kwargs) -> bool:  # type: ignore[no-untyped-def]
    return keep(output, expected, sorted(kwargs))


def named_form(*, input, output, expected) -> bool:  # type: ignore[no-untyped-def]
    return keep(input, output, expected)


def in_places(output: str, reference: str, /) -> bool:
    return keep(output, reference)


def with_param(output: str, threshold: float, expected: str) -> bool:
    return keep(output, threshold, expected)


def with_all(  # noqa: PLR0917 -- every field there is.
    record: Record,
    input: str,
    output: str,
    reference: str,
    context: list[str],
    metadata: dict[str, Any],
    trajectory: list[dict[str, Any]],
) -> bool:
    return keep(record.id, input, output, reference, context, metadata, len(trajectory))


async def waiting(output: str, *, ctx: Context, expected: str) -> bool:
    return keep(output, expected)


class Called:
    def __call__(self, output: str, expected: str) -> bool:
        return keep(output, expected)


@evaluator(name="classy")
class Classy:
    def __init__(self, reference: str = "of the constructor") -> None:
        self.reference = reference

    def score(self, output: str, expected: str) -> bool:
        return keep(output, expected, self.reference)


@evaluator(name="classy-async")
class ClassyAsync:
    async def score(self, output: str, expected: str) -> bool:
        return keep(output, expected)


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (by_output, "Paris"),
        (by_pair, ("Paris", "Paris")),
        (autoevals_form, ("Paris", "Paris", ["context", "input", "metadata", "reference", "trajectory"])),
        (named_form, ("Capital of France?", "Paris", "Paris")),
        (in_places, ("Paris", "Paris")),
        (waiting, ("Paris", "Paris")),
        (Called(), ("Paris", "Paris")),
        (Classy, ("Paris", "Paris", "of the constructor")),
        (ClassyAsync, ("Paris", "Paris")),
        (functools.partial(by_pair, expected="Rome"), ("Paris", "Rome")),
    ],
)
def test_e13_arguments_are_filled_by_their_names(function: Any, values: Any) -> None:
    assert seen(function) == values


def test_e13_every_field_can_be_an_argument() -> None:
    context = ["Paris is the capital.", "France is in Europe."]
    assert seen(with_all) == ("", "Capital of France?", "Paris", "Paris", context, {"level": 3}, 1)


def test_e13_what_names_no_field_stays_a_param() -> None:
    assert definition_of(with_param).params["required"] == ["threshold"]
    assert seen(with_param, threshold=0.5) == ("Paris", 0.5, "Paris")


def test_e13_a_keyword_only_argument_beside_the_whole_record_stays_a_param() -> None:
    def old(record: Record, *, reference: str = "x") -> bool:
        return keep(record.output_text, reference)

    assert definition_of(old).needs == ()
    assert seen(old, reference="y") == ("Paris", "y")


def test_e13_the_record_may_come_under_any_name_and_in_any_place() -> None:
    def named(r) -> bool:  # type: ignore[no-untyped-def]
        return keep(r)

    def known_to_checkers(r: Known) -> bool:
        return keep(r)

    def last(output: str, record: Annotated[Record, "x"]) -> bool:
        return keep(record)

    def anything(sample: Any) -> bool:
        return keep(sample)

    def only_named(*, record: Record) -> bool:
        return keep(record)

    for function in (named, known_to_checkers, last, anything, only_named):
        assert seen(function) == RECORD, function


def test_e13_a_record_that_lacks_a_field_is_skipped_unless_there_is_a_default() -> None:
    def optional(output: str, expected: str | None) -> bool:
        return keep(output, expected)

    def defaulted(output: str, expected: str = "none") -> bool:
        return keep(output, expected)

    bare = Record(output="Paris")
    assert score(by_pair, bare).reason == "record has no reference"
    assert score(named_form, Record(output="a", reference="b")).reason == "record has no input"
    assert score(Classy, bare).reason == "record has no reference"
    assert seen(optional, bare) == ("Paris", None)
    assert seen(defaulted, bare) == ("Paris", "none")
    assert seen(autoevals_form, bare) == ("Paris", None, [])
    assert definition_of(by_pair).needs == ("output", "reference")
    assert definition_of(defaulted).needs == ("output",)
    assert definition_of(Classy).needs == ("output", "reference")


def taking(annotation: Any, name: str = "output") -> Callable[..., bool]:
    """A function with one argument of this type."""
    space: dict[str, Any] = {"annotation": annotation, "keep": keep}
    exec(f"def taken({name}: annotation) -> bool: return keep({name})", space)
    return space["taken"]  # type: ignore[no-any-return]


JSON = {"json": {"a": [1, 2]}}


@pytest.mark.parametrize(
    ("annotation", "output", "value"),
    [
        (str, "Paris", "Paris"),
        (str, JSON, '{"a":[1,2]}'),
        (dict, JSON, {"a": [1, 2]}),
        (dict[str, Any], '{"a": 1}', {"a": 1}),
        (Mapping[str, Any], JSON, {"a": [1, 2]}),
        (Step, '{"name": "x"}', {"name": "x"}),
        (list, "[1, 2]", [1, 2]),
        (list[int], {"json": [1]}, [1]),
        (Sequence[str], {"json": ["a"]}, ["a"]),
        (list[dict[str, Any]], CHAT, CHAT["messages"]),
        (int, "12", 12),
        (float, "12", 12.0),
        (bool, "true", True),
        (str | dict[str, Any], JSON, {"a": [1, 2]}),
        (str | dict[str, Any], '{"a": 1}', '{"a": 1}'),
        (Optional[int], "12", 12),  # noqa: UP045 -- the older form is what is meant.
        (Annotated[str, Param()], "Paris", "Paris"),
        (Content, "Paris", Content("Paris")),
        (Any, JSON, {"a": [1, 2]}),
        (object, "Paris", "Paris"),
    ],
)
def test_e13_an_argument_gets_the_type_that_it_has(annotation: Any, output: Any, value: Any) -> None:
    found = seen(taking(annotation), Record(output=output))
    assert found == value
    assert type(found) is type(value)


def test_e13_without_a_type_an_argument_gets_the_plain_value() -> None:
    def plain(output) -> bool:  # type: ignore[no-untyped-def]
        return keep(output)

    assert seen(plain, Record(output="Paris")) == "Paris"
    assert seen(plain, Record(output=[1, 2])) == [1, 2]
    assert seen(plain, Record(output=CHAT)) == "Paris"


@pytest.mark.parametrize(
    ("annotation", "output"),
    [(dict, "Paris"), (dict, "[1]"), (list, JSON), (int, "12.5"), (int, "true"), (bool, "1"), (list[str], "[1]")],
)
def test_e13_a_value_of_another_type_is_an_error_of_the_record(annotation: Any, output: Any) -> None:
    found = score(taking(annotation), Record(output=output))
    assert found.error is not None
    assert (found.error.code, found.error.source) == ("record.field", "record")


@pytest.mark.parametrize(
    ("annotation", "reference", "value"),
    [
        (str, "Paris", "Paris"),
        (str, ["Paris"], "Paris"),
        (list[str], ["Paris", "Lutetia"], ["Paris", "Lutetia"]),
        (list[str], "Paris", ["Paris"]),
        (str | list[str], ["Paris", "Lutetia"], ["Paris", "Lutetia"]),
        (str | list[str], "Paris", "Paris"),
        (list, {"json": [1, 2]}, [1, 2]),
        (list[int], [1, 2], [1, 2]),
        (list[int], 5, [5]),
        (dict, {"a": 1}, {"a": 1}),
        (Any, ["Paris", "Lutetia"], ["Paris", "Lutetia"]),
        (Any, "Paris", "Paris"),
    ],
)
def test_e13_references_come_one_or_all(annotation: Any, reference: Any, value: Any) -> None:
    for name in ("reference", "expected"):
        assert seen(taking(annotation, name), Record(reference=reference)) == value


def test_e13_several_references_for_one_text_are_an_error_and_no_score() -> None:
    found = score(taking(str, "expected"), Record(reference=["Paris", "Lutetia"]))
    assert found.error is not None
    assert found.error.code == "record.field"


def test_e13_context_comes_as_a_list_or_joined() -> None:
    assert seen(taking(list[str], "context")) == ["Paris is the capital.", "France is in Europe."]
    assert seen(taking(str, "context")) == "Paris is the capital.\n\nFrance is in Europe."


# What other tools call the answer, the question and the reference, and what no record holds.
def answer_of(answer): ...  # type: ignore[no-untyped-def]
def answer_typed(answer: str) -> bool: ...  # type: ignore[empty-body]
def untyped_case(test_case): ...  # type: ignore[no-untyped-def]
def case_of(test_case: Step) -> bool: ...  # type: ignore[empty-body]
def beside_a_field(thing, expected): ...  # type: ignore[no-untyped-def]
def langsmith(inputs: dict, outputs: dict): ...  # type: ignore[no-untyped-def,type-arg]
def context_only(ctx): ...  # type: ignore[no-untyped-def]
def as_a_dict(record: dict[str, Any]) -> bool: ...  # type: ignore[empty-body]
def untyped_after(output: str, actual): ...  # type: ignore[no-untyped-def]
def of_a_literal(output: Literal["a"]) -> bool: ...  # type: ignore[empty-body]
def of_bytes(output: bytes) -> bool: ...  # type: ignore[empty-body]
def metadata_text(output: str, metadata: str) -> bool: ...  # type: ignore[empty-body]
def unknown_type(output: Nowhere) -> bool: ...  # type: ignore[name-defined,empty-body]  # noqa: F821


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (answer_of, "'output'"),
        (answer_typed, "'output'"),
        (case_of, "DeepEval"),
        (untyped_case, "DeepEval"),
        (beside_a_field, "thing"),
        (langsmith, "'input'"),
        (context_only, "pydantic-evals"),
        (as_a_dict, "record"),
        (untyped_after, "'output'"),
        (of_a_literal, "Literal"),
        (of_bytes, "bytes"),
        (metadata_text, "metadata"),
        (unknown_type, "Nowhere"),
    ],
)
def test_e13_what_no_record_fills_is_refused_when_it_is_loaded(function: Any, named: str) -> None:
    with pytest.raises(TypeError, match=named):
        definition_of(function)


class DeepEvalForm:
    def measure(self, test_case: Any) -> float: ...  # type: ignore[empty-body]


@dataclass
class PydanticForm:
    def evaluate(self, ctx: Any) -> float: ...  # type: ignore[empty-body]


class AutoevalsForm:
    def eval(self, output: Any, expected: Any = None) -> float: ...  # type: ignore[empty-body]


class StrayArgument:
    def score(self, record: Record, answer: str) -> float: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(
    ("target", "named"),
    [
        (DeepEvalForm, "DeepEval"),
        (DeepEvalForm(), "DeepEval"),
        (PydanticForm, "pydantic-evals"),
        (PydanticForm(), "pydantic-evals"),
        (AutoevalsForm, "autoevals"),
        (StrayArgument, "answer"),
    ],
)
def test_e13_classes_of_other_tools_are_refused_with_what_to_write(target: Any, named: str) -> None:
    with pytest.raises(TypeError, match=named):
        definition_of(target)


def test_e13_a_record_is_never_equal_to_a_text_without_a_word() -> None:
    def trusting(r) -> bool:  # type: ignore[no-untyped-def]
        return bool(r == "Paris")

    found = score(trusting, RECORD)
    assert found.error is not None
    assert "record.output.as_text()" in found.error.message
    assert score(lambda_of("output"), RECORD).passed is True


def lambda_of(field: str) -> Any:
    return evaluator(name="compared")(lambda record: getattr(record, field) == "Paris")


def test_e13_a_result_of_another_tool_is_an_error_that_says_what_to_return() -> None:
    @dataclass
    class Foreign:
        score: float

    def foreign(output: str):  # type: ignore[no-untyped-def]
        return Foreign(1.0)

    found = score(foreign, RECORD)
    assert found.error is not None
    assert found.error.code == "pack.bad_score"
    assert ".score" in found.error.message


def test_e13_through_evaluate() -> None:
    result = evalsi.evaluate([{"output": "Paris", "reference": "Paris"}, {"output": "Rome"}], [right], quiet=True)
    assert (result["right"].n, result["right"].mean, result["right"].skipped) == (1, 1.0, 1)


def right(output: str, expected: str) -> bool:
    return output == expected
