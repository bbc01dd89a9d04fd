"""The adapter of lm-evaluation-harness end to end: its logs read, and scored again by its metrics and tasks.

That every metric and filter scores as the harness does is tested in the adapter's environment; here is what only the
kernel shows: figures of a log come out as the harness reported them when it was written.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi_kernel.errors import EvalsiError

pytestmark = pytest.mark.slow

LOGS = Path(__file__).parents[1] / "logs/lm_eval"
TASK = r"""
task: local_gen
output_type: generate_until
doc_to_text: "Q: {{question}}\nA:"
doc_to_target: "{{answer}}"
repeats: 2
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true, ignore_case: true, regexes_to_ignore: ["\\."]}
  - {metric: bleu, aggregation: bleu, higher_is_better: true}
filter_list:
  - {name: strict, filter: [{function: regex, regex_pattern: "is (.*)"}, {function: take_first}]}
  - {name: last, filter: [{function: remove_whitespace}, {function: take_first}]}
"""
# What the harness 0.4.13 reported when it wrote the logs.
GENERATED = {"exact_match-strict": 2 / 3, "bleu-strict": 0.0, "exact_match-last": 0.0, "bleu-last": 8.643019616048528}
CHOSEN = {
    "acc": 0.0,
    "acc-norm": 1 / 3,
    "acc-bytes": 1 / 3,
    "acc-mutual-info": 2 / 3,
    "brier-score": 1.374489541663025,
    "mcc": -0.5,
}
DOCUMENTS = {"word-perplexity": 4181.374208653389, "byte-perplexity": 4.432656865254182}


def scored(data: str, *evaluators: Any) -> Any:
    return evalsi.evaluate(f"lm-eval://{LOGS}/{data}", list(evaluators), quiet=True)


def test_a_task_scores_its_log_as_it_did_when_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "local_gen.yaml"
    path.write_text(TASK, "utf-8")
    params = {"task": str(path)}
    result = scored(
        "samples_local_gen.jsonl",
        {"ref": "lm-eval/task", "params": params},
        {"ref": "lm-eval/corpus-task", "name": "whole", "params": params},
    )
    assert result.status == "complete"
    means = {summary.metric: summary.mean for summary in result.summaries}
    for name, value in GENERATED.items():
        assert means[f"whole.{name}"] == pytest.approx(value, abs=1e-9)
        assert (name in means) is name.startswith("exact_match")
        assert means.get(name, value) == pytest.approx(value, abs=1e-9)
    records = {record["id"]: record for record in result.records}
    compared = 0
    for outcome in result.results:
        for score in outcome.get("scores", ()):
            if (outcome["evaluator"], score["name"]) == ("task", "exact_match-strict"):
                foreign = records[outcome["record_id"]]["metadata"]["lm_eval"]["scores"]["exact_match"]
                assert score["passed"] == bool(foreign)
                compared += 1
    assert compared == 3


def test_metrics_of_choices_and_documents_are_those_of_the_log() -> None:
    for data, told in (("samples_local_mc.jsonl", CHOSEN), ("samples_local_roll.jsonl", DOCUMENTS)):
        result = scored(data, *(f"lm-eval/{name}" for name in told))
        means = {summary.metric: summary.mean for summary in result.summaries}
        assert means == pytest.approx(told, rel=1e-9)


def test_what_a_chat_model_wrote_has_no_log_likelihood_and_is_skipped_with_the_reason() -> None:
    result = scored("samples_local_gen.jsonl", "lm-eval/acc", "lm-eval/perplexity")
    assert {outcome["outcome"] for outcome in result.results} == {"skipped"}
    assert result["acc"].n == 0
    assert {outcome["reason"] for outcome in result.results} == {"record has no metadata.loglikelihoods"}


def test_a_param_that_only_the_harness_can_judge_is_refused_before_a_record_is_scored() -> None:
    for ref, params, why in (
        ("lm-eval/exact-match", {"filters": [{"function": "regexp"}]}, "there is no filter 'regexp'"),
        ("lm-eval/task", {"task": "humaneval"}, "runs what the model wrote as code"),
    ):
        with pytest.raises(EvalsiError, match=why):
            scored("samples_local_gen.jsonl", {"ref": ref, "params": params})
