"""Makes results files as `evalsi eval` and `evalsi run` write them (decision 0009), of any size, with known scores.

Record i fails `exact-match` where i is a multiple of 5, and is an error of the judge where it is one of 13.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

TEXT = (
    "the ferry leaves at seven from north pier and comes back by nine unless fog holds it in port while dogs ride free "
    "children pay half bicycles cost one euro crew checks tickets before boarding each guest keeps receipt until end"
)
WORDS = TEXT.split()
TOPICS = ("timetable", "prices", "luggage", "weather")
TRIAL_FLIPS = 7
JUDGE_ERROR = {
    "code": "judge.invalid",
    "message": "The judge's reply is not a valid verdict: it has no score.",
    "hint": "Look at the raw reply.",
    "source": "judge",
    "retry": "no",
}


def sentence(seed: int, words: int) -> str:
    """A text that is always the same for a seed."""
    return " ".join(WORDS[(seed * 31 + place * place * 7 + place) % len(WORDS)] for place in range(words)).capitalize()


def passes(record: int, trial: int) -> bool:
    """Whether a record passes in a trial; every seventh flips in the second."""
    return (record % 5 != 0) != (trial == 2 and record % TRIAL_FLIPS == 0)


def record_of(number: int, trial: int, *, is_run: bool) -> dict[str, Any]:
    """A record of the file."""
    record: dict[str, Any] = {
        "id": f"ferry-{number:04d}",
        "input": f"{sentence(number, 18)}?",
        "output": f"{sentence(number + trial, 60)}.",
        "reference": sentence(number, 9),
        "metadata": {"topic": TOPICS[number % len(TOPICS)]},
        "usage": {"latency_ms": 200 + number * 37 % 900, "input_tokens": 40, "output_tokens": 80, "cost_usd": 0.0002},
    }
    if number % 11 == 3:
        del record["reference"]
    if is_run:
        record["provenance"] = {"run": {"trial": trial}}
    return record


def results_of(number: int, trial: int) -> list[dict[str, Any]]:
    """The results of a record: a check, a number, and a judge."""
    head = {"record_id": f"ferry-{number:04d}", "trial": trial}
    found = []
    for evaluator, ref in (("exact-match", "core/exact-match@1"), ("token-f1", "text/token-f1@1")):
        result = head | {"evaluator": evaluator, "evaluator_ref": ref}
        if number % 11 == 3:
            found.append(result | {"outcome": "skipped", "reason": "record has no reference"})
        elif evaluator == "exact-match":
            found.append(
                result | {"outcome": "scored", "scores": [{"name": evaluator, "passed": passes(number, trial)}]}
            )
        else:
            found.append(result | {"outcome": "scored", "scores": [{"name": evaluator, "value": number % 21 / 20}]})
    judged = head | {"evaluator": "llm-judge", "evaluator_ref": "judge/llm-judge@1", "judge_calls": [ref_of(number)]}
    judged["duration_ms"] = 400.5 + number * 53 % 2_000 + trial
    if number % 13 == 0:
        found.append(judged | {"outcome": "error", "reason": JUDGE_ERROR["message"], "error": JUDGE_ERROR})
    else:
        score = {"name": "llm-judge", "value": number % 5 / 4, "explanation": f"{sentence(number + 5, 24)}."}
        found.append(judged | {"outcome": "scored", "scores": [score]})
    return found


def ref_of(number: int) -> str:
    """The reference of a judge's reply."""
    return f"{number:016x}"


def reply_of(number: int) -> dict[str, Any]:
    """A judge's raw reply."""
    return {
        "ref": ref_of(number),
        "key": f"{number:064x}",
        "fields": {},
        "role": "primary",
        "model": "judge-large-1",
        "provider_id": "",
        "finish": "stop",
        "form": "json_schema",
        "tokens": {"input_tokens": 300, "output_tokens": 40},
        "text": json.dumps({"reason": sentence(number + 5, 24), "score": 1 + number % 5}),
    }


def summary_of(metric: str, evaluator: str, kind: str, values: list[float], **more: Any) -> dict[str, Any]:
    """A metric's summary; the interval is a rough one."""
    n = len(values)
    mean = sum(values) / n if n else None
    half = 1.96 * 0.4 / n**0.5 if n else 0.0
    ci = (
        None
        if mean is None
        else {"low": max(0.0, mean - half), "high": min(1.0, mean + half), "level": 0.95, "method": "wilson"}
    )
    filled: dict[str, Any] = {
        "metric": metric, "evaluator": evaluator, "kind": kind, "n": n, "mean": mean, "std": None if n < 2 else 0.4,
        "skipped": 0, "errors": 0, "cancelled": 0, "ci": ci, "labels": {}, "unit": None, "higher_is_better": True,
        "clusters": None, "judge": None,
    }  # fmt: skip
    return filled | more


def manifest_of(records: int, **more: Any) -> dict[str, Any]:
    """The manifest of an evaluation."""
    return {
        "evalsi_version": "0.4.0",
        "api_version": "evals.si/v1alpha1",
        "status": "complete",
        "error": None,
        "started_at": "2026-11-29T22:10:00.000+00:00",
        "finished_at": "2026-11-29T22:12:34.500+00:00",
        "dataset": {"source": "data/ferry.jsonl", "records": records, "sha256": "ab" * 32},
        "evaluators": [
            {"name": "exact-match", "ref": "core/exact-match@1", "params": {"normalize": True}, "scope": "record"},
            {"name": "token-f1", "ref": "text/token-f1@1", "params": {}, "scope": "record"},
            {"name": "llm-judge", "ref": "judge/llm-judge@1", "params": {"rubric": "correctness"}, "scope": "record"},
        ],
        "packs": [{"name": "core", "version": "0.4.0", "lock_sha256": "cd" * 32}],
        "judge": None,
        "summary": {"confidence_level": 0.95, "cluster_by": None, "ci_method": "auto", "seed": 0},
        "mapping": {},
        "limit": None,
        "host": {"python": "3.11.7", "system": "Linux x86_64", "cpus": 2},
        **more,
    }


def evaluation(records: int, trials: int = 1, *, is_run: bool = False) -> dict[str, Any]:
    """A results file of an evaluation, as a JSON value."""
    items = [(number, trial) for number in range(1, records + 1) for trial in range(1, trials + 1)]
    results = [result for item in items for result in results_of(*item)]
    return {
        "schema_version": 1,
        "manifest": manifest_of(records),
        "summaries": [
            _summary(results, "exact-match", "pass"),
            _summary(results, "token-f1", "number"),
            _summary(results, "llm-judge", "number"),
        ],
        "results": results,
        "records": [record_of(*item, is_run=is_run) for item in items],
        "judge_replies": [reply_of(number) for number in range(1, records + 1)],
    }


def gate_of(metric: str, verdict: str, **more: Any) -> dict[str, Any]:
    """A gate of a run."""
    empty = dict.fromkeys(("min", "max", "slice", "baseline", "max_drop", "significant", "value", "low", "high"))
    return {
        "metric": metric,
        "stat": "mean",
        "n": 100,
        "errors": 0,
        "skipped": 0,
        "reason": "",
        **empty,
        "verdict": verdict,
        **more,
    }


def run(records: int, trials: int = 3) -> dict[str, Any]:
    """A results file of a run with gates, slices and trials, as a JSON value."""
    whole = evaluation(records, trials, is_run=True)
    mean = whole["summaries"][0]["mean"]
    whole["manifest"] |= {
        "run_id": "ferry-3",
        "name": "ferry",
        "project": "support",
        "labels": {"suite": "nightly"},
        "state": "failed",
        "target": {"connector": "openai-compatible", "model": "target-small-2"},
        "trials": trials,
        "spec": {"kind": "EvalRun", "spec": {"target": {"system_prompt": "You sell tickets for the ferry."}}},
        "spec_sha256": "ef" * 32,
        "target_usage": {
            "calls": records * trials, "failed": 2, "input_tokens": 40 * records, "output_tokens": 80 * records,
            "cost_usd": 0.31, "latency_ms": {"mean": 612.0, "p50": 580.0, "p95": 1102.0},
        },
        "kept": 40,
        "stopped_early": None,
        "source": {"commit": "9f2c1d7ab0", "branch": "shorter-prompt", "pull_request": 412, "url": None, "ci": None},
    }  # fmt: skip
    whole["verdict"] = "fail"
    whole["gates"] = [
        gate_of("token-f1", "pass", min=0.3, value=0.5, low=0.47, high=0.53),
        gate_of("exact-match", "fail", min=0.9, value=mean, low=mean - 0.03, high=mean + 0.03,
                reason=f"mean {mean:.3f} is below 0.9"),
        gate_of("llm-judge", "undecided", min=0.6, value=0.51, low=0.46, high=0.56, errors=9,
                reason="7.7 % of the records are errors, and max_error_rate is 0"),
        gate_of("exact-match", "pass", min=0.5, slice={"topic": "prices"}, value=0.8, low=0.7, high=0.9),
    ]  # fmt: skip
    whole["slices"] = [
        {
            "by": "topic",
            "value": topic,
            "summaries": [summary_of("exact-match", "exact-match", "pass", [1.0, 0.0, 1.0])],
        }
        for topic in TOPICS
    ]
    return whole


def write(path: Path, whole: Mapping[str, Any]) -> Path:
    """Write a file as the product does, a line an element."""
    parts = []
    for key, value in whole.items():
        if isinstance(value, list) and key in ("results", "records", "judge_replies"):
            lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in value)
            parts.append(f'"{key}":[\n{lines}\n]')
        else:
            parts.append(f'"{key}":{json.dumps(value, ensure_ascii=False, indent=1)}')
    path.write_bytes(("{" + ",\n".join(parts) + "}\n").encode("utf-8", "surrogatepass"))
    return path


def changed(whole: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """A copy of a file's value with a change made to it."""
    copy: dict[str, Any] = json.loads(json.dumps(whole))
    change(copy)
    return copy


def _summary(results: list[dict[str, Any]], metric: str, kind: str) -> dict[str, Any]:
    of_metric = [result for result in results if result["evaluator"] == metric]
    values = [float(score.get("value", score.get("passed"))) for one in of_metric for score in one.get("scores", ())]
    counts = {
        name: sum(one["outcome"] == outcome for one in of_metric)
        for name, outcome in (("skipped", "skipped"), ("errors", "error"))
    }
    return summary_of(metric, metric, kind, values, **counts)
