"""A broker that cannot be made whole lets go of what was made of it."""

from __future__ import annotations

import asyncio
from importlib import import_module
from pathlib import Path

import pytest

from evalsi_kernel.broker.settings import EMBED, PRIMARY, BrokerSettings, ModelSettings
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.evaluation.broker_opening import open_broker
from evalsi_kernel.extensions.installed import load_extensions
from tests.kernel.extension_site import Site

CONNECTORS = """
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.hooks import hookimpl

closed = []


class Made:
    def __init__(self, settings):
        self.identity = {"provider": settings.provider, "model": settings.model, "kind": settings.kind}

    async def close(self):
        closed.append(self.identity)


@hookimpl
def evalsi_connector(settings):
    if settings.provider == "failing":
        raise ConfigError("There is no key.", "Set one.", code="config.no_key")
    return Made(settings)


@hookimpl
def evalsi_prices(provider):
    return None
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    site = Site(tmp_path / "site")
    monkeypatch.syspath_prepend(str(site.folder))
    return site


@pytest.mark.parametrize(
    ("second", "batch", "told"),
    [
        ("failing", False, "There is no key."),
        ("fine", True, "The provider 'fine' has no batches."),
    ],
)
def test_the_connectors_that_were_made_are_closed_where_the_rest_cannot_be(
    site: Site, tmp_path: Path, second: str, batch: bool, told: str
) -> None:
    package = site.install("two", provides='connectors = ["fine", "failing"]', code=CONNECTORS)
    first, other = ModelSettings("m", "fine"), ModelSettings("m", second)
    roles = {EMBED: first, PRIMARY: other}
    settings = BrokerSettings(roles, use_cache=False, batch=batch)
    opening = open_broker(settings, load_extensions(tmp_path), keep_replies=False, folder=None, on_note=lambda _: None)
    with pytest.raises(ConfigError) as caught:
        asyncio.run(opening)
    assert told in str(caught.value)
    kinds = [one["kind"] for one in import_module(f"{package}.plugin").closed]
    assert kinds == (["embed", "judge"] if batch else ["embed"])


def test_where_replies_cannot_be_written_down_nothing_stays_open(site: Site, tmp_path: Path) -> None:
    package = site.install("one", provides='connectors = ["fine"]', code=CONNECTORS)
    settings = BrokerSettings({PRIMARY: ModelSettings("m", "fine")}, use_cache=False)
    opening = open_broker(
        settings,
        load_extensions(tmp_path),
        keep_replies=True,
        folder=tmp_path / "absent",
        on_note=lambda _: None,
    )
    with pytest.raises(Exception, match="Replies cannot be written"):
        asyncio.run(opening)
    assert len(import_module(f"{package}.plugin").closed) == 1
