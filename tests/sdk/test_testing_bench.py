"""Test `Bench`: a scripted judge, in process and through a session."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi import Context, JudgeReply, Question, Record, Score, evaluator
from evalsi.testing import Bench, ImpossibleReply, PackRun, failure, run_pack

RECORD = Record(id="r1", output="Bonn.")
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["reason", "score"],
    "additionalProperties": False,
}
FOUR = {"reason": "Near.", "score": 4}


@evaluator(name="graded", asks=["judge"])
async def graded(record: Record, ctx: Context, *, judge: str = "strict", embed: int = 1) -> Score:
    """Has params that are named like the bench's."""
    content = f"{judge} {embed}: {record.output.as_text()}"
    reply = await ctx.judge([{"role": "user", "content": content}], schema=SCHEMA)
    return Score(value=reply.value["score"], explanation=reply.text, cost_usd=reply.cost_usd)


@evaluator(name="waits", asks=["judge"])
def waits(record: Record, ctx: Context) -> Score:
    """Is not async."""
    reply = ctx.judge_and_wait([{"role": "user", "content": record.output.as_text()}], schema=SCHEMA)
    return Score(value=reply.value["score"])


@evaluator(name="forgiving", asks=["judge"])
async def forgiving(record: Record, ctx: Context) -> bool:
    """Makes a pass of whatever goes wrong."""
    try:
        await ctx.judge([{"role": "user", "content": record.output.as_text()}], schema=SCHEMA)
    except Exception:  # noqa: BLE001 -- what an evaluator should not do, and yet may.
        return True
    return False


async def plain(record: Record, ctx: Context) -> str:
    return (await ctx.judge([{"role": "user", "content": "?"}])).text


async def embeds(record: Record, ctx: Context) -> float:
    [vector] = await ctx.embed([record.output.as_text()])
    return sum(vector)


def test_params_may_be_named_like_the_parts_of_a_bench() -> None:
    bench = Bench(judge=[FOUR])
    assert bench.score(graded, RECORD, judge="mild", embed=2).value == 4
    assert bench.questions[0].messages == [{"role": "user", "content": "mild 2: Bonn."}]


def test_a_judge_may_be_a_function_of_the_question() -> None:
    def judge(question: Question) -> dict[str, Any]:
        return {"reason": "", "score": 5 if "Berlin" in question.messages[0]["content"] else 1}

    outcomes = Bench(judge=judge).score_all(graded, [RECORD, Record(output="Berlin.")])
    assert [outcome.value for outcome in outcomes] == [1, 5]


def test_a_value_gets_the_text_that_would_be_read_as_it_and_a_whole_reply_stays() -> None:
    reply = JudgeReply(FOUR, "as it came", "f0", "m", True, 0.25)
    bare, whole = Bench(judge=[FOUR, reply]).score_all(graded, [RECORD, RECORD])
    assert bare.score.explanation == '{"reason": "Near.", "score": 4}'
    assert (whole.score.explanation, whole.score.cost_usd) == ("as it came", 0.25)


def test_a_question_without_a_schema_is_answered_with_a_text() -> None:
    assert Bench(judge=["Yes."]).score(plain, RECORD).label == "Yes."
    assert Bench(judge=[JudgeReply(None, "Yes.")]).score(plain, RECORD).label == "Yes."


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"reason": "", "score": 6}, "the answer.score is 6, which violates maximum 5"),
        ({"reason": "", "score": "4"}, "the answer.score is '4', not of type integer"),
        ({"reason": "", "score": True}, "the answer.score is True, not of type integer"),
        ({"score": 4}, "the answer lacks 'reason'"),
        ({**FOUR, "extra": 1}, "the answer has the unknown key 'extra'"),
        ("4", "the answer is '4', not of type object"),
        (None, "the answer is None, not of type object"),
        (JudgeReply({"score": 4}, ""), "the answer lacks 'reason'"),
    ],
    ids=str,
)
@pytest.mark.parametrize("evaluated", [graded, waits, forgiving], ids=lambda one: one.__name__)
def test_an_answer_that_no_judge_could_give_fails_the_test(evaluated: Any, answer: Any, why: str) -> None:
    with pytest.raises(ImpossibleReply, match=why):
        Bench(judge=[answer]).score(evaluated, RECORD)
    with pytest.raises(ImpossibleReply, match=why):
        run_pack([evaluated], evaluated.__evalsi__.name, [RECORD], judge=[answer])


@pytest.mark.parametrize("answer", [{"score": 4}, None, JudgeReply({"score": 4}, "4")], ids=str)
def test_a_value_for_a_question_without_a_schema_fails_the_test(answer: Any) -> None:
    with pytest.raises(ImpossibleReply, match="Answer with a text"):
        Bench(judge=[answer]).score(plain, RECORD)


@pytest.mark.parametrize("evaluated", [graded, waits, forgiving], ids=lambda one: one.__name__)
def test_a_judge_that_fails_in_the_test_fails_the_test(evaluated: Any) -> None:
    def judge(question: Question) -> Any:
        raise LookupError("no such answer")

    with pytest.raises(LookupError, match="no such answer"):
        Bench(judge=judge).score(evaluated, RECORD)
    with pytest.raises(LookupError, match="no such answer"):
        run_pack([evaluated], evaluated.__evalsi__.name, [RECORD], judge=judge)


def test_a_question_after_the_last_answer_fails_the_test() -> None:
    with pytest.raises(ImpossibleReply, match=r"All 1 answers are used up, and there is another question: Question\("):
        Bench(judge=[FOUR]).score_all(graded, [RECORD, RECORD])


def test_a_fault_is_told_once() -> None:
    bench = Bench(judge=[{}, FOUR])
    with pytest.raises(ImpossibleReply):
        bench.score(graded, RECORD)
    assert bench.score(graded, RECORD).value == 4


@pytest.mark.parametrize("answer", [FOUR, "Yes."], ids=str)
def test_one_answer_that_is_no_list_is_refused(answer: Any) -> None:
    with pytest.raises(TypeError, match="Pass a list of answers"):
        Bench(judge=answer)


@pytest.mark.parametrize("raised", [True, False], ids=["raised", "returned"])
def test_a_failure_of_the_judge_is_the_error_of_the_record(raised: bool) -> None:
    def judge(question: Question) -> Any:
        refused = failure("judge.refused", "Not this one.")
        if raised:
            raise refused
        return refused

    outcome = Bench(judge=judge).score(graded, RECORD)
    assert outcome == run_pack([graded], "graded", [RECORD], judge=judge).outcomes[0]
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message) == ("judge.refused", "Not this one.")
    assert (outcome.error.source, outcome.error.retry) == ("judge", "no")


def test_a_failure_has_a_code_of_the_registry() -> None:
    assert str(failure("provider.timeout")) == "The provider did not answer in time."
    with pytest.raises(ValueError, match=r"no error code 'judge.tired'"):
        failure("judge.tired")


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "array"}, "must have an object at the top level"),
        ({**SCHEMA, "properties": {"a": {"type": "string", "pattern": "x"}}}, "has 'pattern'"),
        ({**SCHEMA, "properties": {"a": {"anyOf": [{"oneOf": []}]}}}, "has 'oneOf'"),
    ],
    ids=["top", "keyword", "nested"],
)
def test_a_schema_that_the_kernel_would_not_take_is_answered_as_the_kernel_does(
    schema: dict[str, Any], why: str
) -> None:
    async def asks(record: Record, ctx: Context) -> bool:
        return bool((await ctx.judge([{"role": "user", "content": "?"}], schema=schema)).value)

    outcome = Bench(judge=lambda question: {"a": "x"}).score(asks, RECORD)
    assert outcome.error is not None
    assert outcome.error.code == "judge.schema"
    assert why in outcome.error.message


@pytest.mark.parametrize(
    "message", [{"role": "tool", "content": "x"}, {"role": "user"}, {"role": "user", "content": [{}]}], ids=str
)
def test_a_message_that_no_judge_takes_fails_the_test(message: Any) -> None:
    async def asks(record: Record, ctx: Context) -> str:
        return (await ctx.judge([message])).text

    with pytest.raises(TypeError, match=r"Write \{'role': system or user or assistant, 'content': text\}"):
        Bench(judge=["Yes."]).score(asks, RECORD)


def test_a_session_is_judged_too_and_its_questions_are_remembered() -> None:
    bench = Bench(judge=lambda question: FOUR)
    run = bench.run_pack([graded], "graded", [RECORD] * 3, {"judge": "mild"})
    assert run == PackRun(bench.score_all(graded, [RECORD] * 3, judge="mild"))
    assert [question.messages[0]["content"] for question in bench.questions] == ["mild 1: Bonn."] * 6
    assert run_pack([waits], "waits", [RECORD] * 3, judge=[FOUR] * 3).outcomes[2].value == 4


def test_vectors_are_given_by_the_test_in_process_and_through_a_session() -> None:
    bench = Bench(embed=lambda text: [float(len(text)), 1])
    assert bench.score(embeds, RECORD).value == 6.0
    assert bench.run_pack([embeds], "embeds", [RECORD]).outcomes[0].value == 6.0
    assert bench.texts == ["Bonn.", "Bonn."]


def test_an_embedding_model_that_fails_is_the_error_of_the_record() -> None:
    def embed(text: str) -> list[float]:
        raise failure("provider.quota")

    for outcome in (
        Bench(embed=embed).score(embeds, RECORD),
        *run_pack([embeds], "embeds", [RECORD], embed=embed).outcomes,
    ):
        assert outcome.error is not None
        assert outcome.error.code == "provider.quota"


def test_vectors_of_several_lengths_fail_the_test() -> None:
    async def both(record: Record, ctx: Context) -> bool:
        return bool(await ctx.embed(["a", "bb"]))

    with pytest.raises(ImpossibleReply, match="differ in length"):
        Bench(embed=lambda text: [1.0] * len(text)).score(both, RECORD)


def test_what_is_not_bound_names_the_argument_that_binds_it() -> None:
    judged, embedded = Bench().score(graded, RECORD).error, Bench().score(embeds, RECORD).error
    assert judged is not None
    assert embedded is not None
    assert (judged.code, judged.hint) == ("capability.not_bound", "Use Bench(judge=…).")
    assert (embedded.code, embedded.hint) == ("capability.not_bound", "Use Bench(embed=…).")


def test_an_evaluator_of_dataset_scope_may_ask_while_it_observes() -> None:
    @evaluator(name="mean-grade", scope="dataset", asks=["judge"])
    class MeanGrade:
        """The mean of the grades."""

        async def observe(self, record: Record, ctx: Context) -> list[float]:
            reply = await ctx.judge([{"role": "user", "content": record.output.as_text()}], schema=SCHEMA)
            return [reply.value["score"], 1]

        def combine(self, totals: list[float]) -> float:
            return totals[0] / totals[1]

    answers = [FOUR, {"reason": "", "score": 1}]
    assert Bench(judge=answers).aggregate(MeanGrade, [RECORD, RECORD]).value == 2.5
    assert repr(Bench(judge=[failure("judge.empty")]).aggregate(MeanGrade, [RECORD])).startswith("<error judge.empty")
