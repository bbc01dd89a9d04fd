"""Prompt-injection self-test of `evalsi doctor`: are verdicts planted in candidates mistaken for the judge's?

The pack supplies the candidates in `planted.jsonl` next to its code, and the questions. All candidates are wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.broker.ask import Form
from evalsi_kernel.broker.settings import BrokerSettings
from evalsi_kernel.broker.verdict import VerdictError, parse_verdict
from evalsi_kernel.errors import PackError
from evalsi_kernel.evaluation.evaluation import evaluate
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.packs.pack_info import PackInfo
from evalsi_kernel.packs.wanted import Wanted
from evalsi_kernel.records.rows_source import RowsSource
from evalsi_kernel.request import Request
from evalsi_kernel.supervision.connection import RequestFailed
from evalsi_kernel.supervision.event_loop import run_in_loop
from evalsi_kernel.supervision.launch import Launch, Opening
from evalsi_kernel.supervision.worker import start_worker

FORMS: tuple[Form, ...] = ("json_schema", "json_object", "text")
SESSION = 1


class ReaderTest(NamedTuple):
    """Result of the test of the verdict parser.

    Args:
        candidates: number of candidates.
        replies: number of replies that only quote a candidate, in all usual ways of quoting.
        through: number of these replies that were parsed as a verdict; must be 0.
    """

    candidates: int
    replies: int
    through: int


def planted_of(pack: PackInfo) -> list[dict[str, Any]]:
    """Return the records with planted verdicts of a pack; empty if it has none."""
    path = planted_path(pack)
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


def planted_path(pack: PackInfo) -> Path:
    """Return the path of a pack's planted verdicts."""
    return pack.folder / "src" / pack.module.replace(".", "/") / "planted.jsonl"


class JudgeTest(NamedTuple):
    """Result of the test of a judge.

    Args:
        candidates: number of candidates, all of them wrong.
        graded: number of candidates that got a grade.
        above: number of candidates graded better than the lowest grade.
        why: the first reason why a candidate got no grade; "" if all got one.
    """

    candidates: int
    graded: int
    above: int
    why: str


def run_reader_test(pack: PackInfo, launch: Launch, evaluator: str) -> ReaderTest:
    """Parse replies that only quote a candidate, for all questions of the pack.

    Raises:
        PackError: the pack cannot start, or has no questions for its candidates.
    """
    records = planted_of(pack)
    replies = through = 0
    for record, questions in zip(records, run_in_loop(lambda: _questions(launch, evaluator, records)), strict=True):
        for question in questions:
            for reply in quoting(record["output"]):
                for form in FORMS:
                    replies += 1
                    through += _is_read(reply, form, question)
    return ReaderTest(len(records), replies, through)


def run_judge_test(pack: PackInfo, evaluator: str, models: BrokerSettings) -> JudgeTest:
    """Let the user's judge grade each candidate. Raises `EvalsiError`."""
    records = planted_of(pack)
    request = Request(
        RowsSource(records, "planted verdicts"), [Wanted(f"{pack.name}/{evaluator}")], models=models, keep_results=True
    )
    found = evaluate(request, default_catalog())
    assert found.spool is not None
    results = list(found.spool.results())
    grades = [score["value"] for result in results for score in result.get("scores", ()) if "value" in score]
    reasons = [result["reason"] for result in results if "reason" in result]
    return JudgeTest(len(records), len(grades), sum(grade > 0 for grade in grades), next(iter(reasons), ""))


def quoting(text: str) -> Iterator[str]:
    """Yield replies that quote a text in all usual ways and otherwise only say that it is wrong."""
    lines = [line for line in text.split("\n") if line.strip()]
    yield f"The answer is {text} and that is wrong."
    yield f'The answer is "{text}", which I disregard.'
    yield f"The answer is\n{text}\nand that is wrong."
    yield f"The answer is\n```\n{text}\n```\nand that is wrong."
    yield f"The answer is wrong. It ends with\n\n{lines[-1]}"
    yield f"The answer is wrong.\n{text}"
    yield "The answer is wrong.\n" + "\n".join(f"> {line}" for line in lines)
    yield "The answer is wrong. It says:\n" + text.replace(". ", ".\n")
    yield f"<think>{text}</think>\nThe answer is wrong."


def _is_read(reply: str, form: Form, question: dict[str, Any]) -> bool:
    try:
        parse_verdict(reply, question["schema"], form, "stop", question["messages"])
    except VerdictError:
        return False
    return True


async def _questions(launch: Launch, evaluator: str, records: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the pack's questions about each record."""
    worker = await start_worker(launch)
    try:
        await worker.open([Opening(SESSION, evaluator)], concurrency=1, record_timeout_s=60.0)
        answer = await worker.connection.request("plan", {"session": SESSION, "records": list(records)})
    except RequestFailed as failure:
        raise PackError(f"{evaluator} has no questions to test: {failure.error.message}", failure.error.hint) from None
    finally:
        await worker.stop()
    plans = answer["plans"]
    for outcome, payload in plans:
        if outcome != "planned":
            raise PackError(f"{evaluator} asks nothing about one of its planted candidates: {outcome}, {payload}.")
    return [payload["requests"] for _, payload in plans]
