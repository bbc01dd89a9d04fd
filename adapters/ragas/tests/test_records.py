"""What is read of a record: what it lacks is a skip, what says nothing an error, and of several references the best."""

from __future__ import annotations

from typing import Any

import pytest
from adapters.ragas.tests.scripted import PARAMS, judge, record, vector

from evalsi import ParamError, Question, Record
from evalsi.testing import Bench, Outcome
from evalsi_ragas import EVALUATORS
from evalsi_ragas.row import NEEDS, Row
from evalsi_ragas.table import ROWS

BY_NAME: dict[str, Any] = {row.name: one for row, one in zip(ROWS, EVALUATORS, strict=True)}
WHOLE = record(1)


def scored(name: str, one: Record, **settings: Any) -> Outcome:
    return Bench(judge=judge, embed=vector).score(BY_NAME[name], one, **(settings or PARAMS.get(name, {})))


def without(field: str) -> Record:
    head, _, key = field.partition(".")
    wire = {name: value for name, value in WHOLE.wire.items() if name != head or key}
    if key:
        wire["metadata"] = {name: value for name, value in WHOLE.metadata.items() if name != key}
    return Record.from_wire(wire)


def changed(**fields: Any) -> Record:
    return Record.from_wire({**WHOLE.wire, **Record(**fields).wire})


def with_metadata(**keys: Any) -> Record:
    return changed(metadata={**WHOLE.metadata, **keys})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_record_that_lacks_a_field_is_skipped_and_nobody_is_asked(row: Row) -> None:
    for field in row.needs:
        bench = Bench(judge=judge, embed=vector)
        outcome = bench.score(BY_NAME[row.name], without(field), **PARAMS.get(row.name, {}))
        assert (outcome.kind, outcome.reason) == ("skipped", f"record has no {field}")
        assert (bench.questions, bench.texts) == ([], [])


LISTS = ("context", "metadata.reference_contexts", "metadata.reference_topics", "metadata.rubrics")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_an_empty_list_is_a_skip_but_where_it_is_an_answer(row: Row) -> None:
    for name in row.takes:
        field = NEEDS[name]
        if field in LISTS or field.endswith(("_ids", "_calls")):
            empty: Any = {} if name == "rubrics" else []
            one = changed(context=[]) if field == "context" else with_metadata(**{name: empty})
            outcome = scored(row.name, one)
            assert outcome.kind == ("scored" if name in row.may_be_empty else "skipped"), (name, outcome)


@pytest.mark.parametrize("row", [row for row in ROWS if "context" in row.needs], ids=lambda row: row.name)
def test_e10_a_record_for_which_nothing_was_retrieved_is_skipped(row: Row) -> None:
    bench = Bench(judge=judge, embed=vector)
    outcome = bench.score(BY_NAME[row.name], changed(context=[]), **PARAMS.get(row.name, {}))
    assert (outcome.kind, outcome.reason) == ("skipped", "no context")
    assert (bench.questions, bench.texts) == ([], [])


@pytest.mark.parametrize("row", [row for row in ROWS if row.asks], ids=lambda row: row.name)
def test_a_blank_text_that_a_model_is_to_judge_is_an_error(row: Row) -> None:
    blanks = {"user_input": "input", "response": "output", "reference": "reference"}
    for name in blanks.keys() & set(row.takes):
        outcome = scored(row.name, changed(**{blanks[name]: " \n"}))
        assert outcome.error is not None, (name, outcome)
        assert f"the {blanks[name]} holds no text" in outcome.error.message
    if {"retrieved_contexts", "summarized"} & set(row.takes):
        assert "the context holds no text" in str(scored(row.name, changed(context=["", " "])).error)


@pytest.mark.parametrize("direction", [[1.0, 2.0, 3.0], [0.1, 0.7, 1e-3], [1 / 3, 1 / 7, 1 / 11]])
@pytest.mark.parametrize("name", ["bleu-score", "chrf-score", "string-similarity", "semantic-similarity"])
def test_equal_texts_are_at_the_end_of_the_range_and_never_beyond_it_by_rounding(
    name: str, direction: list[float]
) -> None:
    for text in ("Dogs ride the ferry for free.", "The ferry leaves at seven. Dogs ride it for free. So do cats."):
        outcome = Bench(embed=lambda _: direction).score(BY_NAME[name], Record(output=text, reference=text))
        assert outcome.value == pytest.approx(1.0)
        assert outcome.value <= 1.0


def test_a_blank_output_is_an_output_where_letters_are_compared() -> None:
    assert scored("exact-match", changed(output="")).passed is False
    assert scored("string-similarity", changed(output="")).value == 0.0


def test_what_is_beside_and_blank_is_left_out_of_the_question() -> None:
    bench = Bench(judge=judge)
    bench.score(BY_NAME["aspect-critic"], changed(input=" "), definition="Is it kind?")
    text = bench.questions[0].messages[0]["content"]
    assert '"response"' in text
    assert '"user_input":' not in text


@pytest.mark.parametrize(
    ("references", "value"), [(["the sea", "dogs ride"], 1.0), (["dogs ride", "the sea"], 1.0), (["the sea"], 0.0)]
)
def test_of_several_references_the_best_counts(references: list[str], value: float) -> None:
    assert scored("exact-match", Record(output="dogs ride", reference=references)).passed is (value == 1.0)


def test_of_several_references_the_least_counts_where_less_is_better() -> None:
    one, other = "Each cat rides free.", "A cat pays a dollar."
    alone = [scored("noise-sensitivity", changed(reference=reference)).value for reference in (one, other)]
    assert scored("noise-sensitivity", changed(reference=[one, other])).value == min(alone)


def test_a_reference_that_lists_nothing_to_judge_is_passed_over_beside_one_that_does() -> None:
    def judged(question: Question) -> Any:
        is_bare = "Quite so" in question.messages[0]["content"]
        return {"entities": []} if is_bare else judge(question)

    def entities(reference: Any) -> Outcome:
        return Bench(judge=judged).score(BY_NAME["context-entity-recall"], changed(reference=reference))

    assert entities(["Quite so.", "Each cat rides free."]).value == entities("Each cat rides free.").value
    assert entities(["Quite so."]).kind == "skipped"


def test_an_answer_without_quotations_is_no_perfect_one() -> None:
    outcome = scored("quoted-spans-alignment", changed(output="It is free."))
    assert outcome.reason == "no quotations: the output has none that is long enough"


def test_no_calls_expected_and_none_made() -> None:
    one = Record(output="It is free.", metadata={"reference_tool_calls": []})
    assert scored("tool-call-accuracy", one).value == 1.0
    assert scored("tool-call-f1", one).kind == "skipped"


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("non-llm-context-recall", "reference_contexts", [1, 2]),
        ("topic-adherence", "reference_topics", {"a": 1}),
        ("id-based-context-recall", "retrieved_context_ids", "a"),
        ("id-based-context-recall", "reference_context_ids", [True]),
        ("instance-specific-rubrics", "rubrics", {"score1_description": 1}),
        ("tool-call-f1", "reference_tool_calls", "look"),
    ],
)
def test_a_field_of_another_shape_is_an_error_that_says_how_to_write_it(name: str, key: str, value: Any) -> None:
    outcome = scored(name, with_metadata(**{key: value}))
    assert f"metadata.{key} is" in str(outcome.error)
    assert "write it as" in str(outcome.error)


def test_one_text_is_a_list_of_one() -> None:
    assert scored("topic-adherence", with_metadata(reference_topics="ferries")).kind == "scored"


# -- params ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("discrete-metric", {"prompt": "{answer}?"}, "there are response"),
        ("discrete-metric", {"prompt": "{"}, "braces"),
        ("numeric-metric", {"prompt": "{response}?", "minimum": 1, "maximum": 1}, "not less than the maximum"),
    ],
)
def test_params_that_cannot_be_used_are_refused(name: str, params: dict[str, Any], said: str) -> None:
    with pytest.raises(ParamError, match=said):
        scored(name, WHOLE, **params)


def test_an_unknown_param_is_refused() -> None:
    with pytest.raises(TypeError, match="faithfulness has no param 'strictness'; it has none"):
        scored("faithfulness", WHOLE, strictness=3)


def test_a_prompt_with_a_place_for_what_the_record_lacks_skips_it() -> None:
    outcome = scored("discrete-metric", without("reference"), prompt="Is {response} like {reference}?")
    assert outcome.reason == "record has no reference, for which the prompt has a place"
    outcome = scored("discrete-metric", without("input"), prompt="Does {response} answer {user_input}?")
    assert outcome.reason == "record has no user_input, for which the prompt has a place"


def test_an_aspect_of_ragas_own_is_asked_in_its_words() -> None:
    bench = Bench(judge=judge)
    bench.score(BY_NAME["aspect-critic"], WHOLE, definition="conciseness")
    assert "convey information or ideas clearly and efficiently" in bench.questions[0].messages[0]["content"]


def test_no_vectors_are_asked_for_where_they_weigh_nothing() -> None:
    bench = Bench(judge=judge)
    assert bench.score(BY_NAME["answer-correctness"], WHOLE, factuality_weight=1.0).kind == "scored"


def test_a_threshold_makes_a_cosine_1_or_0() -> None:
    assert scored("semantic-similarity", WHOLE, threshold=0.1).value == 1.0
    assert scored("semantic-similarity", WHOLE, threshold=0.9999).value == 0.0


IMAGE = {"type": "image_url", "image_url": {"url": "https://host.example/1.png"}}


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("faithfulness", "input"),
        ("faithfulness", "context"),
        ("answer-relevancy", "output"),
        ("answer-accuracy", "reference"),
    ],
)
def test_e2_a_record_with_an_image_is_skipped(name: str, field: str) -> None:
    role = "user" if field == "input" else "assistant"
    shown: Any = [{"role": role, "content": [{"type": "text", "text": "This:"}, IMAGE]}]
    outcome = scored(name, changed(**{field: [shown] if field == "context" else shown}))
    assert outcome.reason == f"the {field} holds an image, which judges are not shown"


def test_e1_the_last_assistant_message_is_scored() -> None:
    said = [{"role": "assistant", "content": "Let me look."}, {"role": "assistant", "content": "noon"}]
    assert scored("exact-match", Record(output=said, reference="noon")).passed
