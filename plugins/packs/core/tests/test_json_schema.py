"""Schemas are refused when they cannot work; outputs are told what is wrong and where."""

import socket
from time import process_time
from typing import Any, NoReturn

import pytest

from evalsi import ContentLimitError, ParamError, Record, Score
from evalsi_pack_core.json_schema import JsonSchema

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
}


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        pytest.fail("the network was touched")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def explanation(schema: dict[str, Any] | bool, output: object) -> str | None:
    """What is wrong with the output; None when it fits."""
    result = JsonSchema(schema=schema).score(Record(output=output))
    if isinstance(result, Score):
        assert result.passed is False
        return result.explanation
    assert result is True
    return None


def test_an_output_that_fits_passes() -> None:
    assert explanation(PERSON, '{"name": "Ada", "age": 36}') is None
    assert explanation(PERSON, {"json": {"name": "Ada"}}) is None
    assert explanation({}, "null") is None


def test_violations_are_named_with_their_paths() -> None:
    assert explanation(PERSON, '{"name": 1, "age": -1}') == (
        "$.age: -1 is less than the minimum of 0; $.name: 1 is not of type 'string'"
    )
    assert explanation(PERSON, "{}") == "$: 'name' is a required property"


def test_of_many_violations_the_first_are_shown_and_the_rest_counted() -> None:
    shown = explanation({"items": {"type": "string"}}, str(list(range(100))))
    assert shown is not None
    assert shown.count("is not of type") == 5
    assert shown.endswith("; and 95 more")


@pytest.mark.parametrize(
    ("number", "divisor", "fits"),
    [
        # JSON Schema 2020-12, validation, 6.2.1: division results in an integer. Numbers are JSON's decimals.
        ("19.99", 0.01, True),
        ("0.3", 0.1, True),
        ("-4.35", 0.01, True),
        ("1.1", 0.1, True),
        ("19.995", 0.01, False),
        ("0.35", 0.1, False),
        # Of the official test suite: by small number, float overflow, small multiple of large integer.
        ("0.0075", 0.0001, True),
        ("0.00751", 0.0001, False),
        ("1e308", 0.123456789, False),
        ("12391239123", 1e-8, True),
        ("4.5", 1.5, True),
        ("35", 1.5, False),
        ("7.0", 7, True),
        ("0", 0.01, True),
        ("9007199254740993", 2, False),
        ("1e308", 1e-320, True),
        ('"x"', 0.01, True),
    ],
)
def test_a_multiple_is_one_by_the_numbers_as_they_are_written(number: str, divisor: float, fits: bool) -> None:
    found = explanation({"multipleOf": divisor}, number)
    assert (found is None) is fits
    assert fits or str(found).endswith(f"is not a multiple of {divisor!r}")


def test_a_divisor_of_an_old_dialect_is_one_there_only() -> None:
    old = {"$schema": "http://json-schema.org/draft-03/schema#", "divisibleBy": 0.01}
    assert explanation(old, "19.99") is None
    assert explanation(old, "19.995") == "$: 19.995 is not a multiple of 0.01"
    assert explanation({"divisibleBy": 2}, "3") is None


def test_the_first_violations_are_the_first_in_the_output() -> None:
    shown = explanation({"items": {"type": "string"}}, str(list(range(12))))
    assert [phrase.split(":")[0] for phrase in str(shown).split("; ")[:5]] == [f"$[{index}]" for index in range(5)]


@pytest.mark.parametrize(
    ("items", "distinct"),
    [
        # Of the official test suite, uniqueItems.
        ("[1, 2]", True),
        ("[1, 1]", False),
        ("[1.0, 1.00, 1]", False),
        ("[0, false]", True),
        ("[1, true]", True),
        ('["foo", "foo"]', False),
        ('[{"foo": "bar"}, {"foo": "bar"}]', False),
        ('[{"foo": "bar", "bar": "foo"}, {"bar": "foo", "foo": "bar"}]', False),
        ('[["foo"], ["foo"]]', False),
        ("[[1], [true]]", True),
        ("[[0], [false]]", True),
        ('[{"a": 1}, {"a": true}]', True),
        ('[{"a": false}, {"a": 0}]', True),
        ('[{}, [1], true, null, 1, "{}"]', True),
        ('[{}, [1], true, null, {}, 1, "{}"]', False),
        ('["1", 1]', True),
        ("[{}, []]", True),
        ("[9007199254740993, 9007199254740992.0]", True),
    ],
)
def test_items_are_distinct_by_the_equality_of_json(items: str, distinct: bool) -> None:
    assert (explanation({"uniqueItems": True}, items) is None) is distinct
    assert explanation({"uniqueItems": False}, items) is None


def test_many_distinct_objects_take_no_more_than_linear_time() -> None:
    began = process_time()
    assert explanation({"uniqueItems": True}, {"json": [{"a": number} for number in range(50_000)]}) is None
    # Each with each would be hours.
    assert process_time() - began < 5


def test_a_long_violation_is_cut() -> None:
    shown = explanation({"type": "object"}, '"' + "x" * 10_000 + '"')
    assert shown is not None
    assert len(shown) <= 200


def test_an_explanation_can_always_travel() -> None:
    shown = explanation({"properties": {"a\ud800": {"const": "\ud800"}}}, '{"a\\ud800": "x"}')
    assert shown is not None
    shown.encode()


def test_an_output_that_is_no_json_fails_and_says_so() -> None:
    assert str(explanation(PERSON, "Ada, 36")).startswith("The output is not JSON")


def test_three_point_zero_is_an_integer_and_true_is_no_number() -> None:
    assert explanation({"type": "integer"}, "3.0") is None
    assert explanation({"type": "number"}, "true") is not None
    assert explanation({"const": 1}, "true") is not None


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "strin"}, r"no JSON Schema: at \$\.type"),
        ({"minimum": "0"}, r"no JSON Schema: at \$\.minimum"),
        ({"properties": {"a": {"pattern": "("}}}, r"its pattern '\(' is no RE2 pattern: missing \)"),
        ({"pattern": "^(?!x)"}, "is no RE2 pattern: .*; RE2 has no look-around and no back-references"),
        ({"patternProperties": {r"(a)\1": True}}, "is no RE2 pattern"),
        ({"$ref": "#/components/a", "components": {"a": {"pattern": "(?=x)"}}}, "is no RE2 pattern"),
        ({"unevaluatedProperties": False, "allOf": [{"patternProperties": {"a": True}}]}, "with additionalProperties"),
        ({"$defs": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}}, "all of it in one dialect"),
        ({"$schema": "http://example.org/my-dialect"}, "no published dialect"),
        ({"$schema": 5}, "no published dialect"),
        ({"$ref": "#/$defs/nowhere"}, "leads nowhere"),
        ({"$ref": "https://example.org/remote.json"}, "leads nowhere; nothing is fetched"),
        ({"$ref": "file:///etc/passwd"}, "leads nowhere"),
        ({"properties": {"a": {"items": {"$ref": "other.json"}}}}, "leads nowhere"),
        ({"$ref": "#"}, "lead in a circle"),
        ({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#"}}}, "lead in a circle"),
    ],
)
def test_a_schema_that_cannot_work_is_refused_before_any_record(schema: dict[str, Any], fault: str) -> None:
    with pytest.raises(ParamError, match=fault):
        JsonSchema(schema=schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/whole", "$defs": {"whole": {"type": "integer"}}},
        {"$id": "https://example.org/root", "$ref": "part", "$defs": {"p": {"$id": "part", "type": "integer"}}},
        {"$ref": "#whole", "$defs": {"w": {"$anchor": "whole", "type": "integer"}}},
        {"$dynamicRef": "#whole", "$defs": {"w": {"$dynamicAnchor": "whole", "type": "integer"}}},
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/whole",
            "definitions": {"whole": {"type": "integer"}},
        },
    ],
)
def test_references_within_the_schema_are_followed(schema: dict[str, Any]) -> None:
    assert explanation(schema, "1") is None
    assert explanation(schema, '"x"') == "$: 'x' is not of type 'integer'"


def test_a_schema_that_describes_itself_may_recur() -> None:
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}
    assert explanation(tree, '{"children": [{"children": []}]}') is None
    assert explanation(tree, '{"children": [{"children": [1]}]}') == (
        "$.children[0].children[0]: 1 is not of type 'object'"
    )


def test_the_published_metaschemas_may_be_referred_to() -> None:
    schema = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
    assert explanation(schema, '{"type": "string"}') is None
    assert explanation(schema, '{"type": 1}') is not None


def test_a_property_or_a_constant_named_ref_is_no_reference() -> None:
    assert explanation({"properties": {"$ref": {"type": "string"}}}, '{"$ref": "x"}') is None
    assert explanation({"const": {"$ref": "https://example.org/"}}, '{"$ref": "https://example.org/"}') is None


@pytest.mark.parametrize(
    ("named", "good", "bad"),
    [
        ("date", "2024-02-29", "2024-02-30"),
        ("date-time", "2024-02-29T10:00:00Z", "2024-02-29"),
        ("time", "10:00:00Z", "25:00:00Z"),
        ("email", "ada@example.org", "ada"),
        ("hostname", "example.org", "-example-"),
        ("ipv4", "127.0.0.1", "256.0.0.1"),
        ("ipv6", "::1", "::g"),
        ("uri", "https://example.org/a", "example"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
        ("regex", "a+", "("),
    ],
)
def test_formats_are_checked(named: str, good: str, bad: str) -> None:
    assert explanation({"format": named}, {"json": good}) is None
    assert explanation({"format": named}, {"json": bad}) == f"$: {bad!r} is not a {named!r}"


def test_a_schema_may_be_true_or_false() -> None:
    assert explanation(True, "1") is None
    assert explanation(False, "1") == "$: False schema does not allow 1"


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        ({"pattern": "^(a+)+$"}, {"json": "a" * 50_000 + "!"}),
        ({"patternProperties": {"^(a+)+$": False}}, {"json": {"a" * 50_000 + "!": 1}}),
        ({"patternProperties": {"^(a+)+$": True}, "additionalProperties": False}, {"json": {"a" * 50_000 + "!": 1}}),
        ({"$ref": "#/components/a", "components": {"a": {"pattern": "^(a+)+$"}}}, {"json": "a" * 50_000 + "!"}),
        (
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$defs": {"a": {"$schema": "https://json-schema.org/draft/2020-12/schema", "pattern": "^(a+)+$"}},
                "items": {"$ref": "#/$defs/a"},
            },
            {"json": ["a" * 50_000 + "!"]},
        ),
    ],
)
def test_no_pattern_takes_more_than_linear_time(schema: dict[str, Any], output: object) -> None:
    began = process_time()
    explanation(schema, output)
    assert process_time() - began < 2


def test_a_pattern_is_found_anywhere_and_knows_unicode() -> None:
    assert explanation({"pattern": "b"}, '"abc"') is None
    assert explanation({"pattern": "^b"}, '"abc"') == "$: 'abc' does not match '^b'"
    assert explanation({"pattern": r"^\p{L}+$"}, '"Größe"') is None
    assert explanation({"pattern": r"^\u00e9\\u$"}, {"json": "é\\u"}) is None
    assert explanation({"pattern": "^.$"}, '"\\ud800"') is None
    assert explanation({"pattern": "b"}, "1") is None


def test_a_dollar_is_the_very_end() -> None:
    assert explanation({"pattern": "a$"}, '"a\\n"') is not None


def test_properties_by_pattern_are_checked_and_others_are_additional() -> None:
    schema = {
        "properties": {"name": True},
        "patternProperties": {"^n_": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert explanation(schema, '{"name": "Ada", "n_a": 1}') is None
    assert explanation(schema, '{"n_a": "x"}') == "$.n_a: 'x' is not of type 'integer'"
    assert explanation(schema, '{"x": 1, "y": 2, "name": 3}') == "$: properties that are not allowed: 'x', 'y'"
    assert explanation({"additionalProperties": {"type": "integer"}}, '{"x": "1"}') == (
        "$.x: '1' is not of type 'integer'"
    )
    assert explanation(schema, "[]") is None


def test_a_schema_is_left_as_it_was_given() -> None:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string"}
    given = dict(schema)
    assert explanation(schema, '"a"') is None
    assert schema == given


@pytest.mark.parametrize("output", ["1e999", "1" * 5000, "[" * 2000 + "]" * 2000])
def test_an_output_beyond_what_is_read_is_an_error_and_no_fail(output: str) -> None:
    with pytest.raises(ContentLimitError):
        explanation({}, output)


@pytest.mark.parametrize(
    "extended", [{"type": "object"}, [{"type": "object"}], {"properties": {"extends": {"type": "string"}}}]
)
def test_t7_a_schema_of_draft_3_that_extends_another_is_read(extended: Any) -> None:
    schema = {"$schema": "http://json-schema.org/draft-03/schema#", "extends": extended}
    assert JsonSchema(schema=schema).score(Record(output={"json": {"extends": "a"}})) is True
    failed = JsonSchema(schema=schema).score(
        Record(output={"json": {"extends": 1} if isinstance(extended, dict) and "properties" in extended else 1})
    )
    assert isinstance(failed, Score)


@pytest.mark.parametrize(
    "text", ["a@", "@", "@b", "a b@c.example", "a@b@c.example", "a..b@c.example", "a@-b.example", "a@b..example"]
)
def test_t10_nonsense_is_no_email(text: str) -> None:
    assert isinstance(JsonSchema(schema={"format": "email"}).score(Record(output={"json": text})), Score)


@pytest.mark.parametrize(
    "text",
    ["a@b.example", "a.b+c@d-e.example", '"a b"@c.example', "a@localhost", "a@[192.0.2.1]", "jürgen@müller.example"],
)
def test_t10_addresses_are_emails(text: str) -> None:
    assert JsonSchema(schema={"format": "email"}).score(Record(output={"json": text})) is True


@pytest.mark.parametrize(
    "text", ["nonsense", "2024-13-45T00:00:00Z", "2024-02-30T10:00:00Z", "2024-02-28T25:00:00Z", "2024-02-28"]
)
def test_t10_nonsense_is_no_date_time(text: str) -> None:
    assert isinstance(JsonSchema(schema={"format": "date-time"}).score(Record(output={"json": text})), Score)
