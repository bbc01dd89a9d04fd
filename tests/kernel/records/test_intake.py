"""A row becomes a record: every form of every field, every refusal with its place."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.contents import MAX_NESTING
from evalsi_kernel.records.intake import MAX_COLUMNS_KEPT, MAX_RECORD_BYTES, Intake
from evalsi_kernel.records.mapping import parse_mapping
from tests.kernel.data_path import Lines, read, record, records

MESSAGES = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]


def refusal(*rows: dict[str, Any] | None, **options: Any) -> DatasetError:
    with pytest.raises(DatasetError) as caught:
        records(*rows, **options)
    return caught.value


# -- fields ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["input", "output", "reference"])
@pytest.mark.parametrize(
    ("given", "wire"),
    [
        ("2+2?", "2+2?"),
        ("", ""),
        ("one\u2028two\u0085three\x00", "one\u2028two\u0085three\x00"),
        (MESSAGES, {"messages": MESSAGES}),
        ({"messages": MESSAGES}, {"messages": MESSAGES}),
        ({"text": "2+2?"}, "2+2?"),
        ({"json": [1, 2]}, {"json": [1, 2]}),
        ({"json": None}, {"json": None}),
        ({"answer": 4}, {"json": {"answer": 4}}),
        ({"text": "2+2?", "lang": "en"}, {"json": {"text": "2+2?", "lang": "en"}}),
        ({"text": 4}, {"json": {"text": 4}}),
        ({"messages": "none"}, {"json": {"messages": "none"}}),
        ({}, {"json": {}}),
        (4, {"json": 4}),
        (0.5, {"json": 0.5}),
        (False, {"json": False}),
    ],
    ids=repr,
)
def test_a_content_is_text_messages_or_json(field: str, given: Any, wire: Any) -> None:
    assert record({field: given}) == {field: wire}


@pytest.mark.parametrize("given", [[1, 2], [], [{"role": "user"}, "x"]], ids=repr)
def test_a_list_that_is_no_chat_is_json(given: list[Any]) -> None:
    assert record({"output": given}) == {"output": {"json": given}}


def test_a_list_of_references_means_any_of_them() -> None:
    given = ["four", 4, {"json": "4"}, MESSAGES, None, [2, 2]]
    wire = ["four", {"json": 4}, {"json": "4"}, {"messages": MESSAGES}, {"json": [2, 2]}]
    assert record({"reference": given}) == {"reference": wire}


@pytest.mark.parametrize("given", [[], [None]], ids=repr)
def test_a_list_without_any_reference_is_no_reference(given: list[Any]) -> None:
    assert record({"reference": given}) == {}


@pytest.mark.parametrize(
    ("given", "wire"),
    [
        ("a page", ["a page"]),
        (["a page", {"title": "b"}, None], ["a page", {"json": {"title": "b"}}]),
        ([], []),
        ({"title": "b"}, [{"json": {"title": "b"}}]),
    ],
    ids=repr,
)
def test_a_context_is_a_list_and_a_single_one_is_a_list_of_one(given: Any, wire: list[Any]) -> None:
    assert record({"context": given}) == {"context": wire}


@pytest.mark.parametrize("given", [[{"type": "tool"}], {"steps": [{"type": "tool"}]}], ids=repr)
def test_a_list_of_steps_is_a_trajectory(given: Any) -> None:
    assert record({"trajectory": given}) == {"trajectory": {"steps": [{"type": "tool"}]}}


def test_a_trajectory_may_say_more_than_its_steps() -> None:
    assert record({"trajectory": {"trace_id": "t"}}) == {"trajectory": {"trace_id": "t"}}


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ("llm", "trajectory is 'llm', which is not an object"),
        ([{"type": "tool"}, "llm"], "step 2 of the trajectory is 'llm', not an object"),
        ({"steps": "llm"}, "trajectory.steps is 'llm', which is not a list"),
    ],
)
def test_a_trajectory_without_steps_in_it_is_refused(given: Any, what: str) -> None:
    assert str(refusal({"trajectory": given})).startswith(f"qa.jsonl, line 1: {what}.")


@pytest.mark.parametrize("field", ["metadata", "provenance", "check", "usage"])
def test_a_field_that_is_a_map_takes_nothing_else_and_says_how_to_keep_the_column(field: str) -> None:
    error = refusal({}, {field: "fine"})
    assert error.message == f"qa.jsonl, line 2: {field} is 'fine', which is not an object."
    assert f"--map metadata.{field}={field}" in error.hint
    kept = {field: "fine"}
    assert record(kept, mapping=parse_mapping([f"metadata.{field}={field}"])) == {"metadata": kept}


def test_usage_is_read() -> None:
    assert record({"usage": {"latency": "0.29s", "cost_usd": None}}) == {"usage": {"latency_ms": 290.0}}
    assert "line 1: usage.latency_ms is -1, which is below zero" in str(refusal({"usage": {"latency_ms": -1}}))


def test_null_means_absent() -> None:
    row = dict.fromkeys(("id", "input", "output", "reference", "context", "trajectory", "usage", "metadata", "topic"))
    assert records(row) == [{"id": "0"}]


def test_null_inside_of_a_value_stays() -> None:
    assert record({"metadata": {"a": None}, "output": {"b": None}}) == {
        "metadata": {"a": None},
        "output": {"json": {"b": None}},
    }


# -- metadata ----------------------------------------------------------------------------------------------------------


def test_columns_that_no_field_takes_are_metadata() -> None:
    assert record({"output": "4", "topic": "sums", "level": 2}) == {
        "output": "4",
        "metadata": {"topic": "sums", "level": 2},
    }


def test_columns_join_the_metadata_that_is_there_whose_own_values_stand() -> None:
    rows: list[dict[str, Any]] = [{"topic": "old", "a": 1, "metadata": {"topic": "new", "a": 1}}, {"topic": "x"}]
    assert record({"topic": "old", "a": 1, "metadata": {"topic": "new", "b": 2}}) == {
        "metadata": {"topic": "new", "a": 1, "b": 2}
    }
    assert read(Intake(Lines(rows))).shadowed == {"topic": 1}


def test_the_columns_are_known_in_order_of_appearance_and_of_very_many_only_the_first() -> None:
    assert list(read(Intake(Lines([{"id": "a", "q": 1}, {"r": 1, "id": "b"}]))).columns) == ["id", "q", "r"]
    many = [{f"c{number}": 1} for number in range(3 * MAX_COLUMNS_KEPT)]
    assert len(read(Intake(Lines(many))).columns) == MAX_COLUMNS_KEPT


# -- ids ---------------------------------------------------------------------------------------------------------------


def ids(*given: Any) -> list[str]:
    return [wire["id"] for wire in records(*({"id": record_id} for record_id in given))]


def test_ids_are_text_and_a_missing_one_is_the_position_from_0() -> None:
    assert ids("a", 7, None, -3, 10**30, "né") == ["a", "7", "2", "-3", str(10**30), "né"]


@pytest.mark.parametrize(("record_id", "shown"), [(7.0, "7.0"), (True, "True"), (["a"], r"\['a'\]"), ({}, "{}")])
def test_an_id_that_is_neither_text_nor_an_integer_is_refused(record_id: Any, shown: str) -> None:
    error = refusal({"id": record_id})
    with pytest.raises(
        DatasetError, match=rf"^qa.jsonl, line 1: id is {shown}, which is neither text nor an integer\."
    ):
        raise error


def test_an_empty_id_is_refused_because_it_names_nothing() -> None:
    assert "line 2: the id is an empty text" in str(refusal({"id": "a"}, {"id": ""}))


@pytest.mark.parametrize("at_once", [1, 2, 9])
def test_an_id_that_comes_twice_is_refused_with_both_lines(at_once: int) -> None:
    rows = [{"id": "a"}, None, {"id": "7"}, {"id": "b"}, None, {"id": 7}]
    with pytest.raises(DatasetError) as caught:
        read(Intake(Lines(rows, at_once=at_once)))
    assert caught.value.code == "dataset.duplicate_id"
    assert caught.value.message.startswith("qa.jsonl, line 6: the id '7' stands in line 3 already")
    assert '7 and "7" are the same id' in caught.value.message


@pytest.mark.parametrize(
    ("given", "later", "earlier"),
    [
        ([None, "x", None, "0"], 4, 1),
        (["2", None, None], 3, 1),
        ([None, 0], 2, 1),
        ([None, None, "x", None, "3"], 5, 4),
    ],
    ids=repr,
)
@pytest.mark.parametrize("at_once", [1, 9])
def test_a_given_id_that_equals_the_position_of_a_record_without_one_is_refused_in_either_order(
    given: list[Any], later: int, earlier: int, at_once: int
) -> None:
    with pytest.raises(DatasetError) as caught:
        read(Intake(Lines([{"id": record_id} for record_id in given], at_once=at_once)))
    assert f"line {later}: the id " in caught.value.message
    assert f"stands in line {earlier} already" in caught.value.message
    assert "takes its position, from 0" in caught.value.message


@pytest.mark.parametrize("given", [["5", None, None], [None, "00", "0x", "٠"], ["-1", None]], ids=repr)
def test_ids_that_look_like_positions_but_are_none_of_them_are_fine(given: list[Any]) -> None:
    assert len(ids(*given)) == len(given)


# -- limits and mapping ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "read_rows"), [(1, 3), (3, 3), (4, 6), (6, 6), (100, 7)])
def test_a_limit_reads_no_more_than_it_must(limit: int, read_rows: int) -> None:
    source = Lines([{"output": str(number)} for number in range(7)])
    assert read(Intake(source, limit=limit)).count == min(limit, 7)
    assert source.read == read_rows


def test_what_stands_after_the_limit_is_not_looked_at() -> None:
    assert len(records({"id": "a"}, {"id": "a"}, {"id": 1.5}, limit=1)) == 1


def test_mapped_columns_become_fields_and_their_columns_are_known_as_they_are_in_the_data() -> None:
    intake = Intake(Lines([{"q": "2+2?", "ms": "235", "t": "sums"}]), parse_mapping(["input=q", "usage.latency_ms=ms"]))
    assert list(read(intake).columns) == ["q", "ms", "t"]
    wire = {"input": "2+2?", "usage": {"latency_ms": 235}, "metadata": {"t": "sums"}}
    assert record({"q": "2+2?", "ms": "235", "t": "sums"}, mapping=intake.mapping) == wire


def test_a_mapped_column_that_is_missing_is_counted_by_record() -> None:
    rows: list[dict[str, Any]] = [{"q": "a", "x": 1}, {"x": 1}, {"x": 1}]
    assert read(Intake(Lines(rows), parse_mapping(["input=q", "output=gone"]))).mapped_missing == {
        "input": 2,
        "output": 3,
    }


def test_what_a_mapping_cannot_do_is_refused_with_its_place() -> None:
    error = refusal({"usage": "fast", "ms": 3}, mapping=parse_mapping(["usage.latency_ms=ms"]))
    assert error.message == "qa.jsonl, line 1: usage is 'fast', which is not an object."


# -- clusters ----------------------------------------------------------------------------------------------------------


def clusters(cluster_by: str, *rows: dict[str, Any]) -> list[str]:
    intake = Intake(Lines(rows), cluster_by=cluster_by)
    return [cluster for chunk in intake.chunks() for cluster in chunk.clusters or []]


@pytest.mark.parametrize(
    ("value", "cluster"),
    [("sums", "sums"), ("", ""), (3, "3"), (3.0, "3"), (0.5, "0.5"), (True, "true"), (False, "false")],
)
def test_a_cluster_is_named_by_text_a_number_or_a_truth(value: Any, cluster: str) -> None:
    assert clusters("topic", {"topic": value}) == [cluster]


def test_a_cluster_key_reaches_into_metadata_and_into_fields() -> None:
    row = {"metadata": {"doc": {"id": "d1"}, "a.b": "dotted"}, "provenance": {"run": "r1"}, "input": "q"}
    assert [clusters(key, row) for key in ("doc.id", "metadata.doc.id", "a.b", "provenance.run", "input")] == [
        ["d1"],
        ["d1"],
        ["dotted"],
        ["r1"],
        ["q"],
    ]


@pytest.mark.parametrize("row", [{"topics": "sums"}, {"metadata": {"topics": 1}}], ids=repr)
def test_a_record_without_the_cluster_key_is_refused_with_the_nearest_name(row: dict[str, Any]) -> None:
    error = refusal({"topic": "x", "topics": "y"}, row, cluster_by="topic")
    assert error.message == "qa.jsonl, line 2: there is no 'topic' to cluster by."
    error = refusal(row, cluster_by="topic")
    assert 'Did you mean "topics"?' in error.hint


def test_a_record_whose_cluster_key_is_null_has_none() -> None:
    assert "line 1: there is no 'a' to cluster by" in str(refusal({"metadata": {"a": None}}, cluster_by="a"))


def test_without_a_near_name_all_that_there_are_are_told() -> None:
    assert "There are colour, size." in refusal({"colour": 1, "size": 2, "output": "x"}, cluster_by="topic").hint


def test_a_list_names_no_cluster() -> None:
    assert "line 1: 'topic' is ['a']" in str(refusal({"topic": ["a"]}, cluster_by="topic"))


# -- what cannot travel ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "path"),
    [
        ({"output": "a\ud800b"}, "output"),
        ({"input": [{"role": "user", "content": "\ud800"}]}, "input.0.content"),
        ({"topic": "\udfff"}, "topic"),
        ({"metadata": {"a": [0, {"b": "\ud800"}]}}, "metadata.a.1.b"),
        ({"to\ud800pic": 1}, r"to\ud800pic"),
        ({"id": "\ud800"}, "id"),
    ],
    ids=["text", "message", "column", "nested", "name", "id"],
)
def test_a_lone_surrogate_is_refused_with_its_place_and_the_sentence_can_be_printed(
    row: dict[str, Any], path: str
) -> None:
    error = refusal({"output": "fine"}, row)
    assert error.message.startswith(f"qa.jsonl, line 2: {path} holds the lone surrogate U+D")
    str(error).encode()


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**30], ids=str)
def test_an_integer_beyond_64_bits_is_refused_with_its_place_and_a_way_out(number: int) -> None:
    error = refusal({"metadata": {"counts": {"big": number}}, "id": 10**30})
    assert error.message == "qa.jsonl, line 1: metadata.counts.big holds an integer beyond 64 bits."
    assert error.hint == "Write it as text, in quotes."


@pytest.mark.parametrize("number", [2**64 - 1, -(2**63), 5e-324, 1.7976931348623157e308], ids=str)
def test_the_widest_numbers_travel(number: float) -> None:
    assert record({"metadata": {"n": number}}) == {"metadata": {"n": number}}


def test_a_type_that_is_not_jsons_is_refused_with_its_place() -> None:
    assert "line 1: a.1 cannot be sent to an evaluator" in str(refusal({"a": [1, {2}]}))


def nested(levels: int) -> dict[str, Any]:
    return {"a": nested(levels - 1)} if levels > 1 else {"a": 1}


@pytest.mark.parametrize(
    ("field", "levels"), [("output", MAX_NESTING - 1), ("metadata", MAX_NESTING), ("anything", MAX_NESTING - 1)]
)
def test_nesting_that_is_too_deep_is_refused_with_its_place(field: str, levels: int) -> None:
    fine = records({field: nested(levels)})
    assert records(*fine) == fine
    error = refusal({field: nested(levels + 1)})
    assert error.message.startswith(f"qa.jsonl, line 1: {field} is nested deeper than ")


def test_a_value_that_contains_itself_is_refused_as_too_deep() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert "nested deeper" in str(refusal({"output": endless}))


def test_a_record_that_no_frame_can_carry_stands_alone_with_the_error_that_says_its_size() -> None:
    rows = [{"output": "x"}, {"output": "x" * (MAX_RECORD_BYTES + 1)}, {"output": "y"}]
    chunks = list(Intake(Lines(rows)).chunks())
    assert [chunk.ids for chunk in chunks] == [["0"], ["1"], ["2"]]
    assert [chunk.refusal is None for chunk in chunks] == [True, False, True]
    assert chunks[1].refusal is not None
    assert chunks[1].refusal.message.startswith("qa.jsonl, line 2: the record takes 64 MiB, more than the 64 MiB")


# -- chunks ------------------------------------------------------------------------------------------------------------


def test_chunks_know_where_their_records_stand() -> None:
    rows = [{"id": "a"}, None, {"id": "b"}, {"id": "c"}, {"id": "d"}]
    chunks = list(Intake(Lines(rows)).chunks())
    assert [(chunk.ids, chunk.numbers, chunk.clusters) for chunk in chunks] == [
        (["a", "b", "c"], [1, 3, 4], None),
        (["d"], [5], None),
    ]


def test_a_source_that_gives_much_at_once_is_cut_so_that_memory_and_frames_stay_small() -> None:
    rows = [{"output": "x" * 10_000, "topic": str(number)} for number in range(100)]
    chunks = list(Intake(Lines(rows, at_once=100), cluster_by="topic").chunks())
    assert [wire for chunk in chunks for wire in chunk.ids] == [str(number) for number in range(100)]
    assert [cluster for chunk in chunks for cluster in chunk.clusters or []] == [str(number) for number in range(100)]
    assert [number for chunk in chunks for number in chunk.numbers] == list(range(1, 101))
    assert max(sum(map(len, chunk.packed)) for chunk in chunks) < 64 * 1024
