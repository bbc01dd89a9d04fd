"""Test the `evaluator` decorator: it attaches a definition, and rejects invalid targets."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import pytest

import evalsi
from evalsi import Output, Record, Score, evaluator
from evalsi.definition import attached_to, definition_of

NO_PARAMS = {"type": "object", "properties": {}, "additionalProperties": False}


@evaluator(name="acme/polite", version="1.0.0")
def polite(record: Record) -> Score:
    """Says please.

    And this is not the summary.
    """
    return Score(passed="please" in record.output.as_text().lower())


class Called:
    """An object that is called."""

    def __call__(self, record: Record) -> bool:
        return bool(record)


class Mean:
    """The mean length."""

    def observe(self, record: Record) -> list[float]:
        return [len(record.output.as_text()), 1]

    def combine(self, totals: list[float]) -> float:
        return totals[0] / totals[1]


def test_a_decorated_function_stays_the_function_that_it_was() -> None:
    assert polite(Record(output="Please.")) == Score(passed=True)
    assert polite.__name__ == "polite"
    definition = attached_to(polite)
    assert definition is definition_of(polite)
    assert definition is not None
    assert definition.target is polite


def test_the_definition_says_what_the_decorator_and_the_docstring_say() -> None:
    assert definition_of(polite).to_dict() == {
        "name": "acme/polite",
        "version": "1.0.0",
        "summary": "Says please.",
        "scope": "record",
        "needs": [],
        "asks": [],
        "outputs": [],
        "params": NO_PARAMS,
    }


def test_everything_that_is_declared_stands_in_the_definition() -> None:
    @evaluator(
        name="both",
        version=2,
        summary="Both ways.",
        needs=["output", "usage.latency_ms"],
        asks=["judge"],
        outputs=[Output("fast", "pass"), Output("ms", unit="ms", minimum=0, maximum=10, higher_is_better=False)],
    )
    def scored(record: Record, *, limit_ms: int = 10) -> list[Score]:
        return []

    table = definition_of(scored).to_dict()
    assert (table["name"], table["version"], table["summary"]) == ("both", "2", "Both ways.")
    assert (table["needs"], table["asks"]) == (["output", "usage.latency_ms"], ["judge"])
    assert table["outputs"] == [
        {"name": "fast", "kind": "pass", "higher_is_better": True},
        {"name": "ms", "kind": "number", "unit": "ms", "minimum": 0, "maximum": 10, "higher_is_better": False},
    ]
    assert table["params"]["properties"] == {"limit_ms": {"type": "integer", "default": 10}}


def test_the_decorator_needs_no_parentheses() -> None:
    @evaluator
    def bare(record: Record) -> bool:
        return bool(record)

    assert definition_of(bare).name == "bare"
    assert definition_of(bare).version == "1"


def test_an_undecorated_function_is_defined_by_its_name_and_signature() -> None:
    def plain(record: Record, *, limit: int) -> bool:
        return bool(limit)

    definition = definition_of(plain)
    assert (definition.name, definition.version, definition.summary) == ("plain", "1", "")
    assert definition.params["required"] == ["limit"]
    assert attached_to(plain) is None


def test_an_asynchronous_function_is_an_evaluator() -> None:
    @evaluator
    async def waits(record: Record, ctx: evalsi.Context, *, limit: int = 1) -> bool:
        return bool(limit)

    assert list(definition_of(waits).params["properties"]) == ["limit"]


def test_the_params_of_a_class_are_those_of_its_constructor() -> None:
    @evaluator(name="shorter")
    class Shorter:
        """Shorter than so many characters."""

        def __init__(self, limit: int, strict: bool = False) -> None:
            self.limit = limit

        def score(self, record: Record) -> bool:
            return len(record.output.as_text()) < self.limit

    definition = definition_of(Shorter)
    assert definition.summary == "Shorter than so many characters."
    assert definition.params["required"] == ["limit"]
    assert definition.params["properties"]["strict"] == {"type": "boolean", "default": False}


def test_a_class_without_a_constructor_takes_no_params() -> None:
    assert definition_of(evaluator(name="mean", scope="dataset")(Mean)).params == NO_PARAMS


def test_a_class_derived_from_a_decorated_one_is_not_decorated() -> None:
    @evaluator(name="base", version=7)
    class Base:
        """The base."""

        def score(self, record: Record) -> bool:
            return True

    class Derived(Base):
        """Something else."""

    assert attached_to(Derived) is None
    assert (definition_of(Derived).name, definition_of(Derived).version) == ("Derived", "1")


def test_an_object_that_is_called_is_named_after_its_class_and_a_partial_after_its_function() -> None:
    assert (definition_of(Called()).name, definition_of(Called()).summary) == ("Called", "An object that is called.")
    partly = functools.partial(polite)
    assert (definition_of(partly).name, definition_of(partly).summary) == ("polite", "Says please.")


def test_a_lambda_needs_a_name() -> None:
    check: Callable[[Record], bool] = lambda record: record.has("output")  # noqa: E731 -- a lambda is the point.
    with pytest.raises(TypeError, match=r"A lambda has no name. Write evaluator"):
        definition_of(check)
    assert definition_of(evaluator(name="has-output")(check)).name == "has-output"


def test_an_evaluator_defined_within_a_function_with_a_local_import_works() -> None:
    from evalsi import Record as LocalRecord
    from evalsi import Score as LocalScore

    @evaluator
    def local(record: LocalRecord, *, word: str = "please") -> LocalScore:
        return LocalScore(passed=word in record.output.as_text())

    assert definition_of(local).params["properties"] == {"word": {"type": "string", "default": "please"}}


@pytest.mark.parametrize("name", ["two words", "a,b", "a:b", "a.b", "a=b", "a@1", "/a", "a/", "a//b"])
def test_a_name_that_no_command_line_can_tell_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="Use letters, digits, - and _, or publisher/name"):
        evaluator(name=name)(lambda record: True)


@pytest.mark.parametrize("name", ["exact-match", "acme/polite", "rouge_1", "höflich", "7up"])
def test_a_name_that_a_command_line_can_tell_is_taken(name: str) -> None:
    assert definition_of(evaluator(name=name)(lambda record: True)).name == name


@pytest.mark.parametrize("version", ["", "one two", "-1", "1,2"])
def test_a_version_that_no_reference_can_tell_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match=r"Write an integer, or a version like 1.0.0"):
        evaluator(name="x", version=version)(lambda record: True)


def no_argument() -> bool:
    return True


def only_params(*, limit: int) -> bool:
    return bool(limit)


def only_context(ctx: Any) -> bool:
    return bool(ctx)


def no_types(record: Record, *, limit=3) -> bool:  # type: ignore[no-untyped-def]
    return bool(limit)


@pytest.mark.parametrize("function", [no_argument, only_params, only_context])
def test_a_function_that_takes_no_record_first_is_refused(function: Any) -> None:
    with pytest.raises(
        TypeError, match=rf"{function.__name__} takes no record.*Write def {function.__name__}\(record\)"
    ):
        evaluator(function)


def test_a_param_without_a_type_is_refused_when_the_function_is_defined() -> None:
    with pytest.raises(TypeError, match=r"no_types\(limit\) has no type"):
        evaluator(no_types)


@pytest.mark.parametrize(
    ("declared", "error", "why"),
    [
        ({"needs": ["answer"]}, ValueError, "needs has the unknown value 'answer'. Choose from input, output"),
        ({"needs": ["latency_ms"]}, ValueError, "needs has the unknown value 'latency_ms'"),
        ({"needs": "output"}, TypeError, r"needs is the text 'output'. Write a list: needs=\['output'\]"),
        (
            {"asks": ["internet"]},
            ValueError,
            "asks has the unknown value 'internet'. Choose from judge, embed, sandbox",
        ),
        ({"asks": "judge"}, TypeError, "Write a list"),
        ({"outputs": Output()}, TypeError, r"Write a list: outputs=\[Output"),
        ({"outputs": [Output(), Output()]}, ValueError, "two outputs have the same name"),
        ({"scope": "corpus"}, ValueError, "the scope is 'corpus'; it is record or dataset"),
        ({"scope": "dataset"}, TypeError, "is a class with observe"),
    ],
    ids=str,
)
def test_a_declaration_that_means_nothing_is_refused(declared: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        evaluator(name="x", **declared)(lambda record: True)


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ({"kind": "boolean"}, "it is pass, number or label"),
        ({"kind": "pass", "unit": "ms"}, "is not a number, so it has no unit and no range"),
        ({"kind": "label", "minimum": 0}, "is not a number"),
        ({"maximum": math.inf}, "a bound that is not finite. Leave out a bound that does not exist"),
        ({"minimum": math.nan}, "not finite"),
        ({"minimum": 1, "maximum": 0}, "a minimum above its maximum"),
    ],
    ids=str,
)
def test_an_output_that_means_nothing_is_refused(output: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Output(**output)


class Observes:
    """Observes, but gives no score."""

    def observe(self, record: Record) -> int:
        return 1


class AggregatesLater(Observes):
    """Would have to be awaited."""

    async def aggregate(self, states: list[int]) -> float:
        return 1.0


@pytest.mark.parametrize(
    ("target", "scope", "why"),
    [
        (Called, "record", r"needs the method score\(self, record\)"),
        (Mean, "record", r'needs the method score\(self, record\). Write @evaluator\(scope="dataset"\)'),
        (Called, "dataset", r"needs the method observe\(self, record\)"),
        (Observes, "dataset", r"needs aggregate\(self, states\) or combine\(self, totals\)"),
        (AggregatesLater, "dataset", r"aggregate\(\) must not be async. Write it without async"),
    ],
)
def test_a_class_without_the_methods_of_its_scope_is_refused(target: type, scope: Any, why: str) -> None:
    with pytest.raises(TypeError, match=why):
        evaluator(scope=scope)(target)


def test_what_cannot_be_called_is_no_evaluator() -> None:
    with pytest.raises(TypeError, match=r"3 is not an evaluator. Pass a function or a class"):
        definition_of(3)
    with pytest.raises(TypeError, match=r"is not an evaluator. Pass its class, and its params separately"):
        definition_of(evaluator(type("Made", (), {"score": lambda self, record: True}))())


def test_what_cannot_be_marked_is_refused_with_what_to_do() -> None:
    class Holder:
        """Holds an evaluator as a method."""

        def check(self, record: Record) -> bool:
            return True

    with pytest.raises(TypeError, match=r"takes no attributes. Wrap it in a function"):
        evaluator(Holder().check)
    assert definition_of(Holder().check).name == "check"
