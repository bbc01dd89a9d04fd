"""A run that asks its judge in batches: each question ends as its own reply or its own error, at half the price."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi_batches import plugin
from evalsi_connectors.batch_door import BatchDoor
from evalsi_kernel.errors import CacheError, ConfigError, UsageError
from evalsi_kernel.planning import plan
from evalsi_kernel.supervision.launch import PoolLimits
from tests.judging.batch_runs import (
    AT_ONCE,
    BOTH,
    HANDED_IN,
    batches_made,
    custom_id,
    last_digit,
    on_file,
    prepare,
    rows,
    run,
    scores,
)
from tests.providers import MODEL, Answer, Batching, Provider, Request, faults, fixed, in_order, matching
from tests.providers.faults import Fault, Plan, Status

GOOD = {"score": 4}
FIVE = (11, 12, 13, 14, 15)


@pytest.fixture(autouse=True)
def full_at_five(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    prepare(monkeypatch, tmp_path / "cache", most=5)


def at(number: int, fault: Fault) -> Plan:
    """A fault of the request for batches with this number."""
    return lambda came: fault if came == number else None


@pytest.mark.parametrize("provider", BOTH)
def test_each_record_gets_its_own_reply_from_one_batch_whatever_the_order(provider: str) -> None:
    with Provider(last_digit) as server:
        result = run(server, rows(*FIVE), provider)
        assert (batches_made(server), server.calls, len(server.rows)) == (1, 0, 5)
        again = run(server, rows(*FIVE), provider)
        assert batches_made(server) == 1, "kept replies are not asked for"
    assert scores(result) == scores(again) == {"11": 1, "12": 2, "13": 3, "14": 4, "15": 5}
    assert on_file() == []
    assert result.manifest["judge"]["roles"]["primary"]["batch"] is True
    (summary,) = result.summaries
    assert summary.judge is not None
    assert (summary.judge.calls, summary.judge.cached) == (5, 0)


@pytest.mark.parametrize("provider", BOTH)
def test_a_row_that_fails_is_an_error_of_its_own_record(provider: str) -> None:
    expired, lost, doubled = set[str](), set[str](), set[str]()
    batching = Batching(expired=expired, lost=lost, doubled=doubled)
    with Provider(matching({"11": faults.bad_request()}, last_digit), batching=batching) as server:
        for ids, output in ((expired, "12"), (lost, "13"), (doubled, "14")):
            ids.add(custom_id(server, provider, output))
        result = run(server, rows(*FIVE), provider)
        assert len(server.rows) == 5
    assert scores(result) == {
        "11": "provider.bad_request",
        "12": "provider.timeout",
        "13": "provider.bad_reply",
        "14": 4,
        "15": 5,
    }
    assert on_file() == []


@pytest.mark.parametrize("provider", BOTH)
def test_a_batch_that_expires_as_a_whole_costs_nothing_and_scores_nothing(provider: str, prices: Path) -> None:
    expired = set[str]()
    with Provider(last_digit, batching=Batching(expired=expired)) as server:
        expired |= {custom_id(server, provider, output) for output in FIVE}
        result = run(server, rows(*FIVE), provider, prices=prices)
    (summary,) = result.summaries
    assert (summary.n, summary.mean, summary.errors) == (0, None, 5)
    assert summary.judge is not None
    assert (summary.judge.calls, summary.judge.cost_usd) == (5, 0.0)


@pytest.mark.parametrize("provider", BOTH)
def test_a_reply_that_does_not_fit_is_asked_for_once_more_in_a_batch_of_its_own(
    provider: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prepare(monkeypatch, tmp_path / "cache", most=1)
    with Provider(in_order({"score": 9}, GOOD)) as server:
        result = run(server, rows(1), provider)
        assert batches_made(server) == 2
        assert "9" in server.rows[1].prompt
        run(server, rows(1), provider)
        assert batches_made(server) == 2, "the repaired reply is kept"
    assert scores(result) == {"1": 4}
    assert on_file() == []


def test_a_reply_that_never_fits_is_an_error_after_its_one_repair(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prepare(monkeypatch, tmp_path / "cache", most=1)
    with Provider(fixed({"score": 9})) as server:
        assert scores(run(server, rows(1))) == {"1": "judge.unparsable"}
        assert batches_made(server) == 2
    assert on_file() == []


def test_a_full_batch_is_handed_in_at_once_and_the_rest_when_no_question_comes_any_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prepare(monkeypatch, tmp_path / "cache", most=5, times=AT_ONCE._replace(quiet_s=0.1))
    with Provider(last_digit) as server:
        result = run(server, rows(*range(11, 16), *range(21, 26), 31))
        assert batches_made(server) >= 3
        assert len(server.rows) == 11
    assert result.summaries[0].n == 11


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    file = tmp_path / "prices.toml"
    file.write_text(f'version = "mine"\n[models."{MODEL}"]\ninput = 1.0\noutput = 10.0\n')
    return file


@pytest.mark.parametrize("provider", BOTH)
def test_what_is_asked_in_a_batch_costs_half(provider: str, prices: Path) -> None:
    with Provider(fixed(Answer(json.dumps(GOOD), input_tokens=1_000, output_tokens=100))) as server:
        (summary,) = run(server, rows(*FIVE), provider, prices=prices).summaries
    assert summary.judge is not None
    assert summary.judge.cost_usd == pytest.approx(5 * (1_000 * 1.0 + 100 * 10.0) / 1e6 / 2)


def test_a_budget_is_reserved_for_each_question_at_half_the_price(
    prices: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prepare(monkeypatch, tmp_path / "cache", most=2)
    # A question takes less than 1,000 tokens of prompt and at most 1,000 of reply: half of 0.011 USD, and not of 0.010.
    with Provider(fixed(Answer(json.dumps(GOOD), input_tokens=1_000, output_tokens=1_000))) as server:
        result = run(server, rows(*FIVE), judge={"max_tokens": 1_000}, prices=prices, budget={"usd": 0.0115})
        assert len(server.rows) == 2
    (summary,) = result.summaries
    assert (summary.n, summary.errors) == (2, 3)
    assert summary.judge is not None
    assert summary.judge.cost_usd == pytest.approx(0.011)
    assert {score for score in scores(result).values() if isinstance(score, str)} == {"judge.budget"}
    assert result.status == "incomplete"  # G4


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize(
    "fault", [faults.server_error(503), faults.rate_limited(0), faults.close_mid_body()], ids=["503", "429", "closed"]
)
@pytest.mark.parametrize("step", [1, 2, 3])
def test_asking_after_a_batch_may_fail_and_is_tried_again(provider: str, fault: Fault, step: int) -> None:
    plan = at(HANDED_IN[provider] + step, fault)
    with Provider(last_digit, batch_faults=plan, batching=Batching(polls=0)) as server:
        result = run(server, rows(*FIVE), provider)
        assert batches_made(server) == 1
    assert result.summaries[0].n == 5


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize(
    "fault",
    [faults.close_before_answer(), faults.close_mid_body(), faults.html_page(200)],
    ids=["closed", "cut", "html"],
)
def test_a_batch_whose_answer_is_lost_is_found_and_not_handed_in_again(provider: str, fault: Fault) -> None:
    with Provider(last_digit, batch_faults=at(HANDED_IN[provider], fault)) as server:
        result = run(server, rows(*FIVE), provider)
        assert (batches_made(server), len(server.rows)) == (1, 5)
    assert scores(result) == {"11": 1, "12": 2, "13": 3, "14": 4, "15": 5}


@pytest.mark.parametrize("provider", BOTH)
def test_a_batch_that_was_not_made_is_handed_in_again(provider: str) -> None:
    with Provider(last_digit, batch_faults=at(HANDED_IN[provider], faults.server_error())) as server:
        result = run(server, rows(*FIVE), provider)
        assert (batches_made(server), len(server.rows)) == (2, 5)
    assert result.summaries[0].n == 5


@pytest.mark.parametrize("provider", BOTH)
def test_a_batch_that_the_provider_has_lost_is_an_error_of_each_record_and_forgotten(provider: str) -> None:
    def lost(came: int) -> Fault | None:
        return Status(404, "There is no such batch.") if came > HANDED_IN[provider] else None

    with Provider(last_digit, batch_faults=lost) as server:
        result = run(server, rows(*FIVE), provider)
    assert set(scores(result).values()) <= {"provider.not_found", "provider.unsupported"}
    assert all("no more" in one["error"]["message"] for one in result.results)
    assert on_file() == []


@pytest.mark.parametrize("provider", BOTH)
def test_a_batch_that_cannot_be_asked_after_is_an_error_and_picked_up_by_the_next_run(provider: str) -> None:
    def refused(came: int) -> Fault | None:
        return faults.unauthorized() if came == HANDED_IN[provider] + 1 else None

    with Provider(last_digit, batch_faults=refused) as server:
        first = run(server, rows(*FIVE), provider)
        assert set(scores(first).values()) == {"provider.auth"}
        assert len(on_file()) == 1
        second = run(server, rows(*FIVE), provider)
        assert len(server.rows) == 5
    assert second.summaries[0].n == 5
    assert second.summaries[0].judge is not None
    assert second.summaries[0].judge.calls == 5, "who gets the replies pays for them"
    assert on_file() == []


def test_a_batch_that_is_refused_as_a_whole_is_an_error_of_each_record() -> None:
    with Provider(batching=Batching(invalid="invalid_json_line")) as server:
        result = run(server, rows(*FIVE))
    assert set(scores(result).values()) == {"provider.bad_request"}
    assert result.status == "incomplete"  # G4
    assert on_file() == []


@pytest.mark.parametrize("provider", BOTH)
def test_a_server_without_batches_is_told_before_any_work(provider: str) -> None:
    with Provider(batch_faults=faults.always(Status(404, "Not Found"))) as server:
        with pytest.raises(ConfigError, match="There are no batches") as caught:
            run(server, rows(*FIVE), provider)
        assert len(server.requests) == 1
    assert caught.value.hint == "Leave out batch."


def test_a_connector_without_batches_is_told_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(BatchDoor, "submit")
    with Provider() as server:
        with pytest.raises(ConfigError, match="'openai-compatible' has no batches"):
            run(server, rows(*FIVE))
        assert server.requests == []


def test_batches_without_a_judge_are_a_mistake() -> None:
    with pytest.raises(UsageError, match="none is given"):
        evalsi.evaluate(rows(1), ["exact-match"], embed="my-embedder", batch=True, quiet=True)


def test_a_folder_in_which_no_batch_can_be_noted_ends_the_run_before_it_asks(tmp_path: Path) -> None:
    (tmp_path / "cache" / "judge").mkdir(parents=True)
    (tmp_path / "cache" / "judge" / "batches").write_text("a file stands here")
    with Provider() as server:
        with pytest.raises(CacheError, match="Batches cannot be noted"):
            run(server, rows(*FIVE))
        assert server.rows == []


@pytest.mark.parametrize("provider", BOTH)
def test_two_runs_at_once_share_a_batch(provider: str) -> None:
    with Provider(last_digit) as server, ThreadPoolExecutor(2) as threads:
        results = list(threads.map(lambda _: run(server, rows(*FIVE), provider), range(2)))
        assert (batches_made(server), len(server.rows)) == (1, 5)
    assert [scores(result) for result in results] == [{"11": 1, "12": 2, "13": 3, "14": 4, "15": 5}] * 2
    assert on_file() == []


def test_runs_without_a_cache_each_ask_anew() -> None:
    with Provider(last_digit) as server, ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: run(server, rows(*FIVE), cache=False), range(2)))
        run(server, rows(*FIVE), cache=False)
        assert batches_made(server) == 3
    assert on_file() == []


def test_a_pack_that_waits_for_a_batch_is_not_taken_for_one_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "PoolLimits", partial(PoolLimits, record_timeout_s=1.0))
    monkeypatch.setattr(plugin, "TIMES", AT_ONCE._replace(poll_s=0.04, longest_poll_s=0.04))
    with Provider(last_digit, batching=Batching(polls=40)) as server:
        result = run(server, rows(*FIVE))
    assert result.summaries[0].n == 5


def test_a_question_is_handed_in_with_the_settings_of_the_judge() -> None:
    def echo(request: Request) -> Any:
        assert (request.max_tokens, request.field("temperature")) == (50, 0.5)
        return last_digit(request)

    with Provider(echo) as server:
        result = run(server, rows(*FIVE), judge={"max_tokens": 50, "temperature": 0.5})
    assert result.summaries[0].n == 5
