"""Who is cancelled ends: up to Python 3.11 `asyncio.wait_for` forgets it where what it waits for has just come."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.distributions import ROOT

SOURCES = (
    "kernel",
    "protocol",
    "sdk",
    "cli",
    "plugins/extensions/*",
    "plugins/packs/*",
    "adapters/*",
    "adapters/*/bridge",
)


def modules() -> Iterator[Path]:
    for source in SOURCES:
        yield from ROOT.glob(f"{source}/src/**/*.py")


def test_there_are_modules_to_look_at() -> None:
    assert len(list(modules())) > 300


def test_a_wait_that_is_bounded_is_one_of_asyncio_timeout() -> None:
    calls = [
        f"{module.relative_to(ROOT)}:{node.lineno}"
        for module in modules()
        if "wait_for" in (text := module.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "asyncio.wait_for"
    ]
    assert calls == [], "Use `async with asyncio.timeout(…)`."
