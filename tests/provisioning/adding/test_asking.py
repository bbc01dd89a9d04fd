"""An added pack with a judge: it asks under the roles and as many questions a record as it was granted, not more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.running import evalsi, write_jsonl
from tests.providers import KEY, MODEL, Provider
from tests.provisioning.adding.third_party import added, recorded, write_pack

CODE = """\
from evalsi import Context, Record, evaluator

SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


@evaluator(name="polite", version=1, needs=["output"], asks=["judge"])
async def polite(record: Record, *, ctx: Context) -> bool:
    times = len(record.output.as_text())
    replies = [await ctx.judge([{"role": "user", "content": f"{record.id} {n}"}], schema=SCHEMA) for n in range(times)]
    return all(reply.value["ok"] for reply in replies)
"""


def outcomes(project: Path, provider: Provider) -> list[dict[str, Any]]:
    data = write_jsonl(project / "data.jsonl", [{"output": "x"}, {"output": "xx"}, {"output": "xxx"}])
    flags = (
        "--judge-model",
        MODEL,
        "--judge-base-url",
        provider.base_url,
        "--judge-api-key-env",
        "JUDGE_KEY",
        "--no-cache",
    )
    words = ("eval", "--data", data, "--evaluators", "acme/style/polite", "--output", "results.json")
    done = evalsi(*words, *flags, cwd=project, variables={"JUDGE_KEY": KEY})
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = json.loads((project / "results.json").read_text("utf-8"))["results"]
    return found


def judging(folder: Path, more: str) -> Path:
    write_pack(folder, asks='["judge"]', more=more)
    (folder / "src" / "acme_style.py").write_text(CODE, "utf-8")
    return folder


def test_a_record_for_which_more_is_asked_than_was_granted_is_an_error_and_no_other_is(project: Path) -> None:
    added(judging(project / "source", "[permissions]\nasks_per_record = { polite = 2 }\n"), project)
    assert recorded(project)["acme/style"]["granted"]["asks_per_record"] == {"polite": 2}
    with Provider(lambda _: {"ok": True}) as provider:
        results = outcomes(project, provider)
        assert len(provider.requests) == 5
    assert [one["outcome"] for one in results] == ["scored", "scored", "error"]
    assert results[2]["error"]["code"] == "capability.not_granted"


def test_a_pack_that_says_nothing_of_how_often_it_asks_may_ask_any_number(project: Path) -> None:
    added(judging(project / "source", ""), project)
    assert recorded(project)["acme/style"]["granted"]["asks_per_record"] == {"polite": None}
    with Provider(lambda _: {"ok": True}) as provider:
        assert [one["outcome"] for one in outcomes(project, provider)] == ["scored"] * 3
