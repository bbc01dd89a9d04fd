"""The server as a test holds it: addresses, what it saw, starting and stopping."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.providers import KEY, Provider, faults
from tests.providers.calling import chat, chat_body, embed, send


def test_it_saw_every_request_parsed() -> None:
    with Provider() as provider:
        chat(provider, "first")
        send(provider.root_url, "/v1/models?limit=2", headers={"X-Own": "yes"})
        send(provider.root_url, "/v1/chat/completions", b"{not json")
    first, second, third = provider.requests
    assert (first.number, first.method, first.path, first.body) == (
        1, "POST", "/v1/chat/completions", chat_body("first"),
    )  # fmt: skip
    assert (second.number, second.method, second.path, second.headers["x-own"]) == (0, "GET", "/v1/models", "yes")
    assert (third.number, third.raw, third.body, third.key) == (2, b"{not json", None, KEY)


def test_it_counts_calls_of_models_and_statuses() -> None:
    with Provider(faults=[faults.server_error()]) as provider:
        chat(provider)
        embed(provider, "x")
        send(provider.root_url, "/v1/models")
        assert send(provider.root_url, "/seen").body == {
            "calls": 2,
            "in_flight": 0,
            "most_in_flight": 1,
            "abandoned": 0,
            "statuses": {"200": 2, "500": 1},
        }
    assert provider.calls == 2


def test_it_keeps_counts_alone_where_told_so() -> None:
    with Provider(keep=False) as provider:
        chat(provider)
    assert (provider.requests, provider.calls) == ([], 1)


def test_it_answers_256_calls_at_once() -> None:
    async def one(provider: Provider) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(provider.root_url.rpartition(":")[2]))
        body = b'{"model":"my-judge","messages":[{"role":"user","content":"x"}]}'
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        line = await reader.readline()
        writer.close()
        await writer.wait_closed()
        return line

    async def all_at_once(provider: Provider) -> list[bytes]:
        calls = [asyncio.create_task(one(provider)) for _ in range(256)]
        await asyncio.to_thread(provider.wait, lambda seen: seen.in_flight == 256)
        provider.release()
        return await asyncio.wait_for(asyncio.gather(*calls), 10)

    with Provider(faults=faults.always(faults.held())) as provider:
        assert set(asyncio.run(all_at_once(provider))) == {b"HTTP/1.1 200 OK\r\n"}
    assert provider.most_in_flight == 256


def test_two_servers_stand_side_by_side() -> None:
    with Provider(keys={"one"}) as one, Provider() as other:
        assert one.root_url != other.root_url
        assert (chat(one).status, chat(other).status) == (401, 200)


def test_nothing_of_it_is_left_when_the_context_is_left() -> None:
    with Provider() as provider:
        assert chat(provider).status == 200
    assert [thread.name for thread in threading.enumerate() if thread.name == "provider"] == []
    with pytest.raises(ConnectionRefusedError):
        chat(provider)


def test_waiting_for_what_never_comes_fails_and_tells_what_came() -> None:
    with Provider() as provider:
        chat(provider)
        with pytest.raises(AssertionError, match="'calls': 1"):
            provider.wait(lambda seen: seen.calls == 2, timeout_s=0.01)


def test_a_server_that_cannot_start_says_so() -> None:
    with Provider() as provider:
        port = int(provider.root_url.rpartition(":")[2])
        with pytest.raises(OSError, match="in use"):
            asyncio.run(Provider().serve(port, lambda: None))


def test_a_connection_is_used_again_after_an_answer() -> None:
    with Provider() as provider, ThreadPoolExecutor(1) as pool:
        assert [one.status for one in pool.map(lambda _: chat(provider), range(3))] == [200, 200, 200]
