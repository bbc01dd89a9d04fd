"""Batches of both providers: handed in, asked after, and joined by custom id, so that each ask has one end."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from evalsi_connectors import anthropic_batches, openai_batches
from evalsi_connectors.batch_rows import json_lines
from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.connector import BatchConnector, BatchState, ListedBatch, ProviderError
from tests.connectors.calling import ANTHROPIC, BOTH, OPENAI, VERDICT, asked, batches, made, settings, url_of
from tests.providers import Provider, faults, matching
from tests.providers.batching import Batching
from tests.providers.faults import Fault, Page, Status

ASKS = {f"ask-{n}": asked(f"number {n}", schema=VERDICT) for n in range(6)}
Ends = dict[str, Reply | ProviderError]


async def ended(connector: BatchConnector, batch_id: str) -> BatchState:
    while not (state := await connector.state(batch_id)).has_ended:
        assert state.total == 0 or state.done <= state.total
    return state


async def ends(connector: BatchConnector, batch_id: str, asks: Mapping[str, Ask]) -> Ends:
    found: Ends = {}
    async for name, end in connector.results(batch_id, asks):
        assert name not in found, "an ask ends once"
        found[name] = end
    return found


def through(server: Provider, provider: str, asks: Mapping[str, Ask] = ASKS) -> Ends:
    """Hand in a batch, wait for its end and read its results with another connector, as after a restart."""

    async def run() -> Ends:
        first = made(settings(url_of(server, provider), provider))
        batch_id = await batches(first).submit(asks)
        await first.close()
        second = made(settings(url_of(server, provider), provider))
        state = await ended(batches(second), batch_id)
        assert state.total == len(asks)
        found = await ends(batches(second), batch_id, asks)
        await second.close()
        return found

    return asyncio.run(run())


def codes(found: Ends) -> dict[str, str]:
    return {name: end.form if isinstance(end, Reply) else end.error.code for name, end in found.items()}


@pytest.mark.parametrize("provider", BOTH)
def test_each_ask_gets_its_own_reply_in_whatever_order_they_come(provider: str) -> None:
    answers = {f"number {n}": json.dumps({"reason": "", "score": n}) for n in range(6)}
    with Provider(matching(answers)) as server:
        found = through(server, provider)

    assert {name: json.loads(end.text)["score"] for name, end in found.items() if isinstance(end, Reply)} == {
        f"ask-{n}": n for n in range(6)
    }
    assert set(codes(found).values()) == {"json_schema"}


@pytest.mark.parametrize("provider", BOTH)
def test_what_expired_was_lost_or_came_twice_ends_as_one_error_or_one_reply(provider: str) -> None:
    batching = Batching(expired={"ask-1"}, lost={"ask-2"}, doubled={"ask-3"})
    with Provider(batching=batching) as server:
        found = through(server, provider)

    assert codes(found) == {
        "ask-0": "json_schema",
        "ask-1": "provider.timeout",
        "ask-2": "provider.bad_reply",
        "ask-3": "json_schema",
        "ask-4": "json_schema",
        "ask-5": "json_schema",
    }


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Status(400, "The prompt is too odd."), "provider.bad_request"),
        (Status(429, "Slow down."), "provider.rate_limited"),
        (Status(500, "It failed."), "provider.failed"),
        (Status(413, "Too large."), "provider.bad_request"),
    ],
)
def test_an_error_of_a_row_is_that_of_the_ask_with_its_id(provider: str, fault: Status, code: str) -> None:
    with Provider(matching({"number 4": fault})) as server:
        found = through(server, provider)

    assert [name for name, end in found.items() if isinstance(end, ProviderError)] == ["ask-4"]
    assert codes(found)["ask-4"] == code


@pytest.mark.parametrize("provider", BOTH)
def test_a_setting_that_the_model_does_not_take_is_named_in_a_batch_too(provider: str) -> None:
    with Provider(refused_parameters={"temperature"}) as server:
        (end,) = through(server, provider, {"a": asked(temperature=0.5)}).values()

    assert isinstance(end, ProviderError)
    assert end.error.code == "provider.unsupported"
    assert "--judge-temperature" in end.error.message


@pytest.mark.parametrize("provider", BOTH)
def test_a_refusal_in_a_batch_is_a_reply(provider: str) -> None:
    with Provider(matching({"number": faults.refusal()})) as server:
        (end,) = through(server, provider, {"a": asked("number 1")}).values()

    assert isinstance(end, Reply)
    assert end.finish == "refusal"


@pytest.mark.parametrize("provider", BOTH)
def test_a_batch_that_is_cancelled_ends_with_an_error_for_what_was_not_done(provider: str) -> None:
    with Provider(batching=Batching(polls=2)) as server:

        async def run() -> Ends:
            connector = made(settings(url_of(server, provider), provider))
            batch_id = await batches(connector).submit(ASKS)
            await batches(connector).state(batch_id)
            await batches(connector).cancel(batch_id)
            await ended(batches(connector), batch_id)
            found = await ends(batches(connector), batch_id, ASKS)
            await connector.close()
            return found

        found = asyncio.run(run())

    assert found.keys() == ASKS.keys()
    not_done = [end for end in found.values() if isinstance(end, ProviderError)]
    assert {end.error.code for end in not_done} == {"provider.failed"}
    assert all("cancelled" in end.error.message for end in not_done)


def raised(server: Provider, provider: str, what: str, batch_id: str = "batch_1") -> ProviderError:
    """The error of one step of a batch."""

    async def run() -> ProviderError:
        connector = made(settings(url_of(server, provider), provider))
        one = batches(connector)
        steps: dict[str, Callable[[], Awaitable[object]]] = {
            "submit": lambda: one.submit(ASKS),
            "state": lambda: one.state(batch_id),
            "results": lambda: ends(one, batch_id, ASKS),
            "cancel": lambda: one.cancel(batch_id),
        }
        with pytest.raises(ProviderError) as caught:
            await steps[what]()
        await connector.close()
        return caught.value

    return asyncio.run(run())


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize("what", ["submit", "state", "results", "cancel"])
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (faults.unauthorized(), "provider.auth"),
        (faults.rate_limited(5), "provider.rate_limited"),
        (faults.server_error(503), "provider.failed"),
    ],
    ids=["401", "429", "503"],
)
def test_each_step_of_a_batch_can_be_refused_as_any_call_can(
    provider: str, what: str, fault: Status, code: str
) -> None:
    with Provider(batch_faults=faults.always(fault)) as server:
        assert raised(server, provider, what).error.code == code


@asynccontextmanager
async def hasty(server: Provider, provider: str, code: str) -> AsyncIterator[BatchConnector]:
    """A connector that soon runs out of patience where that is the error to come, and never elsewhere."""
    patience = {"timeout_s": 0.2} if code == "provider.timeout" else {}
    connector = made(settings(url_of(server, provider), provider, **patience))
    yield batches(connector)
    await connector.close()


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (faults.html_page(200), "provider.bad_reply"),
        (faults.empty_body(200), "provider.bad_reply"),
        (faults.truncated_json(), "provider.bad_reply"),
        (faults.close_mid_body(), "provider.connection"),
        (faults.stall_mid_body(), "provider.timeout"),
    ],
    ids=str,
)
def test_asking_after_a_batch_can_go_wrong_and_be_tried_again(provider: str, fault: Fault, code: str) -> None:
    handed_in = 1 if provider == ANTHROPIC else 2
    with Provider(batch_faults=lambda number: fault if number == handed_in + 1 else None) as server:

        async def run() -> ProviderError:
            connector = made(settings(url_of(server, provider), provider))
            batch_id = await batches(connector).submit(ASKS)
            async with hasty(server, provider, code) as one:
                with pytest.raises(ProviderError) as caught:
                    await one.state(batch_id)
            assert (await batches(connector).state(batch_id)).total == len(ASKS)
            await connector.close()
            return caught.value

        error = asyncio.run(run()).error

    assert (error.code, error.retry) == (code, "later")


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (faults.close_mid_body(), "provider.connection"),
        (faults.stall_mid_body(), "provider.timeout"),
        (faults.server_error(500), "provider.failed"),
    ],
    ids=["closed", "stalled", "500"],
)
def test_results_that_break_off_are_an_error_and_can_be_read_again(provider: str, fault: Fault, code: str) -> None:
    # Handed in, asked after until it has ended, asked after once more for the place of the results.
    until_results = (1 if provider == ANTHROPIC else 2) + 1 + (2 if provider == ANTHROPIC else 1)
    plan = Batching(polls=0)
    with Provider(batching=plan, batch_faults=lambda n: fault if n == until_results + 1 else None) as server:

        async def run() -> tuple[ProviderError, Ends]:
            connector = made(settings(url_of(server, provider), provider))
            batch_id = await batches(connector).submit(ASKS)
            await ended(batches(connector), batch_id)
            async with hasty(server, provider, code) as one:
                with pytest.raises(ProviderError) as caught:
                    await ends(one, batch_id, ASKS)
            again = await ends(batches(connector), batch_id, ASKS)
            await connector.close()
            return caught.value, again

        error, again = asyncio.run(run())

    assert error.error.code == code
    assert set(codes(again).values()) == {"json_schema"}


@pytest.mark.parametrize("provider", BOTH)
def test_a_batch_that_was_started_without_an_id_is_a_bad_reply(provider: str) -> None:
    with Provider(batch_faults=faults.always(Page(200, b"{}", "application/json"))) as server:
        assert raised(server, provider, "submit").error.code == "provider.bad_reply"


@pytest.mark.parametrize("provider", BOTH)
def test_a_batch_that_nobody_knows_is_an_error(provider: str) -> None:
    with Provider() as server:
        assert raised(server, provider, "state", "no/such?batch").error.code in (
            "provider.not_found",
            "provider.unsupported",
        )


@pytest.mark.parametrize("provider", BOTH)
def test_results_before_the_end_are_an_error_that_says_to_wait(provider: str) -> None:
    with Provider(batching=Batching(polls=5)) as server:

        async def run() -> ProviderError:
            connector = made(settings(url_of(server, provider), provider))
            batch_id = await batches(connector).submit(ASKS)
            with pytest.raises(ProviderError) as caught:
                await ends(batches(connector), batch_id, ASKS)
            await connector.close()
            return caught.value

        error = asyncio.run(run()).error

    assert "has not ended" in error.message
    assert error.retry == "later"


@pytest.mark.parametrize("provider", BOTH)
def test_batches_are_listed_with_their_tags_where_the_provider_keeps_tags(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (anthropic_batches, openai_batches):
        monkeypatch.setattr(module, "PAGE", 2)
    with Provider(batching=Batching(polls=0)) as server:

        async def run() -> list[Sequence[ListedBatch]]:
            connector = made(settings(url_of(server, provider), provider))
            one = batches(connector)
            for number in range(5):
                name = await one.submit(ASKS, f"tag-{number}" if number else "")
                await one.state(name)
            now = time.time()
            found = [await one.recent(now - 3600), await one.recent(now + 3600)]
            await connector.close()
            return found

        recent, later = asyncio.run(run())
        pages = sum(request.method == "GET" and "limit" in request.query for request in server.requests)

    assert later == []
    assert pages == 3 + 1
    assert len({one.batch_id for one in recent}) == 5
    assert {one.total for one in recent} == {len(ASKS)}
    tags = [None] * 5 if provider == ANTHROPIC else ["tag-4", "tag-3", "tag-2", "tag-1", ""]
    assert [one.tag for one in recent] == tags


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize("body", [b"{}", b'{"data": {}}', b'{"data": [1, {}, {"created_at": "soon"}]}'])
def test_a_list_of_another_form_names_no_batch(provider: str, body: bytes) -> None:
    with Provider(batch_faults=faults.always(Page(200, body, "application/json"))) as server:

        async def run() -> Sequence[ListedBatch] | str:
            connector = made(settings(url_of(server, provider), provider))
            try:
                return await batches(connector).recent(0.0)
            except ProviderError as error:
                return error.error.code
            finally:
                await connector.close()

        assert asyncio.run(run()) in ([], "provider.bad_reply")


def test_a_server_without_batches_is_told_apart_from_one_that_fails() -> None:
    answer = Status(404, "Not Found")
    with Provider(batch_faults=faults.always(answer)) as server:
        error = raised(server, OPENAI, "submit")

    assert error.error.code == "provider.unsupported"
    assert "--judge-batch" in error.error.hint


@pytest.mark.parametrize(
    ("why", "code"), [("token_limit_exceeded", "provider.rate_limited"), ("invalid_json_line", "provider.bad_request")]
)
def test_a_batch_that_is_refused_as_a_whole_is_an_error_for_each_ask(why: str, code: str) -> None:
    with Provider(batching=Batching(invalid=why)) as server:

        async def run() -> Ends:
            connector = made(settings(server.base_url))
            batch_id = await batches(connector).submit(ASKS)
            await ended(batches(connector), batch_id)
            found = await ends(batches(connector), batch_id, ASKS)
            await connector.close()
            return found

        found = asyncio.run(run())

    assert codes(found) == dict.fromkeys(ASKS, code)


def test_a_seed_is_refused_before_a_batch_of_anthropic_is_handed_in() -> None:
    with Provider() as server:

        async def run() -> ProviderError:
            connector = made(settings(server.root_url, ANTHROPIC))
            with pytest.raises(ProviderError) as caught:
                await batches(connector).submit({"a": asked(seed=1)})
            await connector.close()
            return caught.value

        assert asyncio.run(run()).error.code == "provider.unsupported"
        assert server.requests == []


def test_lines_are_read_across_pieces_and_what_is_no_object_is_passed_over() -> None:
    text = '{"a": "one\u2028line"}\n\nnull\n{"b": 2}\r\n{"c": \n{"d": 4}'.encode()

    async def pieces(size: int) -> AsyncIterator[bytes]:
        for start in range(0, len(text), size):
            yield text[start : start + size]

    async def run(size: int) -> list[Mapping[str, Any]]:
        return [row async for row in json_lines(pieces(size), 100)]

    for size in (1, 3, 1000):
        assert asyncio.run(run(size)) == [{"a": "one\u2028line"}, {"b": 2}, {"d": 4}]
