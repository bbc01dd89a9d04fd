"""Test reading a record's fields and skipping missing ones."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest

from evalsi import Content, Record, Skip
from evalsi.score import MissingField
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.records.rows_source import RowsSource

FULL = Record(
    id="r1",
    input="Capital of Nepal?",
    output=[{"role": "assistant", "content": "Kathmandu"}],
    reference=["Kathmandu", {"city": "Kathmandu"}],
    context=["Nepal is a country.", "Its capital is Kathmandu."],
    trajectory=[{"tool": "search"}],
    usage={"latency_ms": 12.5, "cost_usd": None},
    metadata={"topic": "geography", "nested": {"deep": 1}},
    provenance={"source": "by hand"},
    check={"resolved": True},
)


def test_every_field_is_read_by_its_name() -> None:
    assert FULL.id == "r1"
    assert FULL.input.as_text() == "Capital of Nepal?"
    assert FULL.output.messages() == [{"role": "assistant", "content": "Kathmandu"}]
    assert FULL.references == [Content("Kathmandu"), Content({"json": {"city": "Kathmandu"}})]
    assert FULL.reference == Content("Kathmandu")
    assert [piece.as_text() for piece in FULL.context] == ["Nepal is a country.", "Its capital is Kathmandu."]
    assert FULL.trajectory == [{"tool": "search", "type": "tool", "name": "search"}]
    assert FULL.usage["latency_ms"] == 12.5
    assert FULL.metadata["topic"] == "geography"
    assert FULL.provenance == {"source": "by hand"}
    assert FULL.check == {"resolved": True}


@pytest.mark.parametrize(
    ("attribute", "field"),
    [
        ("input", "input"),
        ("output", "output"),
        ("reference", "reference"),
        ("references", "reference"),
        ("context", "context"),
        ("trajectory", "trajectory"),
        ("check", "check"),
    ],
)
def test_reading_a_field_that_is_missing_skips_the_record_and_names_the_field(attribute: str, field: str) -> None:
    with pytest.raises(MissingField, match=f"^record has no {field}$") as caught:
        getattr(Record(), attribute)
    assert isinstance(caught.value, Skip)
    assert caught.value.field == field


@pytest.mark.parametrize("attribute", ["usage", "metadata", "provenance"])
def test_what_may_be_partly_known_is_an_empty_map_when_nothing_is(attribute: str) -> None:
    assert getattr(Record(), attribute) == {}


def test_an_empty_output_is_an_output() -> None:
    assert Record(output="").output.as_text() == ""
    assert Record(output=0).output.as_json() == 0


def test_an_empty_list_of_references_is_no_reference() -> None:
    with pytest.raises(Skip, match="record has no reference"):
        _ = Record(reference=[]).references


def test_an_empty_context_is_a_context_in_which_nothing_was_found() -> None:
    assert Record(context=[]).context == []


def test_one_reference_and_one_context_stand_for_a_list_of_one() -> None:
    record = Record(reference="a", context="b")
    assert record.references == [Content("a")]
    assert record.context == [Content("b")]


def test_a_tuple_of_references_is_a_list_of_them() -> None:
    assert Record(reference=("a", "b")).references == [Content("a"), Content("b")]


def test_a_list_of_chat_messages_is_one_reference() -> None:
    chat = [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]
    assert Record(reference=chat).references == [Content({"messages": chat})]


def test_a_falsy_reference_is_a_reference() -> None:
    assert Record(reference=0).references == [Content({"json": 0})]
    assert Record(reference="").references == [Content("")]


@pytest.mark.parametrize("field", ["output", "metadata", "metadata.topic", "metadata.nested.deep", "usage.latency_ms"])
def test_a_record_says_which_fields_it_has(field: str) -> None:
    assert FULL.has(field)


@pytest.mark.parametrize(
    "field", ["answer", "metadata.author", "metadata.topic.word", "usage.cost_usd", "output.x", ""]
)
def test_a_record_says_which_fields_it_has_not_and_null_counts_as_absent(field: str) -> None:
    assert not FULL.has(field)


def test_a_record_built_without_an_id_leaves_its_numbering_to_the_data() -> None:
    assert "id" not in Record(output="x").wire
    assert Record(output="x").id == ""


def test_an_id_that_is_not_text_is_refused() -> None:
    with pytest.raises(TypeError, match="id is 7; write it as text"):
        Record(id=7)  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["trajectory", "usage", "metadata", "provenance", "check"])
def test_a_map_that_is_none_is_refused_by_its_name(field: str) -> None:
    fields: dict[str, Any] = {field: "text"}
    with pytest.raises(TypeError, match=f"{field} is 'text'; write it as a dict"):
        Record(**fields)


def test_records_are_equal_when_they_hold_the_same() -> None:
    assert Record(output="x") == Record.from_wire({"output": "x"})
    assert Record(output="x") != Record(output="y")
    assert repr(Record(id="1", output="x")) == "Record(id='1', output='x')"


def test_the_record_of_a_test_is_the_record_that_the_kernel_makes_of_the_same_row() -> None:
    row: dict[str, Any] = {
        "id": "r1",
        "input": {"question": "?"},
        "output": [{"role": "assistant", "content": "x"}],
        "reference": ["a", None, {"b": 1}],
        "context": ["c", {"d": 2}],
        "trajectory": [{"tool": "search"}],
        "usage": {"latency_ms": 12.5},
        "metadata": {"topic": "t"},
        "provenance": {"source": "s"},
        "check": {"resolved": True},
    }
    [chunk] = Intake(RowsSource([row], "rows")).chunks()
    assert [msgpack.unpackb(packed) for packed in chunk.packed] == [Record(**row).wire]
