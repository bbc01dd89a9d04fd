"""How many records are in flight where nobody says: as many as a waiting evaluator can make use of."""

from __future__ import annotations

import pytest

from evalsi_kernel.broker.settings import EMBED, PRIMARY, BrokerSettings, ModelSettings
from evalsi_kernel.packs.catalog import Catalog, default_catalog
from evalsi_kernel.packs.wanted import Wanted
from evalsi_kernel.planning.plan import BATCH_CONCURRENCY, CONCURRENCY, MAX_REQUESTS, LocalPack, make_plan
from evalsi_kernel.request import Request
from evalsi_kernel.supervision.launch import PoolLimits


def planned(models: BrokerSettings | None, *asks: str, concurrency: int | None = None) -> PoolLimits:
    described = ({"name": "mine", "version": "1"}, {"name": "waits", "version": "1", "asks": list(asks)})
    local = LocalPack(described, lambda channel: None)
    wanted = [Wanted("", local=0), Wanted("", local=1)]
    [group] = make_plan(Request("", wanted, concurrency=concurrency, models=models), Catalog(), local).groups
    return group.limits


def judged(max_in_flight: int = 256, *, batch: bool = False) -> BrokerSettings:
    model = ModelSettings("m", max_in_flight=max_in_flight)
    return BrokerSettings({PRIMARY: model, EMBED: model}, batch=batch)


@pytest.mark.parametrize(("max_in_flight", "records"), [(256, 256), (1_000, 1_000), (8, 64)])
def test_a_pack_that_asks_a_model_has_as_many_records_in_flight_as_there_may_be_calls(
    max_in_flight: int, records: int
) -> None:
    for asks in (("judge",), ("embed",), ("judge", "embed")):
        limits = planned(judged(max_in_flight), *asks)
        assert (limits.concurrency, limits.max_requests) == (records, min(records, MAX_REQUESTS))


def test_a_pack_that_asks_none_has_no_more_for_a_model_that_others_ask() -> None:
    assert planned(judged()).concurrency == planned(None).concurrency == CONCURRENCY


def test_where_a_judge_is_asked_in_batches_a_batch_fills_and_embeddings_are_not_waited_for() -> None:
    assert planned(judged(batch=True), "judge").concurrency == BATCH_CONCURRENCY
    assert planned(judged(batch=True), "embed").concurrency == 256


@pytest.mark.parametrize("batch", [False, True])
def test_what_the_user_says_counts(batch: bool) -> None:
    assert planned(judged(batch=batch), "judge", concurrency=3).concurrency == 3


def test_a_shipped_pack_that_judges_follows_the_models_too() -> None:
    plan = make_plan(Request("", [Wanted("llm-judge")], models=judged(300)), default_catalog())
    plan.abandon()
    assert plan.groups[0].limits.concurrency == 300
