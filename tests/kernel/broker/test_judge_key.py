"""A key is the same for the same question, however it is written, and another for any other question."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.judge_key import MAX_MESSAGE_FIELDS, JudgeKey, differing, judge_key
from tests.replies.kept_replies import IDENTITY, beside, question

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda values: st.lists(values, max_size=4) | st.dictionaries(st.text(max_size=3), values, max_size=4),
    max_leaves=12,
)
OBJECT = st.dictionaries(st.text(max_size=3), JSON, max_size=4)


def key(ask: Ask) -> JudgeKey:
    return judge_key(IDENTITY, ask)


def with_schema(schema: Any) -> JudgeKey:
    return key(question(1, schema=schema))


def shuffled(value: Any, order: random.Random) -> Any:
    """An equal value whose objects have their keys in another order."""
    if isinstance(value, dict):
        names = list(value)
        order.shuffle(names)
        return {name: shuffled(value[name], order) for name in names}
    return [shuffled(one, order) for one in value] if isinstance(value, list) else value


def same_json(one: Any, other: Any) -> bool:
    """Whether two values are one in JSON, where true is no 1, and 1.0 is 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


@given(OBJECT, st.randoms(use_true_random=False))
def test_the_order_of_an_objects_keys_does_not_matter(schema: dict[str, Any], order: random.Random) -> None:
    assert with_schema(shuffled(schema, order)) == with_schema(schema)


@given(OBJECT)
def test_a_question_that_went_through_json_is_the_same(schema: dict[str, Any]) -> None:
    assert with_schema(json.loads(json.dumps(schema))) == with_schema(schema)


@given(OBJECT, OBJECT)
def test_schemas_share_a_key_only_when_they_are_the_same_json(one: dict[str, Any], other: dict[str, Any]) -> None:
    if with_schema(one).digest == with_schema(other).digest:
        assert same_json(one, other)


@given(st.integers(-(2**53), 2**53))
def test_a_number_is_the_same_with_and_without_a_point(number: int) -> None:
    assert with_schema({"minimum": number}) == with_schema({"minimum": float(number)})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"const": True}, {"const": 1}),
        ({"const": None}, {}),
        ({"const": "1"}, {"const": 1}),
        ({"const": []}, {"const": {}}),
        ({"const": 10**30}, {"const": 10**30 + 1}),
        ({"const": 2**64}, {"const": str(2**64)}),
        ({"const": 0.1}, {"const": 0.2}),
        ({}, None),
        ({"a": {"b": 1}}, {"a": {}, "b": 1}),
    ],
)
def test_what_json_tells_apart_has_keys_of_its_own(one: Any, other: Any) -> None:
    assert differing(with_schema(one).fields, with_schema(other).fields) == ["schema"]
    assert with_schema(one).digest != with_schema(other).digest


CHANGES: dict[str, Any] = {
    "schema": {"type": "array"},
    "max_tokens": 17,
    "temperature": 0.7,
    "seed": 0,
    "effort": "low",
    "sample": 1,
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_part_of_a_question_makes_another_key_and_is_named(name: str) -> None:
    one, other = key(question(1)), key(question(1, **{name: CHANGES[name]}))
    assert one.digest != other.digest
    assert differing(one.fields, other.fields) == [name]


@pytest.mark.parametrize("name", IDENTITY)
def test_each_part_of_an_identity_makes_another_key_and_is_named(name: str) -> None:
    one, other = key(question(1)), judge_key(IDENTITY | {name: "another"}, question(1))
    assert one.digest != other.digest
    assert differing(one.fields, other.fields) == [f"identity.{name}"]


def test_the_message_that_differs_is_named_and_the_order_of_messages_matters() -> None:
    system, user = question(1).messages
    assert differing(key(question(1)).fields, key(question(2)).fields) == ["messages.1"]
    assert differing(key(question(1)).fields, key(question(1, messages=[user])).fields) == ["messages.0", "messages.1"]
    assert key(question(1, messages=[user, system])).digest != key(question(1)).digest


def test_a_long_talk_has_few_fields_and_still_a_key_of_its_own() -> None:
    talk = [{"role": "user", "content": str(number)} for number in range(100)]
    longer = [*talk, {"role": "user", "content": "more"}]
    one, other = key(question(1, messages=talk)), key(question(1, messages=longer))
    assert len(one.fields) < MAX_MESSAGE_FIELDS + 12
    assert differing(one.fields, other.fields) == ["messages.rest"]
    assert one.digest != other.digest


def test_what_an_ask_or_an_identity_leaves_open_is_as_if_it_were_left_out() -> None:
    without = {name: value for name, value in IDENTITY.items() if name != "base_url"}
    assert judge_key({**without, "base_url": None}, question(1)) == judge_key(without, question(1))  # type: ignore[dict-item]
    assert "seed" not in key(question(1)).fields


def test_lists_and_tuples_are_the_same() -> None:
    assert key(question(1, messages=tuple(question(1).messages))) == key(question(1))


@pytest.mark.parametrize("text", ["\ud800", "a\x00b", "é", "e\u0301", "🙂", ""])
def test_any_text_has_a_key_and_texts_that_look_alike_have_two(text: str) -> None:
    keys = {key(question(1, messages=[{"role": "user", "content": one}])).digest for one in (text, text + " ", "é")}
    assert len(keys) == (2 if text == "é" else 3)


def test_the_model_is_the_one_that_was_asked_for() -> None:
    assert key(question(1)).model == "small-1"
    assert judge_key({}, question(1)).model == ""


# A change of this digest makes every reply that anyone has kept unfindable: raise FORMAT, and say so in the changelog.
PINNED = "959b3fdabb8548f4ff98eae1ebb9aca4893b76f9f02192f142cce402cca8fe7f"


def test_a_key_is_the_same_in_every_version_and_every_process() -> None:
    ask = question(7, schema={"b": [1, 2.5, None, True], "a": {"x": "é"}}, seed=3, effort="low", sample=2)
    assert judge_key(IDENTITY, ask).digest == PINNED
    script = (
        "from tests.replies.kept_replies import *\n"
        "print(judge_key(dict(reversed(IDENTITY.items())), question(1)).digest)"
    )
    digests = {beside(script).communicate(timeout=60)[0].strip() for _ in range(2)}
    assert digests == {key(question(1)).digest}
