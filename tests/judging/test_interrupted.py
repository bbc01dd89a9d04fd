"""Calls that are in flight when a command is interrupted: the provider may bill them, so they are booked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import EVALSI, write_jsonl
from tests.providers import EMBEDDER, KEY, MODEL, Provider, Request, faults

COUNT = 6
BOUND_S = 60.0
ASKING = """
from evalsi import Context, Record, evaluator

@evaluator(name="judged", version=1, needs=("output",), asks=("judge",))
async def judged(record: Record, *, ctx: Context) -> bool:
    return bool(await ctx.judge([{"role": "user", "content": record.output.as_text()}]))

@evaluator(name="near", version=1, needs=("output",), asks=("embed",))
async def near(record: Record, *, ctx: Context) -> bool:
    return bool(await ctx.embed([record.output.as_text()]))
"""


class Vendor:
    """A vendor that answers about some outputs, and keeps all others waiting."""

    def __init__(self) -> None:
        self.answered: set[str] = set()
        self.provider = Provider(self._answer, embed=lambda _: faults.hang())

    def _answer(self, request: Request) -> str | faults.Fault:
        return "Yes." if request.last_text in self.answered else faults.hang()


@pytest.fixture
def vendor(tmp_path: Path) -> Iterator[Vendor]:
    (tmp_path / "asking.py").write_text(ASKING)
    write_jsonl(tmp_path / "data.jsonl", [{"id": f"r{n}", "input": "?", "output": f"x{n}"} for n in range(COUNT)])
    vendor = Vendor()
    with vendor.provider:
        yield vendor


def interrupted(vendor: Vendor, folder: Path, words: list[str], calls: int = COUNT) -> tuple[str, str]:
    """What a command prints that is interrupted once it has made so many calls."""
    provider, before = vendor.provider, vendor.provider.calls
    models = ["--judge-model", MODEL, "--judge-base-url", provider.base_url, "--judge-api-key-env", "K"]
    models += ["--embed-model", EMBEDDER, "--embed-base-url", provider.base_url, "--embed-api-key-env", "K"]
    process = subprocess.Popen(
        [EVALSI, *words, *models],
        cwd=folder,
        env=os.environ | {"K": KEY, "EVALSI_CACHE_DIR": str(folder / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        provider.wait(lambda seen: seen.calls == before + calls, BOUND_S)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=BOUND_S)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130, err
    assert provider.calls == before + calls
    return out, err


def of_eval(name: str, *words: str) -> list[str]:
    return ["eval", "--data", "data.jsonl", "--evaluators", f"./asking.py:{name}", *words]


@pytest.mark.parametrize("name", ["judged", "near"])
def test_calls_in_flight_are_booked_at_a_cost_that_nobody_knows(name: str, vendor: Vendor, tmp_path: Path) -> None:
    out, _ = interrupted(vendor, tmp_path, of_eval(name, "--output", "results.json"))
    assert out.splitlines()[-1].split()[-3:] == [str(COUNT), "0", "unknown"]
    assert bill_in(tmp_path / "results.json") == (COUNT, None, COUNT)


def test_a_table_alone_has_them_too(vendor: Vendor, tmp_path: Path) -> None:
    out, _ = interrupted(vendor, tmp_path, of_eval("judged"))
    assert out.splitlines()[-1].split()[-3:] == [str(COUNT), "0", "unknown"]


def test_what_was_answered_keeps_its_cost_beside_them(vendor: Vendor, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(f'version = "mine"\n[models."{MODEL}"]\ninput = 1.0\noutput = 1.0\n')
    vendor.answered = {"x0", "x1"}
    out, _ = interrupted(
        vendor, tmp_path, of_eval("judged", "--output", "results.json", "--judge-prices", "prices.toml")
    )
    calls, cost_usd, unknown = bill_in(tmp_path / "results.json")
    assert (calls, unknown) == (COUNT, COUNT - 2)
    assert cost_usd is not None
    assert cost_usd > 0
    assert "≥ $" in out.splitlines()[-1]


def test_a_run_books_them_too_and_still_once_it_has_gone_on(vendor: Vendor, tmp_path: Path) -> None:
    spec = {
        "target": {"connector": "replay", "path": "data.jsonl"},
        "dataset": {"path": "data.jsonl"},
        "evaluators": [{"ref": "./asking.py:judged"}],
    }
    (tmp_path / "run.yaml").write_text(json.dumps({"metadata": {"name": "run"}, "spec": spec}))
    command = ["run", "-f", "run.yaml", "--output", "results.json"]
    interrupted(vendor, tmp_path, command)
    assert bill_in(tmp_path / "results.json") == (COUNT, None, COUNT)
    vendor.answered = {"x0", "x1"}
    interrupted(vendor, tmp_path, command)
    assert bill_in(tmp_path / "results.json")[0] == 2 * COUNT
    _, told = interrupted(vendor, tmp_path, command, COUNT - 2)
    assert "2 of 6 kept" in told
    assert bill_in(tmp_path / "results.json")[0] == 3 * COUNT - 2


def bill_in(results: Path) -> tuple[int, float | None, int]:
    """Calls, their known cost, and how many have none."""
    bill = json.loads(results.read_text("utf-8"))["manifest"]["judge"]
    return bill["calls"], bill["cost_usd"], bill["unknown"]
