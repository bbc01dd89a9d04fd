"""Test questions to a judge, its replies, and errors of the kernel."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest

from evalsi import AskError, Context, JudgeReply, Question, Record, Score, Skip, evaluator
from evalsi.judging import ask_body, replies_of
from evalsi.testing import Bench, Outcome, failure, score

RECORD = Record(id="r1", output="Bonn.")
MESSAGES = [{"role": "user", "content": "Is it right?"}]
SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}


@evaluator(name="graded", asks=["judge"])
async def graded(record: Record, ctx: Context) -> Score:
    """Asks one question."""
    reply = await ctx.judge([{"role": "user", "content": record.output.as_text()}], schema=SCHEMA)
    return Score(value=reply.value["score"])


@evaluator(name="graded-plainly", asks=["judge"])
def graded_plainly(record: Record, ctx: Context) -> Score:
    """Asks one question, and waits."""
    reply = ctx.judge_and_wait([{"role": "user", "content": record.output.as_text()}], schema=SCHEMA)
    return Score(value=reply.value["score"])


@evaluator(name="panel", asks=["judge"])
class Panel:
    """The mean of several questions."""

    def __init__(self, size: int = 2) -> None:
        self.size = size

    def plan(self, record: Record) -> list[Question]:
        text = record.output.as_text()
        if text == "skip":
            raise Skip("nothing to ask")
        return [Question([{"role": "user", "content": text}], SCHEMA, sample=index) for index in range(self.size)]

    def reduce(self, record: Record, replies: list[JudgeReply]) -> Score:
        total = sum(reply.value["score"] for reply in replies)
        return Score(value=total / len(replies), explanation=f"{record.output.as_text()} {len(replies)}")


class Wire:
    """A kernel that gives one answer and keeps what it was asked."""

    def __init__(self, answer: dict[str, Any] | AskError) -> None:
        self.answer = answer
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def ask(self, method: str, body: dict[str, Any]) -> Future[dict[str, Any]]:
        self.asked.append((method, body))
        future: Future[dict[str, Any]] = Future()
        if isinstance(self.answer, AskError):
            future.set_exception(self.answer)
        else:
            future.set_result(self.answer)
        return future


def code_of(outcome: Outcome) -> str:
    assert outcome.kind == "error"
    assert outcome.error is not None
    return outcome.error.code


# -- on the wire ------------------------------------------------------------------------------------------------------


def test_a_question_travels_without_what_is_the_default() -> None:
    assert Question(MESSAGES).to_body() == {"messages": MESSAGES}
    full = Question(MESSAGES, SCHEMA, "second", 50, 0.0, 7, 2)
    body = full.to_body()
    assert body == {
        "messages": MESSAGES,
        "schema": SCHEMA,
        "role": "second",
        "max_tokens": 50,
        "temperature": 0.0,
        "seed": 7,
        "sample": 2,
    }
    assert Question(**body) == full


def test_an_ask_names_its_session_and_its_record_so_that_its_cost_can_be_booked() -> None:
    assert ask_body(3, "r1", [Question(MESSAGES)]) == {
        "session": 3,
        "record": "r1",
        "requests": [{"messages": MESSAGES}],
    }


def test_a_reply_is_read_whole_and_what_is_new_in_it_is_passed_over() -> None:
    whole = {"value": {"score": 1}, "text": "{}", "ref": "f0", "model": "m", "cached": True, "cost_usd": 0.5, "new": 1}
    [reply] = replies_of({"replies": [whole]}, 1)
    assert reply == JudgeReply({"score": 1}, "{}", "f0", "m", True, 0.5)


def test_what_a_reply_does_not_say_is_unknown() -> None:
    [reply] = replies_of({"replies": [{"value": None, "text": "Yes."}]}, 1)
    assert reply == JudgeReply(None, "Yes.", "", "", False, None)


def test_the_error_of_one_question_stands_in_its_place() -> None:
    refused = {"error": {"code": "judge.refused", "message": "No.", "hint": "", "source": "judge", "retry": "no"}}
    first, second = replies_of({"replies": [{"value": 1, "text": "1"}, refused]}, 2)
    assert isinstance(first, JudgeReply)
    assert isinstance(second, AskError)
    assert (second.error.code, second.error.source, str(second)) == ("judge.refused", "judge", "No.")


@pytest.mark.parametrize("body", [{}, {"replies": []}, {"replies": [{}, {}]}, {"replies": "xy"}], ids=str)
def test_a_kernel_that_answers_another_number_of_questions_is_told_so(body: dict[str, Any]) -> None:
    with pytest.raises(AskError, match="did not send 1 replies") as caught:
        replies_of(body, 1)
    assert (caught.value.error.code, caught.value.error.source) == ("protocol.body", "kernel")


# -- the context ------------------------------------------------------------------------------------------------------


def test_what_is_asked_for_a_record_is_booked_on_it() -> None:
    wire = Wire({"replies": [{"value": None, "text": "Yes."}]})
    context = Context(wire, session=4).of(RECORD)
    assert context.judge_and_wait(MESSAGES, max_tokens=9).text == "Yes."
    request = {"messages": MESSAGES, "max_tokens": 9}
    assert wire.asked == [("judge.ask", {"session": 4, "record": "r1", "requests": [request]})]


def test_what_is_asked_for_one_trial_of_a_record_is_booked_on_that_trial() -> None:
    wire = Wire({"replies": [{"value": None, "text": "Yes."}]})
    record = Record.from_wire({"id": "r1#2", "record_id": "r1"})
    Context(wire).of(record).judge_and_wait(MESSAGES)
    assert (record.id, wire.asked[0][1]["record"]) == ("r1", "r1#2")


def test_one_question_that_failed_is_raised_and_of_several_it_is_returned() -> None:
    async def judged(record: Record, ctx: Context) -> str:
        with pytest.raises(AskError, match="truncated"):
            await ctx.judge(MESSAGES, schema=SCHEMA)
        kept, lost = await ctx.judge_all([Question(MESSAGES), Question(MESSAGES)])
        assert isinstance(kept, JudgeReply)
        assert isinstance(lost, AskError)
        return f"{kept.text} {lost.error.code}"

    bench = Bench(judge=[failure("judge.truncated"), "Yes.", failure("provider.timeout")])
    assert bench.score(judged, RECORD).label == "Yes. provider.timeout"


def test_no_question_is_no_ask() -> None:
    async def asks_nothing(record: Record, ctx: Context) -> bool:
        return await ctx.judge_all([]) == []

    assert score(asks_nothing, RECORD).passed


def test_vectors_come_in_the_order_of_the_texts() -> None:
    async def nearest(record: Record, ctx: Context) -> str:
        first, second = await ctx.embed(["a", "bbb"])
        return f"{first} {second}"

    bench = Bench(embed=lambda text: [len(text), 0.5])
    assert bench.score(nearest, RECORD).label == "[1.0, 0.5] [3.0, 0.5]"
    assert bench.texts == ["a", "bbb"]


# -- the outcome of a record ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("evaluated", [graded, graded_plainly, Panel], ids=lambda one: one.__name__)
def test_an_answer_becomes_a_score(evaluated: Any) -> None:
    assert Bench(judge=lambda question: {"score": 4}).score(evaluated, RECORD).value == 4


@pytest.mark.parametrize("evaluated", [graded, graded_plainly, Panel], ids=lambda one: one.__name__)
@pytest.mark.parametrize(
    "code", ["judge.unparsable", "judge.refused", "judge.truncated", "judge.budget", "provider.timeout"]
)
def test_a_question_without_an_answer_ends_as_the_kernel_s_own_error(evaluated: Any, code: str) -> None:
    assert code_of(Bench(judge=lambda question: failure(code)).score(evaluated, RECORD)) == code


@pytest.mark.parametrize("evaluated", [graded, graded_plainly, Panel], ids=lambda one: one.__name__)
def test_without_a_judge_the_outcome_is_an_error_that_says_so(evaluated: Any) -> None:
    assert code_of(score(evaluated, RECORD)) == "capability.not_bound"


@pytest.mark.parametrize("evaluated", [graded, graded_plainly, Panel], ids=lambda one: one.__name__)
def test_without_a_judge_a_session_ends_the_record_as_an_error_too(evaluated: Any) -> None:
    name = evaluated.__evalsi__.name
    [outcome] = Bench().run_pack([evaluated], name, [RECORD]).outcomes
    assert code_of(outcome) == "capability.not_bound"


def test_one_failed_question_of_several_fails_the_record() -> None:
    answers = [{"score": 5}, failure("judge.refused"), {"score": 5}]
    assert code_of(Bench(judge=answers).score(Panel, RECORD, size=3)) == "judge.refused"


def test_a_record_with_a_failed_question_costs_no_other_record() -> None:
    records = [RECORD, Record(output="fails"), RECORD]

    def judge(question: Question) -> Any:
        return failure("judge.empty") if question.messages[0]["content"] == "fails" else {"score": 2}

    for evaluated in (graded, graded_plainly, Panel):
        outcomes = Bench(judge=judge).score_all(evaluated, records)
        assert [outcome.kind for outcome in outcomes] == ["scored", "error", "scored"]


# -- plan and reduce --------------------------------------------------------------------------------------------------


def test_the_questions_of_a_plan_are_asked_and_reduced_in_their_order() -> None:
    bench = Bench(judge=[{"score": 1}, {"score": 2}, {"score": 6}])
    outcome = bench.score(Panel, RECORD, size=3)
    assert (outcome.value, outcome.score.explanation) == (3.0, "Bonn. 3")
    assert [question.sample for question in bench.questions] == [0, 1, 2]


def test_the_questions_of_a_plan_are_one_ask() -> None:
    asked = []

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        asked.append(body)
        return {"replies": [{"value": {"score": 1}, "text": ""} for _ in body["requests"]]}

    [outcome] = Bench().run_pack([Panel], "panel", [RECORD], {"size": 3}, answers={"judge.ask": answer}).outcomes
    assert outcome.value == 1.0
    [body] = asked
    assert (body["session"], body["record"], len(body["requests"])) == (1, "r1", 3)


def test_a_plan_may_skip_and_then_nothing_is_asked() -> None:
    bench = Bench(judge=[])
    assert bench.score(Panel, Record(output="skip")).reason == "nothing to ask"
    assert bench.score(Panel, Record(input="?")).reason == "record has no output"
    assert bench.questions == []


def test_a_plan_without_a_question_is_reduced_without_a_reply() -> None:
    @evaluator(name="decides")
    class Decides:
        """Needs no judge for this record."""

        def plan(self, record: Record) -> list[Question]:
            return []

        def reduce(self, record: Record, replies: list[JudgeReply]) -> bool:
            return not replies

    assert score(Decides, RECORD).passed


def test_a_class_with_a_plan_and_without_its_other_half_is_refused() -> None:
    class Half:
        """Plans only."""

        def plan(self, record: Record) -> list[Question]:
            return []

    with pytest.raises(TypeError, match="needs the method score"):
        evaluator(name="half")(Half)
