"""The data of a calibration: labels out, records held, and what the user is told of a file without labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from evalsi_calibration.labelled_data import LabelledData, read_labelled
from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.mapping import parse_mapping


class Rows:
    """A source of these rows, two a chunk."""

    name = "labelled.jsonl"
    unit = "line"
    may_block = False

    def __init__(self, *rows: dict[str, Any]) -> None:
        self.rows = rows

    def chunks(self) -> Iterator[list[tuple[int, dict[str, Any]]]]:
        numbered = list(enumerate(self.rows, 1))
        yield from (numbered[start : start + 2] for start in range(0, len(numbered), 2))

    def sha256(self) -> str | None:
        return "5e"


def held(data: LabelledData) -> list[tuple[int, dict[str, Any]]]:
    return [row for chunk in data.source.chunks() for row in chunk]


def test_records_keep_their_ids_and_lines_and_lose_their_labels() -> None:
    data = read_labelled(
        Rows({"output": "a", "human": True}, {"output": "b"}, {"id": "x", "output": "c", "human": False}), "human"
    )
    assert held(data) == [(1, {"id": "0", "output": "a"}), (3, {"id": "x", "output": "c"})]
    assert [(label.record_id, label.written, label.place) for label in data.labels] == [
        ("0", True, "labelled.jsonl, line 1"),
        ("x", False, "labelled.jsonl, line 3"),
    ]
    assert (data.records, data.sha256) == (3, "5e")


@pytest.mark.parametrize("nothing", [{}, {"human": None}, {"human": " "}, {"metadata": {"other": 1}}])
def test_a_record_without_a_label_is_not_held(nothing: dict[str, Any]) -> None:
    data = read_labelled(Rows({"output": "a", **nothing}, {"output": "b", "human": 1}), "human")
    assert [record["output"] for _, record in held(data)] == ["b"]
    assert (data.records, len(data.labels)) == (2, 1)


def test_a_mapped_column_can_be_the_label() -> None:
    mapping = parse_mapping(["output=reply", "metadata.human=gold.verdict"])
    data = read_labelled(Rows({"reply": "a", "gold": {"verdict": "pass"}}), "human", mapping)
    assert data.labels[0].written == "pass"
    assert held(data)[0][1]["output"] == "a"
    assert "human" not in held(data)[0][1]["metadata"]


def test_a_limit_counts_records_as_eval_does() -> None:
    rows = [{"output": "a", "human": number % 2} for number in range(5)]
    assert read_labelled(Rows(*rows), "human", limit=3).records == 3


def test_many_records_come_in_chunks() -> None:
    data = read_labelled(Rows(*({"output": str(number), "human": 1} for number in range(150))), "human")
    assert [record["output"] for _, record in held(data)] == [str(number) for number in range(150)]
    assert max(map(len, data.source.chunks())) < 150


@pytest.mark.parametrize(
    ("rows", "label", "told"),
    [
        (
            [{"output": "a", "hunan": 1}],
            "human",
            "there is no label 'human'. Did you mean \"hunan\"? The columns are: hunan.",
        ),
        ([{"output": "a", "review": {"grade": 1}}], "review.grad", 'Did you mean "review.grade"?'),
        (
            [{"output": "a", "x": 1, "y": 2}],
            "human",
            "The columns are: x, y. Name the column, or the metadata key, with",
        ),
        ([{"output": "a", "metadata": {"z": 1}}], "human", "The columns are: z."),
        ([{"output": "a"}], "human", "It has no column for one."),
        ([{"output": "a", "human": None}], "human", "no record has a label in 'human'. Label some, or name another"),
        ([{f"column{number}": 1 for number in range(30)}], "human", "column19, …."),
    ],
)
def test_a_label_that_is_not_there_is_an_error_that_names_the_columns(
    rows: list[dict[str, Any]], label: str, told: str
) -> None:
    with pytest.raises(DatasetError) as caught:
        read_labelled(Rows(*rows), label)
    assert told in str(caught.value)
    assert str(caught.value).startswith("labelled.jsonl: ")


def test_data_without_a_record_is_told_as_such() -> None:
    with pytest.raises(DatasetError, match=r"labelled\.jsonl has no records") as caught:
        read_labelled(Rows(), "human")
    assert caught.value.code == "dataset.empty"


def test_a_mapped_column_that_no_record_has_is_told_before_anything_is_scored() -> None:
    with pytest.raises(DatasetError, match="no record has the column 'replies', which is mapped to output") as caught:
        read_labelled(Rows({"reply": "a", "human": 1}), "human", parse_mapping(["output=replies"]))
    assert 'Did you mean "reply"?' in caught.value.hint


def test_a_row_that_is_no_record_is_told_with_its_place() -> None:
    with pytest.raises(DatasetError, match=r"labelled\.jsonl, line 2: metadata is 7"):
        read_labelled(Rows({"output": "a", "human": 1}, {"output": "b", "metadata": 7}), "human")
