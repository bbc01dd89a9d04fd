"""A target of a spec asked from a test: opened as a run opens it, asked, and let go of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.checking.toml_tables import problems_of
from evalsi_kernel.extensions.hook_calls import connector, open_source, open_target, target_options
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.target import Generated, Target, TargetInput, TargetServices, TargetSettings

T = TypeVar("T")
EXTENSIONS = default_extensions()
MOST_TRIES = 20


def problems(kind: str, **options: Any) -> list[str]:
    """What the spec's reader says of a target's keys, each as its place and what is wrong there."""
    found = problems_of(target_options(kind, EXTENSIONS), options, "spec.target")
    return [f"{one.at} {one.what}. {one.hint}".strip() for one in found]


@asynccontextmanager
async def opened(kind: str, folder: Path, *, at_once: int = 8, **options: Any) -> AsyncIterator[Target]:
    """The target, until the block is left."""
    assert problems(kind, **options) == []
    lent = TargetServices(lambda model: connector(model, EXTENSIONS), lambda uri: open_source(uri, EXTENSIONS))
    target = open_target(TargetSettings(kind, options, folder, at_once), lent, EXTENSIONS)
    try:
        yield target
    finally:
        await target.close()


def with_target(
    kind: str, folder: Path, use: Callable[[Target], Awaitable[T]], *, at_once: int = 8, **options: Any
) -> T:
    """What comes of using a target."""

    async def used() -> T:
        async with opened(kind, folder, at_once=at_once, **options) as target:
            return await use(target)

    return asyncio.run(used())


async def ask(target: Target, text: Any = "hello", trial: int = 1, **fields: Any) -> Generated:
    """One call about a record whose input this is."""
    return await target.generate(TargetInput({"id": f"of {text}", "input": text, **fields}, trial))


async def ask_until_settled(target: Target, text: Any, trial: int = 1) -> Generated:
    """Call again as long as the target says that the same call may be made at once, as a run does."""
    for _ in range(MOST_TRIES):
        try:
            return await ask(target, text, trial)
        except ProviderError as error:
            if error.error.retry != "same":
                raise
    raise AssertionError("it did not settle")


async def failure(call: Awaitable[Any]) -> ProviderError:
    """How a call fails."""
    with pytest.raises(ProviderError) as caught:
        await call
    return caught.value


def output_of(
    kind: str, folder: Path, text: Any = "hello", record: Mapping[str, Any] | None = None, **options: Any
) -> Any:
    """The output for one record."""
    return with_target(kind, folder, lambda target: ask(target, text, **(record or {})), **options).output


def failure_of(
    kind: str, folder: Path, text: Any = "hello", record: Mapping[str, Any] | None = None, **options: Any
) -> ProviderError:
    """How the call about one record fails."""
    return with_target(kind, folder, lambda target: failure(ask(target, text, **(record or {}))), **options)
