"""`task` and `corpus-task` score recorded outputs as the task itself does, by its YAML and the docs in the records."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalsi import ParamError, Record
from evalsi.testing import Outcome, aggregate, run_pack, score
from evalsi_lm_eval.corpus_task import CorpusTask
from evalsi_lm_eval.task_config import task_config
from evalsi_lm_eval.task_scores import Task

GENERATES = """
task: local
output_type: generate_until
doc_to_text: q
doc_to_target: many
repeats: 2
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true, ignore_case: true}
filter_list:
  - {name: number, filter: [{function: regex, regex_pattern: '(\\d+)'}, {function: take_first}]}
  - {name: plain, filter: [{function: remove_whitespace}, {function: take_first}]}
"""
CHOOSES = """
task: local
output_type: multiple_choice
doc_to_text: q
doc_to_choice: choices
doc_to_target: gold
metric_list:
  - {metric: acc}
  - {metric: acc_norm}
  - {metric: acc_mutual_info}
  - {metric: mcc}
  - {metric: brier_score}
"""
CONTINUES = """
task: local
output_type: loglikelihood
doc_to_text: q
doc_to_target: " {{a}}"
metric_list: [{metric: perplexity}, {metric: acc}]
"""
ROLLS = """
task: local
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: "{{q}} {{a}}"
metric_list: [{metric: word_perplexity}, {metric: bits_per_byte}]
"""
OF_TEXTS = """
task: local
output_type: generate_until
doc_to_text: q
doc_to_target: a
metric_list: [{metric: bleu}, {metric: ter}, {metric: exact_match}]
"""
OWN_CODE = """
task: local
output_type: generate_until
doc_to_text: q
doc_to_target: a
process_results: !function own.process_results
metric_list:
  - {metric: length, aggregation: !function own.longest, higher_is_better: false}
  - {metric: same, aggregation: nanmean, higher_is_better: true}
"""
OWN = """
import math

def process_results(doc, results):
    doc["seen"] = True
    return {"length": len(results[0]), "same": math.nan if len(doc["q"]) > 6 else float(results[0] == doc["a"])}

def longest(items):
    return max(items)
"""
CHOICE = {"q": "?", "choices": ["a", "b"], "gold": 0}
Written = Callable[[str], str]
ALL = {
    "generates": GENERATES,
    "chooses": CHOOSES,
    "continues": CONTINUES,
    "rolls": ROLLS,
    "texts": OF_TEXTS,
    "code": OWN_CODE,
}


@pytest.fixture
def written(task_file: Written, tmp_path: Path) -> Written:
    (tmp_path / "own.py").write_text(OWN, "utf-8")
    return task_file


def by_name(outcome: Outcome) -> dict[str, float]:
    return {str(one.name): float(bool(one.passed)) if one.value is None else one.value for one in outcome.scores}


@pytest.mark.parametrize("kind", ALL)
def test_the_figures_of_all_records_are_those_that_the_harness_reports(
    kind: str, alone: Callable[..., Any], written: Written
) -> None:
    path = written(ALL[kind])
    told = alone(**task_config(path))
    assert told.figures
    whole = run_pack("evalsi_lm_eval", "corpus-task", told.records(), {"task": path}).whole
    assert whole is not None
    assert by_name(whole) == pytest.approx(told.figures, rel=1e-12)


@pytest.mark.parametrize("kind", ["generates", "chooses", "continues", "texts", "code"])
def test_each_record_has_the_scores_whose_mean_the_harness_reports(
    kind: str, alone: Callable[..., Any], written: Written
) -> None:
    path = written(ALL[kind])
    told = alone(**task_config(path))
    outcomes = run_pack("evalsi_lm_eval", "task", told.records(), {"task": path}).outcomes
    columns: dict[str, list[float]] = {}
    for outcome in outcomes:
        for name, value in by_name(outcome).items():
            columns.setdefault(name, []).append(value)
    means = {name: sum(values) / len(values) for name, values in columns.items()}
    assert means == pytest.approx({name: told.figures[name] for name in means}, rel=1e-12)
    no_means = {"mcc", "brier_score", "perplexity", "bleu", "ter", "length"}
    assert means.keys() == told.figures.keys() - no_means


def test_what_the_harness_calls_nan_is_no_score_and_the_record_is_left_as_it_was(written: Written) -> None:
    path = written(OWN_CODE)
    record = Record(output="x", metadata={"doc": {"q": "far too long", "a": "x"}})
    outcome = score(Task, record, task=path)
    assert outcome.kind == "skipped"
    assert "see corpus-task" in str(outcome.reason)
    assert record.metadata["doc"] == {"q": "far too long", "a": "x"}


def test_the_order_of_records_makes_no_difference(written: Written) -> None:
    path = written(GENERATES.replace("repeats: 2", "repeats: 1"))
    many = Record(output="9", metadata={"doc": {"q": "?", "many": ["nine", "9"]}})
    one = Record(output="9", metadata={"doc": {"q": "?", "many": "9"}})
    for records in ([many, one], [one, many]):
        outcomes = run_pack("evalsi_lm_eval", "task", records, {"task": path}).outcomes
        assert [by_name(outcome)["exact_match-plain"] for outcome in outcomes] == [1.0, 1.0]


def test_a_task_of_the_harness_is_known_by_its_name() -> None:
    record = Record(
        output="It is 18 - 4 = 14, so #### 14", metadata={"doc": {"question": "How many?", "answer": "18-4 #### 14"}}
    )
    found = by_name(score(Task, record, task="gsm8k"))
    assert found == {"exact_match-strict-match": 1.0, "exact_match-flexible-extract": 1.0}


def test_docs_may_lie_in_a_file(written: Written, tmp_path: Path) -> None:
    docs = tmp_path / "docs.jsonl"
    docs.write_text("".join(json.dumps({"q": "?", "many": [f"{n}"]}) + "\n" for n in range(3)), "utf-8")
    params = {"task": written(GENERATES), "docs": str(docs)}
    for doc_id, expected in ((2, 1.0), (1, 0.0)):
        found = by_name(score(Task, Record(output="2", metadata={"doc_id": doc_id}), **params))
        assert found["exact_match-plain"] == expected
    assert "there are 3 docs" in str(score(Task, Record(output="2", metadata={"doc_id": 3}), **params).reason)
    assert "integer metadata.doc_id" in str(score(Task, Record(output="2"), **params).reason)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (Record(output="a"), "record has no metadata.doc"),
        (Record(output="a", metadata={"doc": CHOICE}), "a chat model gives none"),
        (Record(metadata={"doc": CHOICE, "loglikelihoods": []}), "is not a list"),
        (Record(metadata={"doc": CHOICE, "loglikelihoods": [-1.0]}), "the doc has 2 choices"),
    ],
)
def test_a_record_without_what_the_task_takes_is_skipped(record: Record, reason: str, written: Written) -> None:
    for found in (
        score(Task, record, task=written(CHOOSES)),
        run_pack("evalsi_lm_eval", "corpus-task", [record], {"task": written(CHOOSES)}).outcomes[0],
    ):
        assert found.kind == "skipped"
        assert reason in str(found.reason)


def test_a_doc_that_the_task_cannot_read_is_an_error_and_never_a_score(written: Written) -> None:
    record = Record(output="a", metadata={"doc": {"other": "?"}})
    for name in ("task", "corpus-task"):
        (outcome,) = run_pack("evalsi_lm_eval", name, [record], {"task": written(OWN_CODE)}).outcomes
        assert outcome.kind == "error"


def test_records_of_other_processes_are_summed_up_without_a_doc(written: Written) -> None:
    made = CorpusTask(task=written(CHOOSES))
    (score_of_all,) = made.aggregate([[["mcc", "none", [1, 1]]], [["mcc", "none", [0, 0]]]])
    assert (score_of_all.name, score_of_all.value) == ("mcc", 1.0)


def test_a_metric_that_is_about_none_of_the_records_is_left_out(written: Written) -> None:
    record = Record(output="xyz", metadata={"doc": {"q": "far too long", "a": "x"}})
    assert by_name(aggregate(CorpusTask, [record, record], task=written(OWN_CODE))) == {"length": 3.0}


@pytest.mark.parametrize("kind", ["chooses", "continues", "texts", "code"])
def test_a_resample_is_scored_as_the_harness_would_score_its_records(
    kind: str, alone: Callable[..., Any], written: Written
) -> None:
    made = CorpusTask(task=written(ALL[kind]))
    states = [made.observe(record) for record in alone(**task_config(written(ALL[kind]))).records()]
    (resample,) = made.resample([states[0]] * 4, 1, seed=1)
    whole = {score.name: score.value for score in made.aggregate([states[0]] * 4)}
    assert {score.name: score.value for score in resample} == pytest.approx(whole, rel=1e-12)
    many = list(made.resample(states, 40, seed=1))
    assert len({tuple(score.value for score in scores) for scores in many}) > 3


@pytest.mark.parametrize(
    ("task", "why"),
    [
        ("no_such_task_at_all", "the harness has no task"),
        ("mmlu", "is a group"),
        ("humaneval", "runs what the model wrote as code"),
        ("squadv2", "is a class of Python"),
        ("mmmu_val_accounting", "images or sound"),
        ("local.yaml", "no absolute path"),
        ("/nowhere/local.yaml", "there is no file"),
        ("a b", "no name of a task"),
    ],
)
def test_a_task_that_cannot_score_recorded_outputs_is_refused_when_it_is_opened(task: str, why: str) -> None:
    with pytest.raises(ParamError, match=why):
        task_config(task)


def test_metrics_and_prompts_from_a_hub_are_refused(written: Written) -> None:
    for text, why in (
        (OF_TEXTS.replace("metric: bleu", "metric: rouge, hf_evaluate: true"), "takes its metric rouge from a hub"),
        (OF_TEXTS.replace("metric: bleu", "metric: bertscore"), "takes its metric bertscore from a hub"),
        (OF_TEXTS + "use_prompt: promptsource:*\n", "takes its prompts"),
        ("task: [1", "cannot be read"),
    ):
        with pytest.raises(ParamError, match=why):
            aggregate(CorpusTask, [], task=written(text))
