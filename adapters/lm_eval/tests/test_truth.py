"""Every metric gives what the harness gives by itself for the same docs and the same answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import evalsi_lm_eval
from evalsi.testing import Outcome, run_pack
from evalsi_lm_eval.metrics import METRICS

CHOICE = ("acc", "acc_norm", "acc_bytes", "acc_mutual_info", "brier_score")
OF_ALL = ("f1", "mcc")
TEXTS = ("bleu", "chrf", "chrf++", "ter")
NAMES = {row.metric: row.evaluator for row in METRICS}
NUMBER = {"function": "regex", "regex_pattern": r"(\d+)", "fallback": "none"}


def figure(name: str, records: Any, **params: Any) -> float:
    """Through the host loop of the pack: the mean of its records, or its score of them all."""
    run = run_pack("evalsi_lm_eval", name, records, params)
    if run.whole is not None:
        return number(run.whole)
    return sum(map(number, run.outcomes)) / len(run.outcomes)


def number(outcome: Outcome) -> float:
    (score,) = outcome.scores
    found = score.passed if score.value is None else score.value
    assert found is not None
    return float(found)


@pytest.mark.parametrize("metric", CHOICE)
def test_metrics_of_a_choice(metric: str, alone: Callable[..., Any]) -> None:
    told = alone(
        output_type="multiple_choice", doc_to_choice="choices", doc_to_target="gold", metric_list=[{"metric": metric}]
    )
    assert figure(NAMES[metric], told.records(choices="choices")) == pytest.approx(told.figures[metric], abs=1e-12)


@pytest.mark.parametrize("metric", OF_ALL)
def test_metrics_of_all_choices_together(metric: str, alone: Callable[..., Any]) -> None:
    docs = [{"q": f"q{n}", "two": ["no", "yes"], "gold": n % 3 % 2} for n in range(20)]
    told = alone(
        docs, output_type="multiple_choice", doc_to_choice="two", doc_to_target="gold", metric_list=[{"metric": metric}]
    )
    assert 0 < told.figures[metric] < 1 or -1 < told.figures[metric] < 0
    assert figure(NAMES[metric], told.records(choices="two")) == pytest.approx(told.figures[metric], abs=1e-12)


@pytest.mark.parametrize("metric", TEXTS)
@pytest.mark.parametrize("filters", [[], [{"function": "remove_whitespace"}, {"function": "lowercase"}]])
def test_metrics_of_texts(metric: str, filters: list[dict[str, Any]], alone: Callable[..., Any]) -> None:
    steps = [*filters, {"function": "take_first"}]
    told = alone(doc_to_target="a", metric_list=[{"metric": metric}], filter_list=[{"name": "none", "filter": steps}])
    assert told.figures[metric] > 0
    found = figure(NAMES[metric], told.records(reference="a"), filters=filters)
    assert found == pytest.approx(told.figures[metric], abs=1e-9)


@pytest.mark.parametrize("metric", TEXTS)
def test_several_references_count_as_in_sacrebleu_however_many_each_record_has(
    metric: str, alone: Callable[..., Any]
) -> None:
    import sacrebleu

    records = alone(doc_to_target="a", metric_list=[{"metric": "bleu"}]).records(reference="many")
    outputs = [record.output_text for record in records]
    streams = [
        [texts[place] if place < len(texts) else None for texts in (r.reference_texts for r in records)]
        for place in (0, 1)
    ]
    settings = {"word_order": 2} if metric == "chrf++" else {}
    told = getattr(sacrebleu, f"corpus_{metric.strip('+')}")(outputs, streams, **settings).score
    assert figure(NAMES[metric], records) == pytest.approx(told, abs=1e-9)


@pytest.mark.parametrize("metric", TEXTS)
def test_resamples_of_texts_are_scored_as_the_harness_would_score_them(metric: str, alone: Callable[..., Any]) -> None:
    records = alone(doc_to_target="a", metric_list=[{"metric": "bleu"}]).records(reference="a")
    made = next(one for one in evalsi_lm_eval.EVALUATORS if one.__evalsi__.name == NAMES[metric])()
    states = [made.observe(record) for record in records]
    once = [sum(counts) for counts in zip(*[states[0]] * len(states), strict=True)]
    resampled = {round(score.value, 9) for score in made.resample([states[0]] * len(states), 3, seed=1)}
    assert resampled == {round(made.combine(once).value, 9)}
    assert len({score.value for score in made.resample(states, 50, seed=1)}) > 10


IGNORED: list[dict[str, Any]] = [
    {},
    {"ignore_case": True},
    {"ignore_punctuation": True, "ignore_case": True},
    {"ignore_numbers": True},
    {"regexes_to_ignore": ["(?i)the answer is ", r"\.$"]},
]


@pytest.mark.parametrize("ignored", IGNORED, ids=range(len(IGNORED)))
@pytest.mark.parametrize("target", ["a", "many"])
def test_exact_match_with_what_it_ignores(ignored: dict[str, Any], target: str, alone: Callable[..., Any]) -> None:
    told = alone(doc_to_target=target, metric_list=[{"metric": "exact_match", **ignored}])
    found = figure("exact-match", told.records(reference=target), **ignored)
    assert found == pytest.approx(told.figures["exact_match"], abs=1e-12)


FILTERS: list[list[dict[str, Any]]] = [
    [NUMBER],
    [{"function": "regex", "regex_pattern": r"(is) (so|not)", "group_select": -1}],
    [{"function": "remove_whitespace"}],
    [{"function": "lowercase"}],
    [{"function": "uppercase"}, {"function": "lowercase"}],
    [NUMBER, {"function": "map", "mapping_dict": {"4": "four", "9": "nine"}, "default_value": "none"}],
    [{"function": "format_span"}],
    [{"function": "take_first_k", "k": 2}, {"function": "majority_vote"}],
    [NUMBER, {"function": "majority_vote"}],
    [{"function": "multi_choice_regex", "regex_pattern": r"(\([A-Z]\))", "ignore_case": True}],
]


@pytest.mark.parametrize("filters", FILTERS, ids=range(len(FILTERS)))
def test_every_filter(filters: list[dict[str, Any]], alone: Callable[..., Any]) -> None:
    steps = [*filters, {"function": "take_first"}]
    told = alone(
        doc_to_target="many",
        repeats=3,
        metric_list=[{"metric": "exact_match"}],
        filter_list=[{"name": "none", "filter": steps}],
    )
    records = told.records(reference="many", choices="choices")
    run = run_pack("evalsi_lm_eval", "exact-match", records, {"filters": filters})
    assert [number(one) for one in run.outcomes] == [sample["exact_match"] for sample in told.samples]


def test_perplexity_and_accuracy_of_a_continuation(alone: Callable[..., Any]) -> None:
    told = alone(
        output_type="loglikelihood", doc_to_target="a", metric_list=[{"metric": "perplexity"}, {"metric": "acc"}]
    )
    assert figure("perplexity", told.records()) == pytest.approx(told.figures["perplexity"], rel=1e-12)
    assert figure("acc", told.records()) == pytest.approx(told.figures["acc"], abs=1e-12)
    assert 0 < told.figures["acc"] < 1


@pytest.mark.parametrize("metric", ["word_perplexity", "byte_perplexity", "bits_per_byte"])
def test_perplexities_of_documents(metric: str, alone: Callable[..., Any]) -> None:
    told = alone(output_type="loglikelihood_rolling", doc_to_target="a", metric_list=[{"metric": metric}])
    assert figure(NAMES[metric], told.records(reference="a")) == pytest.approx(told.figures[metric], rel=1e-12)


def test_every_evaluator_of_a_metric_is_compared_here() -> None:
    compared = {
        *CHOICE,
        *OF_ALL,
        *TEXTS,
        "exact_match",
        "perplexity",
        "word_perplexity",
        "byte_perplexity",
        "bits_per_byte",
    }
    assert compared == {row.metric for row in METRICS if row.of}
