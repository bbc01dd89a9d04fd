"""Params: read from text, checked against the manifest's schema, completed with defaults."""

from typing import Any

import pytest

from evalsi_kernel.checking.param_schema import params_schema_problems
from evalsi_kernel.errors import ConfigError, UsageError
from evalsi_kernel.packs.params import check_params, parse_param_assignments, parse_param_text


def schema_of(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False, "required": list(required)}
    assert list(params_schema_problems(schema, "params")) == []
    return schema


EXACT_MATCH = schema_of(
    normalize={"type": "boolean", "default": True}, ignore_punctuation={"type": "boolean", "default": False}
)


def refusal(schema: dict[str, Any], given: dict[str, Any], name: str = "exact-match") -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        check_params(name, schema, given)
    assert caught.value.code == "config.param"
    return caught.value


# -- what fits -----------------------------------------------------------------------------------------------------


def test_params_that_are_not_given_take_their_defaults() -> None:
    assert check_params("exact-match", EXACT_MATCH, {"normalize": False}) == {
        "normalize": False,
        "ignore_punctuation": False,
    }


def test_a_param_without_a_default_stays_away_so_that_the_evaluators_own_counts() -> None:
    assert check_params("contains", schema_of(substring={"type": ["string", "null"]}), {}) == {}


def test_a_default_that_is_changed_by_its_user_is_fresh_for_the_next() -> None:
    schema = schema_of(ignore={"type": "array", "items": {"type": "string"}, "default": ["id"]})
    check_params("json-equal", schema, {})["ignore"].append("spoiled")
    assert check_params("json-equal", schema, {}) == {"ignore": ["id"]}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "number"}, 3),
        ({"type": "number"}, 0.5),
        ({"type": "number", "minimum": 0}, 0),
        ({"type": "integer"}, 2**63),
        ({"type": ["string", "null"]}, None),
        ({"enum": ["words", "tokens"]}, "tokens"),
        ({"enum": [1, 2]}, 1.0),
        ({"const": True}, True),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, None),
        ({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}, ["x"]),
        ({"type": "object", "additionalProperties": {"type": "number"}}, {"price": 1}),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, {"a": "x", "b": [1]}),
        ({}, {"anything": [None, 1.5, "x", {"y": False}]}),
    ],
)
def test_a_value_that_fits_comes_out_as_it_went_in(schema: dict[str, Any], value: Any) -> None:
    result = check_params("some", schema_of(param=schema), {"param": value})
    assert result == {"param": value}
    assert type(result["param"]) is type(value)


# -- what does not -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "value", "what"),
    [
        ({"type": "integer"}, True, "param must be a whole number, not true"),
        ({"type": "number"}, False, "param must be a number, not false"),
        ({"type": "boolean"}, 1, "param must be true or false, not the number 1"),
        ({"type": "integer"}, 3.0, "param must be a whole number, not the number 3.0"),
        ({"type": "integer"}, 2**64, "param must fit 64 bits"),
        pytest.param({"type": "integer"}, 10**5000, "param must fit 64 bits", id="long integer"),
        pytest.param({"type": "string"}, 10**5000, "param must be text, not a very long number", id="long text"),
        ({"type": "number"}, float("nan"), "param must be a number, not the number nan"),
        ({"type": "number"}, float("inf"), "param must be a number, not the number inf"),
        ({"type": "string"}, None, "param must be text, not null"),
        ({"type": "string"}, "\ud800", "param must be text, not the text"),
        ({"type": "array"}, "x", 'param must be a list, not the text "x"'),
        ({"type": "object"}, [], "param must be an object, not an empty list"),
        ({"type": ["string", "null"]}, [1], "param must be text or null, not a list"),
        ({"type": "number", "minimum": 0}, -0.1, "param must be at least 0, not the number -0.1"),
        ({"type": "number", "maximum": 1}, 2, "param must be at most 1, not the number 2"),
        ({"type": "number", "exclusiveMinimum": 0}, 0, "param must be more than 0, not the number 0"),
        ({"type": "number", "exclusiveMaximum": 1}, 1.0, "param must be less than 1, not the number 1.0"),
        ({"type": "string", "minLength": 1}, "", "param must have at least 1 characters, not 0"),
        ({"type": "array", "minItems": 2}, ["x"], "param must have at least 2 items, not 1"),
        ({"type": "array", "items": {"type": "string"}}, ["x", 1], "param[1] must be text, not the number 1"),
        ({"enum": ["words", "tokens"]}, "bytes", 'param must be one of "words", "tokens", not the text "bytes"'),
        ({"enum": [1]}, True, "param must be one of 1, not true"),
        ({"const": 1}, True, "param must be 1, not true"),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, "b", 'param must be one of "a", not the text "b"'),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, 3, 'param must be one of "a" or null, not the number 3'),
        (
            {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            ["x", 2],
            "param[1] must be text, not the number 2",
        ),
        ({"type": "object", "additionalProperties": {"type": "number"}}, {"p": "x"}, "param.p must be a number"),
        ({"type": "object", "properties": {"a": {}}, "required": ["a"]}, {}, "param.a is missing"),
        (
            {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
            {"b": 1},
            "param.b is not a known key",
        ),
        ({"type": "object"}, {1: "x"}, "param has the key 1, which is not text"),
        ({}, {"deep": float("nan")}, "param.deep must be a JSON value"),
        ({}, object(), "param must be a JSON value, not a object"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_place(schema: dict[str, Any], value: Any, what: str) -> None:
    error = refusal(schema_of(param=schema), {"param": value}, "some")
    assert error.message.startswith(f"some: {what}")


@pytest.mark.parametrize(
    ("schema", "value", "form"),
    [
        ({"type": "boolean"}, "no", "Write --param some.param=false."),
        ({"type": "boolean"}, "Off", "Write --param some.param=false."),
        ({"type": "boolean"}, 0, "Write --param some.param=false."),
        ({"type": "boolean"}, "yes", "Write --param some.param=true."),
        ({"type": "boolean"}, 1, "Write --param some.param=true."),
        ({"type": "string"}, 123, "Write --param some.param='\"123\"'."),
        ({"type": "array", "items": {"type": "string"}}, "id", "Write --param some.param='[\"id\"]'."),
    ],
)
def test_a_value_of_the_wrong_type_is_answered_with_the_right_form(
    schema: dict[str, Any], value: Any, form: str
) -> None:
    assert refusal(schema_of(param=schema), {"param": value}, "some").hint == form


def test_the_form_that_an_error_shows_is_accepted_when_it_is_written() -> None:
    schema = schema_of(pattern={"type": "string"})
    hint = refusal(schema, {"pattern": 123}, "regex-match").hint
    # What a shell makes of it.
    written = hint.removeprefix("Write --param ").removesuffix(".").replace("'", "")
    params = parse_param_assignments([written])
    assert check_params("regex-match", schema, params["regex-match"]) == {"pattern": "123"}


def test_an_unknown_param_is_answered_with_the_nearest_and_with_all() -> None:
    error = refusal(EXACT_MATCH, {"normalise": True})
    assert error.message == 'exact-match: unknown param "normalise".'
    assert error.hint == 'Did you mean "normalize"? Its params are: normalize, ignore_punctuation.'


def test_an_unknown_param_of_an_evaluator_without_params_says_so() -> None:
    assert refusal(schema_of(), {"x": 1}, "json-valid").hint == "It has no params."
    assert refusal({}, {"x": 1}, "json-valid").hint == "It has no params."


def test_a_missing_param_is_named_with_what_it_is_for() -> None:
    schema = schema_of(required=("pattern",), pattern={"type": "string", "description": "What to look for."})
    error = refusal(schema, {}, "regex-match")
    assert error.message == 'regex-match: the required param "pattern" is missing (What to look for).'
    assert error.hint == "Add --param regex-match.pattern=VALUE."


def test_all_problems_come_in_one_error_each_with_its_hint() -> None:
    schema = schema_of(required=("pattern",), pattern={"type": "string"}, full_match={"type": "boolean"})
    error = refusal(schema, {"full_match": "no", "ignorecase": True}, "regex-match")
    assert error.message.splitlines() == [
        "regex-match: 3 problems:",
        '  full_match must be true or false, not the text "no". Write --param regex-match.full_match=false.',
        '  unknown param "ignorecase". Its params are: pattern, full_match.',
        '  the required param "pattern" is missing. Add --param regex-match.pattern=VALUE.',
    ]
    assert len(error.details["problems"]) == 3
    assert error.hint == ""


def test_a_value_nested_without_end_is_refused_and_does_not_overflow() -> None:
    value: list[Any] = []
    for _ in range(500):
        value = [value]
    assert "nested deeper than" in refusal(schema_of(param={}), {"param": value}, "some").message


def test_a_param_far_too_long_to_be_a_slip_gets_no_suggestion() -> None:
    assert refusal(EXACT_MATCH, {"x" * 5000: 1}).hint == "Its params are: normalize, ignore_punctuation."


def test_a_schema_nested_without_end_is_refused_and_does_not_overflow() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(500):
        schema = {"items": schema}
    problems = list(params_schema_problems({"type": "object", "properties": {"a": schema}}, "params"))
    assert [problem.what for problem in problems] == ["is nested deeper than 32 levels"]


# -- text ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.01", 0.01),
        ("3", 3),
        ("true", True),
        ("null", None),
        ('"3"', "3"),
        ('["a", 1]', ["a", 1]),
        ('{"price": 0.5}', {"price": 0.5}),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("helpfulness", "helpfulness"),
        ("no", "no"),
        ("", ""),
        ("True", "True"),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ("[NaN]", "[NaN]"),
        ("1e999", "1e999"),
        ("{not json", "{not json"),
        pytest.param("9" * 5000, "9" * 5000, id="longer than Python reads"),
        pytest.param("[" * 100_000, "[" * 100_000, id="deeper than Python reads"),
    ],
)
def test_text_is_json_where_it_is_json_and_itself_elsewhere(text: str, value: Any) -> None:
    parsed = parse_param_text(text)
    assert parsed == value
    assert type(parsed) is type(value)


def test_assignments_are_gathered_by_evaluator() -> None:
    assert parse_param_assignments(
        [
            "numeric-match.rel_tol=0.01",
            "numeric-match.abs_tol=0",
            "regex-match.pattern=a=b.c",
            "acme.metrics:tone.strict=true",
            "./my_evals.py:polite.max_words=3",
            "acme/readability/tone.level=high",
        ]
    ) == {
        "numeric-match": {"rel_tol": 0.01, "abs_tol": 0},
        "regex-match": {"pattern": "a=b.c"},
        "acme.metrics:tone": {"strict": True},
        "./my_evals.py:polite": {"max_words": 3},
        "acme/readability/tone": {"level": "high"},
    }


@pytest.mark.parametrize(
    ("assignment", "what", "hint"),
    [
        ("exact-match.normalize", "has no =", "Write exact-match.normalize=VALUE."),
        ("", "has no =", "Write EVALUATOR.PARAM=VALUE."),
        ("normalize", "has no =", "Write EVALUATOR.normalize=VALUE."),
        ("rel_tol=0.01", "does not name an evaluator and a param", "Write EVALUATOR.rel_tol=0.01"),
        (".rel_tol=1", "does not name an evaluator and a param", "Write EVALUATOR.rel_tol=1"),
        ("exact-match.=1", "does not name an evaluator and a param", "Write EVALUATOR.PARAM=1"),
        ("=1", "does not name an evaluator and a param", "Write EVALUATOR.PARAM=1"),
    ],
)
def test_an_assignment_of_another_form_is_an_error(assignment: str, what: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_param_assignments([assignment])
    assert f"{assignment} {what}".strip() in caught.value.message
    assert hint in caught.value.hint


def test_a_param_that_is_given_twice_is_an_error_even_with_one_value() -> None:
    with pytest.raises(UsageError, match=r"sets a\.b again"):
        parse_param_assignments(["a.b=1", "a.b=1"])


def test_every_bad_assignment_is_told_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        parse_param_assignments(["a", "b=1", "c.d=1"])
    assert len(caught.value.details["problems"]) == 2


# -- the schema itself ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "at"),
    [
        ({"type": "array"}, "params.type"),
        ({}, "params.type"),
        ({"type": "object", "properties": []}, "params.properties"),
        ({"type": "object", "properties": {"a": 1}}, "params.properties.a"),
        ({"type": "object", "properties": {"a": {"type": "bool"}}}, "params.properties.a.type"),
        ({"type": "object", "properties": {"a": {"type": 1}}}, "params.properties.a.type"),
        ({"type": "object", "properties": {"a": {"pattern": "x"}}}, "params.properties.a.pattern"),
        ({"type": "object", "properties": {"a": {"minimum": "0"}}}, "params.properties.a.minimum"),
        ({"type": "object", "properties": {"a": {"minimum": float("nan")}}}, "params.properties.a.minimum"),
        ({"type": "object", "properties": {"a": {"minItems": -1}}}, "params.properties.a.minItems"),
        ({"type": "object", "properties": {"a": {"enum": []}}}, "params.properties.a.enum"),
        ({"type": "object", "properties": {"a": {"anyOf": [{"x": 1}]}}}, "params.properties.a.anyOf[0].x"),
        ({"type": "object", "properties": {"a": {"items": {"type": "x"}}}}, "params.properties.a.items.type"),
        ({"type": "object", "properties": {"a": {"description": 1}}}, "params.properties.a.description"),
        ({"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}}, "params.properties.a.default"),
        ({"type": "object", "additionalProperties": {"type": "x"}}, "params.additionalProperties.type"),
        ({"type": "object", "required": "a"}, "params.required"),
        ({"type": "object", "properties": {"a": {"default": object()}}}, "params.properties.a.default"),
    ],
)
def test_a_schema_outside_the_subset_is_refused_at_its_place(schema: dict[str, Any], at: str) -> None:
    assert [problem.at for problem in params_schema_problems(schema, "params")] == [at]
