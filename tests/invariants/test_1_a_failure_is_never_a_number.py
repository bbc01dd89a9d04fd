"""First invariant: scored, skipped, error and cancelled are different outcomes, and only scored enters a mean."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

import evalsi
from evalsi import Record, Score, Skip
from evalsi_kernel.supervision.launch import Opening, PoolLimits
from evalsi_kernel.supervision.pool import Pool
from tests.cli.running import evalsi as command
from tests.cli.running import write_jsonl
from tests.kernel.data_path import tally
from tests.kernel.supervised import answered, bounded, chunk_of, launch_raw


def raises(record: Record) -> Any:
    raise RuntimeError("no")


def leaves(record: Record) -> Any:
    sys.exit(0)


def skips(record: Record) -> Any:
    raise Skip("not this one")


def lacks(record: Record) -> Any:
    return float(record.references[0].as_text())


async def raises_later(record: Record) -> Any:
    raise TimeoutError


WAYS_TO_FAIL: dict[str, tuple[Callable[[Record], Any], str]] = {
    "raises": (raises, "error"),
    "leaves": (leaves, "error"),
    "raises later": (raises_later, "error"),
    "skips": (skips, "skipped"),
    "lacks a field": (lacks, "skipped"),
    "nothing": (lambda record: None, "error"),
    "NaN": (lambda record: float("nan"), "error"),
    "infinity": (lambda record: float("-inf"), "error"),
    "NaN in a Score": (lambda record: Score(value=float("nan")), "error"),
    "two verdicts": (lambda record: Score(value=0.5, passed=True), "error"),
    "no verdict": (lambda record: Score(explanation="hm"), "error"),
    "an object": (lambda record: object(), "error"),
    "two NaN": (lambda record: [Score(value=float("nan")), Score(name="b", value=float("nan"))], "error"),
}


def test_of_two_scores_the_one_that_is_nan_is_an_error_and_the_other_is_kept() -> None:
    def metric(record: Record) -> Any:
        return [Score(value=1.0), Score(name="b", value=float("nan"))]

    result = evalsi.evaluate([{"output": "x"}], [{"ref": metric, "name": "metric"}], quiet=True)
    kept, failed = result["metric"], result["b"]
    assert (kept.n, kept.mean, kept.errors) == (1, 1.0, 0)
    assert (failed.n, failed.mean, failed.errors) == (0, None, 1)


@pytest.mark.parametrize("way", WAYS_TO_FAIL)
def test_whatever_fails_is_no_score_and_the_mean_is_that_of_what_was_scored(way: str) -> None:
    fail, outcome = WAYS_TO_FAIL[way]
    good = {"output": "good"}
    is_async = fail is raises_later

    def metric(record: Record) -> Any:
        return 0.75 if record.output.as_text() == "good" else fail(record)

    async def metric_later(record: Record) -> Any:
        return 0.75 if record.output.as_text() == "good" else await fail(record)

    result = evalsi.evaluate(
        [good, {"output": "bad"}, good], [{"ref": metric_later if is_async else metric, "name": "metric"}], quiet=True
    )
    summary = result["metric"]
    assert (summary.n, summary.mean, summary.skipped + summary.errors) == (2, 0.75, 1)
    assert [one["outcome"] for one in result.results] == ["scored", outcome, "scored"]
    failed = result.results[1]
    assert "scores" not in failed
    assert failed["reason"]


def test_a_number_that_is_not_finite_is_refused_at_the_border_also_from_a_pack_without_the_sdk() -> None:
    async def work() -> Any:
        pool = Pool(launch_raw("nan"), [Opening(1, "any")], PoolLimits())
        await pool.start()
        try:
            return await answered(pool, chunk_of(["x", "y", "z"]))
        finally:
            await pool.close()

    column = bounded(work)
    counted = tally()
    counted.add(column, None)
    assert [outcome[0] for outcome in column] == ["error", "scored", "scored"]
    assert (counted.scored, counted.errors) == (2, 1)


def test_a_metric_without_a_scored_record_has_no_mean_and_no_interval_and_fails_the_command(tmp_path: Any) -> None:
    result = evalsi.evaluate([{"output": "a"}] * 3, [{"ref": raises, "name": "metric"}], quiet=True)
    assert (result["metric"].n, result["metric"].mean, result["metric"].ci) == (0, None, None)
    data = write_jsonl(tmp_path / "data.jsonl", [{"output": "a"}] * 3)
    done = command("eval", "--data", data, "--evaluators", "exact-match", "--format", "json")
    assert done.code == 1
    summary = json.loads(done.out)["summaries"][0]
    assert (summary["n"], summary["mean"], summary["skipped"]) == (0, None, 3)
