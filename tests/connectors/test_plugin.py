"""The extension as the kernel finds it: its names, its hooks, its prices, and nothing imported before it is used."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pluggy
import pytest

from evalsi_connectors import plugin
from evalsi_connectors.price_files import read_prices
from evalsi_kernel.broker.connector import BatchConnector, ConnectorSettings
from evalsi_kernel.broker.prices import PriceTable
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.extensions import hook_calls
from evalsi_kernel.extensions.hook_calls import price_file
from evalsi_kernel.extensions.installed import default_extensions
from tests.connectors.calling import ANTHROPIC, BOTH, OPENAI, settings

PRICES = Path(plugin.__file__).with_name("prices.toml")


def test_the_extension_provides_what_its_hooks_answer_to() -> None:
    manifest = tomllib.loads(resources.files("evalsi_connectors").joinpath("extension.toml").read_text("utf-8"))

    assert manifest["provides"] == {"connectors": list(BOTH), "price_files": True}
    assert manifest["module"] == plugin.__name__


@pytest.mark.parametrize("provider", BOTH)
def test_the_kernel_gets_a_connector_by_its_name(provider: str) -> None:
    async def run() -> None:
        connector = hook_calls.connector(settings("http://localhost:1/v1", provider), default_extensions())
        await connector.close()
        assert isinstance(connector, BatchConnector)
        assert connector.identity["provider"] == provider

    asyncio.run(run())


def test_another_provider_is_anothers() -> None:
    assert plugin.evalsi_connector(ConnectorSettings("other", "m")) is None
    assert plugin.evalsi_prices("other") is None


def test_the_hooks_carry_pluggys_mark() -> None:
    manager = pluggy.PluginManager("evalsi")
    manager.register(plugin)

    hooks = {hook.name for hook in manager.get_hookcallers(plugin) or ()}
    assert hooks == {"evalsi_connector", "evalsi_prices", "evalsi_read_prices"}


def test_loading_the_extension_imports_no_client() -> None:
    code = "import sys, evalsi_connectors.plugin; print({'httpx2', 'aiohttp', 'anthropic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.strip() == "set()"


def test_the_openai_connector_does_without_anthropics_library() -> None:
    code = (
        "import sys; sys.modules['anthropic'] = None\n"
        "from evalsi_connectors.openai_compatible import OpenAICompatible; print(OpenAICompatible.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.strip() == "OpenAICompatible"


def test_without_anthropics_library_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "find_spec", lambda name: None)
    with pytest.raises(ConfigError) as caught:
        plugin.evalsi_connector(settings("http://localhost:1", ANTHROPIC))

    assert "pip install 'evalsi-connectors[anthropic]'" in caught.value.hint


@pytest.mark.parametrize("provider", BOTH)
def test_the_prices_go_with_both_providers_and_can_be_read(provider: str) -> None:
    path = price_file(provider, default_extensions())

    assert path == PRICES
    table = PriceTable.load([PRICES], read_prices)
    assert table.version
    assert table.as_of


@pytest.mark.parametrize(
    ("provider", "model", "is_known"),
    [
        (ANTHROPIC, "claude-opus-4-5", True),
        (ANTHROPIC, "claude-opus-4-5-20251101", True),
        (ANTHROPIC, "claude-opus-4-51", False),
        (ANTHROPIC, "claude-opus-6", False),
        (ANTHROPIC, "claude-haiku-5-5", False),
        (OPENAI, "gpt-5-mini", True),
        (OPENAI, "gpt-5-mini-2025-08-07", True),
        (OPENAI, "gpt-5-mini-fast", False),
        (OPENAI, "gpt-4o", False),
        (OPENAI, "my-judge", False),
    ],
)
def test_a_price_stands_for_a_model_and_its_dated_versions_and_for_no_other(
    provider: str, model: str, is_known: bool
) -> None:
    assert (PriceTable.load([PRICES], read_prices).price(provider, model) is not None) == is_known


def test_reading_from_a_cache_is_never_dearer_than_the_prompt_and_writing_never_cheaper() -> None:
    models = tomllib.loads(PRICES.read_text("utf-8"))["models"]

    for name, price in models.items():
        assert price["input"] > 0, name
        assert price.get("cache_read", price["input"]) <= price["input"], name
        assert price.get("cache_write", price["input"]) >= price["input"], name
