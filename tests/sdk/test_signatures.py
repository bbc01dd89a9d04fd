"""Test that signatures read from code objects agree with `inspect`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any

import pytest

from evalsi.signatures import EMPTY, arguments_of, is_async


def plain(record: str, flag: bool = True, *, name: str, count: int = 3) -> None: ...


def everything(
    first: int, /, second: str = "b", *rest: int, third: float, fourth: None = None, **more: str
) -> None: ...


def untyped(a, b=1, *, c, d=2):  # type: ignore[no-untyped-def]
    return a, b, c, d


def with_locals(first: int, second: int = 2) -> int:
    third = first + second
    return third


async def waits(record: str) -> None: ...


@functools.wraps(plain)
def wrapper(*args: Any, **kwargs: Any) -> None: ...


class Holder:
    def method(self, record: str, *, ctx: object = None) -> None: ...

    async def slow(self, record: str) -> None: ...

    @classmethod
    def made(cls, record: str) -> None: ...

    @staticmethod
    def still(record: str) -> None: ...

    @staticmethod
    def rest(*args: str) -> None: ...


class Called:
    def __init__(self, limit: int = 1) -> None: ...

    def __call__(self, record: str) -> None: ...


class AsyncCalled:
    async def __call__(self, record: str) -> None: ...


signed: Callable[..., None] = lambda *args: None  # noqa: E731
signed.__signature__ = inspect.signature(plain)  # type: ignore[attr-defined]

CALLABLES: list[Callable[..., Any]] = [
    *(plain, everything, untyped, with_locals, waits, wrapper, signed, lambda: None, lambda *args, **more: None),
    *(Holder().method, Holder.method, Holder().slow, Holder.made, Holder.still, MethodType(Holder.rest, "one")),
    *(Called, Called(), Called.__init__, AsyncCalled()),
    *(functools.partial(plain, flag=False), functools.partial(waits)),
]


@pytest.mark.parametrize("target", CALLABLES, ids=range(len(CALLABLES)))
def test_the_arguments_are_those_of_inspect(target: Callable[..., Any]) -> None:
    found = [
        (one.name, one.kind, *(inspect.Parameter.empty if part is EMPTY else part for part in one[2:]))
        for one in arguments_of(target).values()
    ]
    assert found == [
        (name, one.kind.name.lower(), one.annotation, one.default)
        for name, one in inspect.signature(target).parameters.items()
    ]


@pytest.mark.parametrize("target", CALLABLES, ids=range(len(CALLABLES)))
def test_a_coroutine_function_is_known(target: Callable[..., Any]) -> None:
    assert is_async(target) == (
        inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(type(target).__call__)
    )


def test_some_of_them_are_async_and_some_are_not() -> None:
    assert [is_async(target) for target in (waits, Holder().slow, AsyncCalled(), plain, Holder)] == [
        *(True, True, True),
        *(False, False),
    ]


def test_what_has_no_signature_is_refused_as_inspect_refuses_it() -> None:
    with pytest.raises((TypeError, ValueError)):
        arguments_of(3)  # type: ignore[arg-type]
