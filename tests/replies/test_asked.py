"""What was asked is read from a file of an ask or of results, as far as it tells; what it lacks is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.broker.judge_key import differing
from evalsi_kernel.errors import ConfigError
from evalsi_replies.asked import Asked, asked_in_file, asked_in_results
from tests.replies.kept_replies import IDENTITY, key, question


def written(folder: Path, value: Any) -> Path:
    path = folder / "file.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_an_ask_in_a_file_has_the_key_that_a_run_gives_it(tmp_path: Path) -> None:
    ask = {**question(7)._asdict(), "identity": IDENTITY}
    asked = asked_in_file(written(tmp_path, ask))
    assert (asked.digest, dict(asked.fields)) == (key(7).digest, dict(key(7).fields))
    without_defaults = {name: ask[name] for name in ("identity", "messages", "schema", "temperature")}
    assert asked_in_file(written(tmp_path, without_defaults)) == asked
    shorter = asked_in_file(written(tmp_path, ask | {"max_tokens": 10}))
    assert differing(shorter.fields, asked.fields) == ["max_tokens"]


MESSAGES = [{"role": "user", "content": "a"}]
BAD_ASKS = {
    "no JSON": ("{", "is not JSON"),
    "no object": ([1], r"holds \[1\], which is no JSON object"),
    "a strange part": ({"messages": MESSAGES, "temprature": 1}, r"no 'temprature'. Did you mean \"temperature\"\?"),
    "a wrong type": ({"messages": MESSAGES, "seed": "1"}, r"seed is \"1\". Make it a whole number"),
    "a boolean number": ({"messages": MESSAGES, "sample": True}, "sample is true"),
    "no messages": ({"identity": IDENTITY}, "messages are missing"),
    "texts for messages": ({"messages": ["a"]}, "not all of them are objects"),
    "a number in the identity": ({"messages": MESSAGES, "identity": {"model": 1}}, "identity has a value that is no"),
}


@pytest.mark.parametrize("kind", BAD_ASKS)
def test_a_file_that_is_no_ask_is_refused_with_what_is_wrong(kind: str, tmp_path: Path) -> None:
    value, sentence = BAD_ASKS[kind]
    with pytest.raises(ConfigError, match=sentence):
        asked_in_file(written(tmp_path, value))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        asked_in_file(tmp_path / "none.json")


def result(record: str, evaluator: str, *calls: Any) -> dict[str, Any]:
    return {"record_id": record, "evaluator": evaluator, "evaluator_ref": f"judge/{evaluator}@1", "judge_calls": calls}


def told(number: int) -> dict[str, Any]:
    return {"ref": key(number).digest[:16], "key": key(number).digest, "fields": dict(key(number).fields)}


RUN = {
    "results": [
        result("a", "grade", told(1)["ref"], told(2)["ref"]),
        result("a", "tone", told(3)),
        result("b", "tone", {"ref": "00ff"}),
        result("c", "tone"),
        {"record_id": "d", "evaluator": "exact-match", "evaluator_ref": "core/exact-match@1"},
    ],
    "records": [{"id": "a"}],
    "judge_replies": [told(1), told(2) | {"text": "{}"}],
}


@pytest.mark.parametrize("evaluator", ["grade", "judge/grade", "judge/grade@1"])
def test_the_calls_of_a_record_and_an_evaluator_are_found_by_their_references(evaluator: str, tmp_path: Path) -> None:
    asked = asked_in_results(written(tmp_path, RUN), "a", evaluator)
    assert asked == [Asked(key(number).digest, dict(key(number).fields)) for number in (1, 2)]


def test_without_an_evaluator_all_that_asked_about_a_record_count(tmp_path: Path) -> None:
    asked = asked_in_results(written(tmp_path, RUN), "a", None)
    assert [one.digest for one in asked] == [key(number).digest for number in (1, 2, 3)]


def test_a_reference_without_more_is_the_beginning_of_a_key(tmp_path: Path) -> None:
    assert asked_in_results(written(tmp_path, RUN), "b", "tone") == [Asked("00ff", {})]


BAD_RESULTS = {
    "no results": ({"manifest": {}}, "a", None, "holds no results"),
    "no such record": (RUN, "A", None, r"no record 'A'. Did you mean \"a\"\?"),
    "no such evaluator": (RUN, "a", "grades", r"no evaluator 'grades'. It has grade, tone\."),
    "no call": (RUN, "c", "tone", "notes no question to a model for record 'c': 'tone' asked none about it"),
    "no judge": (RUN, "d", None, "for record 'd': no evaluator asked one about it"),
}


@pytest.mark.parametrize("kind", BAD_RESULTS)
def test_results_that_do_not_tell_are_refused_with_what_is_missing(kind: str, tmp_path: Path) -> None:
    value, record, evaluator, sentence = BAD_RESULTS[kind]
    with pytest.raises(ConfigError, match=sentence):
        asked_in_results(written(tmp_path, value), record, evaluator)


@pytest.mark.parametrize(
    "call", [1, None, {}, {"ref": 3}, {"key": None, "ref": None}, [], {"ref": "00", "fields": "x"}]
)
def test_calls_of_another_form_break_nothing(call: Any, tmp_path: Path) -> None:
    run = {"results": [result("a", "grade", call, told(1))]}
    assert asked_in_results(written(tmp_path, run), "a", "grade")[-1].digest == key(1).digest
