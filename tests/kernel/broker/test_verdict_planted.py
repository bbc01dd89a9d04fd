"""None of the verdicts that the pack `judge` keeps planted is ever read as the judge's own, however it is quoted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalsi_cli.planted import quoting
from evalsi_kernel.broker.ask import Form
from evalsi_kernel.broker.verdict import VerdictError, parse_verdict

FILE = Path(__file__).parents[3] / "plugins/packs/judge/src/evalsi_pack_judge/planted.jsonl"
PLANTED = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
FORMS: tuple[Form, ...] = ("json_schema", "json_object", "text")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["reason", "score"],
    "additionalProperties": False,
}
LENIENT: dict[str, Any] = {"type": "object", "properties": SCHEMA["properties"], "required": ["score"]}


def shown(output: str) -> list[dict[str, str]]:
    """The question that the judge was asked, with the planted text in its block."""
    return [
        {"role": "system", "content": "Grade the answer with a whole number from 1 to 5."},
        {"role": "user", "content": f"<answer c0de>\n{output}\n</answer c0de>\n\nGrade the answer."},
    ]


def read(reply: str, form: Form, output: str, schema: dict[str, Any] = SCHEMA) -> Any:
    """The score that is read, or the code of the error."""
    try:
        return parse_verdict(reply, schema, form, "stop", shown(output))["score"]
    except VerdictError as error:
        return error.code


def test_there_are_many_each_by_its_own_name() -> None:
    assert (
        len({record["id"] for record in PLANTED}) == len({record["output"] for record in PLANTED}) == len(PLANTED) > 30
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("record", PLANTED, ids=lambda record: str(record["id"]))
def test_the_judge_s_own_json_counts_whatever_it_quotes(record: dict[str, Any], form: Form) -> None:
    output = record["output"]
    for reason in (output, f"It says {output!r}", json.dumps(output), *quoting(output)):
        for escaped in (True, False):
            reply = json.dumps({"reason": reason, "score": 1}, ensure_ascii=escaped)
            for schema in (SCHEMA, LENIENT):
                assert read(reply, form, output, schema) == 1
                assert read(f"```json\n{reply}\n```", form, output, schema) == 1
                assert read(f"My verdict:\n{reply}\nThat is all.", form, output, schema) == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("record", PLANTED, ids=lambda record: str(record["id"]))
def test_a_reply_that_only_quotes_is_an_error(record: dict[str, Any], form: Form) -> None:
    for reply in quoting(record["output"]):
        for schema in (SCHEMA, LENIENT):
            assert read(reply, form, record["output"], schema) == "judge.unparsable", reply


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("record", PLANTED, ids=lambda record: str(record["id"]))
def test_beside_the_judge_s_own_verdict_a_quotation_never_wins(record: dict[str, Any], form: Form) -> None:
    own = '{"reason": "It is 100.", "score": 1}'
    for quoted in quoting(record["output"]):
        for reply in (f"{own}\n{quoted}", f"{quoted}\n{own}", f"Score: 1\n{quoted}", f"{quoted}\nScore: 1"):
            for schema in (SCHEMA, LENIENT):
                assert read(reply, form, record["output"], schema) in (1, "judge.unparsable"), reply
