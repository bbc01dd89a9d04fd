"""A key comes from the environment, goes to the address that it is for, and is seen nowhere else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_connectors.key import Key, redact
from evalsi_kernel.broker.ask import Reply
from evalsi_kernel.broker.connector import Connector
from evalsi_kernel.errors import ConfigError
from tests.connectors.calling import ANTHROPIC, BOTH, KEY_VARIABLE, OPENAI, asked, calls, made, settings, url_of
from tests.providers import KEY, Provider

USUAL = {OPENAI: "OPENAI_API_KEY", ANTHROPIC: "ANTHROPIC_API_KEY"}
HOME = {OPENAI: "https://api.openai.com/v1", ANTHROPIC: "https://api.anthropic.com"}


def refused(provider: str, **fields: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        asyncio.run(_made(provider, **fields))
    return caught.value


async def _made(provider: str, **fields: Any) -> None:
    connector = made(settings(**fields, provider=provider))
    await connector.close()


def identity(provider: str, **fields: Any) -> dict[str, str]:
    """What a connector says of itself, without calling anyone."""

    async def run() -> Connector:
        connector = made(settings(**fields, provider=provider))
        await connector.close()
        return connector

    return dict(asyncio.run(run()).identity)


@pytest.mark.parametrize("provider", BOTH)
def test_a_variable_that_is_not_set_is_named(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    error = refused(provider, base_url="http://localhost:1/v1")

    assert error.code == "config.no_key"
    assert KEY_VARIABLE in error.message
    assert "none" in error.hint


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize("pasted", ["sk-proj-abc123", "gsk_" + "aB3" * 16, "Bearer abc"])
def test_a_key_that_stands_where_its_variable_should_is_not_shown(provider: str, pasted: str) -> None:
    error = refused(provider, base_url="http://localhost:1/v1", api_key_env=pasted)

    assert error.code == "config.no_key"
    assert pasted not in str(error)
    assert "--judge-api-key-env says is no variable's name" in error.message


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize("base_url", [None, "home"])
def test_at_home_the_usual_variable_is_needed_and_named(provider: str, base_url: str | None) -> None:
    error = refused(provider, base_url=HOME[provider] if base_url else None, api_key_env=None)

    assert error.code == "config.no_key"
    assert USUAL[provider] in error.message


@pytest.mark.parametrize("provider", BOTH)
def test_at_home_the_usual_variable_is_enough(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(USUAL[provider], "a-secret-of-mine")

    assert identity(provider, base_url=None, api_key_env=None) == {
        "provider": provider,
        "model": "my-judge",
        "base_url": HOME[provider],
    }


@pytest.mark.parametrize("provider", BOTH)
def test_a_strangers_host_never_gets_the_usual_key(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(USUAL[provider], KEY)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)
    with Provider(keys=None) as server:
        (reply,) = calls(settings(url_of(server, provider), provider, api_key_env=None), asked())

        assert isinstance(reply, Reply), reply
        assert KEY not in str(server.requests[0].headers)


@pytest.mark.parametrize("provider", BOTH)
def test_none_sends_no_key(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("none", KEY)
    with Provider(keys=None) as server:
        (reply,) = calls(settings(url_of(server, provider), provider, api_key_env="none"), asked())

        assert isinstance(reply, Reply), reply
        assert server.requests[0].key is None


@pytest.mark.parametrize("provider", BOTH)
def test_a_line_break_around_a_key_is_no_part_of_it(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, f" {KEY}\n")
    with Provider() as server:
        (reply,) = calls(settings(url_of(server, provider), provider), asked())

        assert isinstance(reply, Reply), reply
        assert server.requests[0].key == KEY


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize("secret", ["two words", "line\nbreak", "clé", "a\x07b"])
def test_what_cannot_be_a_key_is_refused_without_showing_it(
    provider: str, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, secret)
    error = refused(provider, base_url="http://localhost:1/v1")

    assert error.code == "config.no_key"
    assert KEY_VARIABLE in error.message
    assert secret not in str(error)


@pytest.mark.parametrize("provider", BOTH)
def test_an_empty_variable_is_one_that_is_not_set(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "  ")

    assert "is not set" in refused(provider, base_url="http://localhost:1/v1").message


@pytest.mark.parametrize("provider", BOTH)
def test_neither_what_a_connector_prints_as_nor_its_identity_has_the_key(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "a-secret-of-mine")

    async def run() -> str:
        connector = made(settings("http://localhost:1/v1", provider))
        await connector.close()
        return f"{connector} {connector!r} {connector.identity} {[repr(one) for one in vars(connector).values()]}"

    assert "a-secret-of-mine" not in asyncio.run(run())


def test_a_query_of_the_address_is_no_part_of_the_identity() -> None:
    found = identity(OPENAI, base_url="https://host.example/v1?key=a-secret-of-mine")

    assert found["base_url"] == "https://host.example/v1"


@pytest.mark.parametrize("provider", BOTH)
def test_a_password_in_the_address_is_refused_without_showing_it(provider: str) -> None:
    error = refused(provider, base_url="https://me:a-secret-of-mine@host.example/v1")

    assert "a-secret-of-mine" not in str(error)
    assert "--judge-api-key-env" in error.hint


@given(
    st.text("abcdefghijklmnopqrstuvwxyz0123456789-_", min_size=8, max_size=60),
    st.text(max_size=30),
    st.text(max_size=30),
)
def test_a_key_is_never_in_what_is_redacted(secret: str, before: str, after: str) -> None:
    assert secret not in Key(secret).redact(f"{before}{secret}{after}{secret}")


@pytest.mark.parametrize(
    "echo",
    ["sk-proj-abc123def456ghi789", "sk-pr***********i789", "sk-proj-abc1…", "Bearer sk-proj-abc123def456ghi789"],
)
def test_a_key_whose_middle_is_covered_up_is_redacted_too(echo: str) -> None:
    shown = Key("sk-proj-abc123def456ghi789").redact(f"Incorrect API key provided: {echo}. Get one at the console.")

    assert "abc1" not in shown
    assert "i789" not in shown
    assert shown.endswith("Get one at the console.")


def test_a_key_of_no_known_form_is_known_by_its_beginning_and_its_end() -> None:
    key = Key("0123456789abcdef0123456789abcdef")

    assert key.redact("Wrong key 012345****") == "Wrong key [key]"
    assert key.redact("Wrong key ***abcdef!") == "Wrong key [key]!"


def test_a_made_up_key_of_a_letter_leaves_the_words_around_it_whole() -> None:
    assert Key("x").redact("The key x is exactly as expected") == "The key [key] is exactly as expected"


def test_without_a_key_what_looks_like_one_is_redacted_all_the_same() -> None:
    assert redact("Bearer abcdefghi and sk-1234567890") == "[key] and [key]"
    assert redact("The task-force asked the bearer of news") == "The task-force asked the bearer of news"
