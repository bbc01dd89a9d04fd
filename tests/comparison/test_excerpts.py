"""What is shown of the records that changed: the trial that differs, from where the answers part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalsi_comparison.comparison import Wanted, compare
from evalsi_comparison.excerpts import Excerpt
from tests.comparison.results_files import verdicts, write_results


def shown(tmp_path: Path, base: Any, candidate: Any, *, asked: Any = "Why?") -> Excerpt:
    """The excerpt of the one record, which passes in the base and fails in the candidate."""
    paths = [
        write_results(
            tmp_path / f"{name}.json", {"exact": verdicts(r1=letter)}, outputs={"r1": output}, inputs={"r1": asked}
        )
        for name, letter, output in (("base", "p", base), ("candidate", "f", candidate))
    ]
    return compare(Wanted(paths[0], paths[1])).excerpts["r1", 1]


def test_texts_are_shown_as_a_line_and_cut(tmp_path: Path) -> None:
    found = shown(tmp_path, "a\nb\t c", "x " * 200)
    assert found.base == "a b c"
    assert len(found.candidate) == 160
    assert found.candidate.endswith("x x…")
    assert found.input == "Why?"


def test_long_answers_that_begin_alike_are_shown_from_where_they_part(tmp_path: Path) -> None:
    same = "The answer, after much thought about the question and its meaning, is "
    found = shown(tmp_path, f"{same}yes.", f"{same}no.")
    assert found.base == "…and its meaning, is yes."
    assert found.candidate == "…and its meaning, is no."


def test_answers_that_are_equal_are_shown_from_their_beginning(tmp_path: Path) -> None:
    same = "The answer, after much thought about the question and its meaning, is yes."
    assert shown(tmp_path, same, same) == Excerpt("Why?", same, same)


def test_messages_are_shown_by_the_last_and_json_as_json(tmp_path: Path) -> None:
    chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    assert shown(tmp_path, chat, {"json": {"a": [1]}}) == Excerpt("Why?", "Hello", '{"a": [1]}')


def test_of_several_trials_the_first_that_differs_is_shown(tmp_path: Path) -> None:
    paths = [
        write_results(tmp_path / f"{name}.json", {"exact": verdicts(r1=word, r2="ppp")})
        for name, word in (("base", "ppp"), ("candidate", "ppf"))
    ]
    text = paths[1].read_text()
    third = '"output":"Answer r1.","reference":"x","provenance":{"run":{"trial":3}}'
    assert third in text
    paths[1].write_text(text.replace(third, third.replace("Answer r1.", "Wrong.")))
    found = compare(Wanted(paths[0], paths[1]))
    assert found.excerpts == {("r1", 3): Excerpt("Question r1?", "Answer r1.", "Wrong.")}
