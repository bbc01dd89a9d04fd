"""Records as DeepEval's test cases, where a record lacks something, has several, or cannot be read."""

from __future__ import annotations

from typing import Any

import pytest
from adapters.deepeval.tests.material import CHUNKS, MESSAGES, RECORD, STEPS, TALK
from adapters.deepeval.tests.scripted import judge

from evalsi import Record, Skip
from evalsi.testing import Bench, Outcome
from evalsi_deepeval import EVALUATORS
from evalsi_deepeval.conversation_metrics import METRICS
from evalsi_deepeval.tool_calls import Call, arguments_of, calls_expected, calls_made
from evalsi_deepeval.traces import trace_of
from evalsi_deepeval.turns import turns_of

BY_NAME = dict(zip([metric.name for metric in METRICS], EVALUATORS, strict=True))


def scored(name: str, record: Record, **params: Any) -> Outcome:
    return Bench(judge=judge).score(BY_NAME[name], record, **params)


def changed(record: Record, **fields: Any) -> Record:
    return Record.from_wire({**record.wire, **fields})


@pytest.mark.parametrize("name", ["faithfulness", "hallucination", "contextual-relevancy", "contextual-precision"])
def test_e10_a_record_for_which_nothing_was_retrieved_is_skipped(name: str) -> None:
    outcome = scored(name, changed(RECORD, context=[]))
    assert (outcome.kind, outcome.reason) == ("skipped", "no context")


@pytest.mark.parametrize("name", ["answer-relevancy", "bias", "faithfulness", "summarization"])
def test_an_empty_output_is_skipped_and_never_a_perfect_score(name: str) -> None:
    assert scored(name, changed(RECORD, output="")).kind == "skipped"


def test_of_several_references_an_exact_match_takes_the_best() -> None:
    record = Record(output="noon ", reference=["midnight", "noon", "dawn"])
    assert scored("exact-match", record).passed is True
    assert scored("exact-match", Record(output="dusk", reference=["midnight", "noon"])).passed is False


def test_a_fault_in_a_part_that_a_metric_does_not_read_does_not_matter_to_it() -> None:
    broken = changed(RECORD, metadata={"expected_tools": "timetable"})
    assert scored("answer-relevancy", broken).kind == "scored"
    outcome = scored("tool-correctness", broken)
    assert outcome.error is not None
    assert "metadata.expected_tools is no list" in str(outcome.error)


def test_a_part_that_only_the_params_name_is_needed_too() -> None:
    shown = ["actual_output", "expected_output"]
    record = Record(output="At noon.")
    outcome = scored("g-eval", record, criteria="Right?", evaluation_params=shown)
    assert (outcome.kind, outcome.reason) == ("skipped", "record has no reference")
    assert scored("g-eval", changed(record, reference="Noon."), criteria="Right?", evaluation_params=shown).value >= 0


def test_an_arena_needs_the_other_output_where_it_is_said_to_stand() -> None:
    outcome = scored("arena-g-eval", RECORD, criteria="Right?", other="models.old")
    assert (outcome.kind, outcome.reason) == ("skipped", "record has no metadata.models.old")
    other = changed(RECORD, metadata={"models": {"old": "At dusk."}})
    assert scored("arena-g-eval", other, criteria="Right?", other="models.old").label == "win"


def test_a_role_is_the_param_s_or_the_record_s_or_there_is_none() -> None:
    bare = changed(TALK, metadata={})
    assert scored("role-adherence", bare).kind == "skipped"
    assert scored("role-adherence", bare, chatbot_role="a ticket seller").kind == "scored"
    assert scored("role-adherence", TALK).kind == "scored"


def test_turns_need_a_context_of_their_own_or_the_record_s() -> None:
    said: list[dict[str, Any]] = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At noon."}]
    assert scored("turn-faithfulness", Record(output=said)).reason.startswith("no context")
    assert scored("turn-faithfulness", Record(output=said, context=CHUNKS)).kind == "scored"
    said[1]["context"] = CHUNKS
    assert scored("turn-faithfulness", Record(output=said)).kind == "scored"


def test_a_turn_has_the_calls_before_it_with_what_they_gave() -> None:
    turns = turns_of(TALK)
    assert [turn.role for turn in turns] == ["user", "assistant", "user", "assistant"]
    assert turns[1].calls == [Call("timetable", {"day": "Monday"}, "12:00")]
    assert [turn.context for turn in turns] == [None, CHUNKS, None, CHUNKS]


def test_calls_that_no_answer_follows_are_a_turn_without_text() -> None:
    turns = turns_of(Record(input="When?", output=MESSAGES[2:4]))
    assert (turns[1].text, turns[1].calls) == ("", [Call("timetable", {"day": "Monday"}, "12:00")])


def test_an_output_that_repeats_the_input_is_not_told_twice() -> None:
    answer = {"role": "assistant", "content": "Yes."}
    assert turns_of(Record(input=MESSAGES, output=[*MESSAGES, answer])) == turns_of(
        Record(input=MESSAGES, output=[answer])
    )


@pytest.mark.parametrize(
    "record",
    [
        Record(output="Hello."),
        Record(input=[{"role": "system", "content": "Be kind."}], output="Hello."),
        Record(output=[{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Hi."}]),
    ],
    ids=["no user", "no user but a system", "no answer"],
)
def test_a_conversation_without_an_exchange_is_skipped(record: Record) -> None:
    with pytest.raises(Skip, match="no conversation"):
        turns_of(record)
    assert scored("turn-relevancy", record).kind == "skipped"


def test_calls_are_the_tool_steps_and_without_them_what_the_models_asked_for() -> None:
    assert [call.name for call in calls_made(RECORD)] == ["timetable", "fares", "weather"]
    asked = {"role": "assistant", "tool_calls": [{"name": "fares", "arguments": '{"who": "dog"}'}, {"id": 1}]}
    for output in (asked, [asked]):
        record = Record(trajectory=[{"type": "llm", "output": output}, {"type": "llm", "output": "Done."}])
        assert calls_made(record) == [Call("fares", {"who": "dog"})]


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        (None, {}),
        ("", {}),
        ('{"a": 1}', {"a": 1}),
        ("noon", {"input": "noon"}),
        ([1], {"input": [1]}),
        ({"a": 1}, {"a": 1}),
    ],
)
def test_arguments_have_names(value: Any, arguments: dict[str, Any]) -> None:
    assert arguments_of(value) == arguments


@pytest.mark.parametrize("listed", [[3], [{"arguments": {}}], {"name": "fares"}])
def test_expected_tools_that_are_no_names_and_no_tables_are_refused(listed: Any) -> None:
    with pytest.raises(ValueError, match=r"metadata\.expected_tools"):
        calls_expected(Record(metadata={"expected_tools": listed}))


def test_a_step_stands_beneath_its_parent_and_one_without_beneath_the_agent() -> None:
    trace = trace_of(RECORD)
    assert [span["name"] for span in trace["children"]] == ["planner", "weather"]
    assert [span["name"] for span in trace["children"][0]["children"]] == ["timetable", "fares"]


def test_a_step_that_is_its_own_parent_or_has_an_unknown_one_stands_beneath_the_agent() -> None:
    steps = [{**STEPS[0], "parent_span_id": "a"}, {"type": "retrieval", "parent_span_id": "z", "error": "gone"}]
    children = trace_of(changed(RECORD, trajectory={"steps": steps}))["children"]
    assert [(span["type"], span["name"]) for span in children] == [("llm", "planner"), ("retriever", "retriever")]
    assert children[1]["error"] == "gone"


def test_an_agent_without_a_trajectory_may_still_have_done_its_task() -> None:
    bare = Record(input="When?", output="At noon.")
    assert scored("task-completion", bare, task="Tell the hour.").kind == "scored"


IMAGE = {"type": "image", "source": {"type": "url", "url": "https://host.example/1.png"}}


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("answer-relevancy", "input"),
        ("answer-relevancy", "output"),
        ("bias", "input"),
        ("faithfulness", "context"),
        ("contextual-recall", "reference"),
    ],
)
def test_e2_a_record_with_an_image_is_skipped(name: str, field: str) -> None:
    role = "user" if field == "input" else "assistant"
    shown: Any = {"messages": [{"role": role, "content": [{"type": "text", "text": "This:"}, IMAGE]}]}
    outcome = scored(name, changed(RECORD, **{field: [shown] if field == "context" else shown}))
    assert outcome.reason == f"the {field} holds an image, which judges are not shown"


def test_e1_the_last_assistant_message_is_scored() -> None:
    said = [{"role": "assistant", "content": "Let me look."}, {"role": "assistant", "content": "noon"}]
    assert scored("exact-match", Record(output=said, reference="noon")).passed
