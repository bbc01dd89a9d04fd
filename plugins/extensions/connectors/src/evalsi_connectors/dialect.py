"""Owns what is learned of one server: how it takes a schema, and what it calls the most tokens of a reply.

A server that does not know the best way says so with the first call; later ones are put in the way that worked. It must
not know how a call is made.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from enum import IntEnum
from typing import Any, Final, NamedTuple

from evalsi_kernel.broker.ask import Form
from evalsi_kernel.broker.by_content import once_by_content

from .refusal import Refusal
from .strict_schema import fits_strict

NEW_NAME: Final = "max_completion_tokens"
OLD_NAME: Final = "max_tokens"
# A server refuses at once; one that has worked on a call for so long has accepted how it is put.
PROBE_WAIT_S = 1.0
_MAX_SCHEMAS = 1000
_NO_WAIT: Final = nullcontext()
_FORM = re.compile(
    r"(?i)response.?format|json.?schema|json.?object|json.?mode|structured.?output|guided|grammar|additionalproperties|"
    r"output_config|output_format|tool_choice|\btools?\b"
)
_SCHEMA = re.compile(
    r"(?i)invalid[\s_]+(?:json[\s_]+)?schema|schema\s+(?:is|was)\s+(?:invalid|not\s+valid|too)|format\.schema|"
    r"\bstrict\b|grammar"
)
_NUMBER = re.compile(r"(?<![\w.-])\d{2,}(?![\w-]|\.\w)")


class Rung(IntEnum):
    """Ways to ask for a structure, the best first; not every API has each."""

    STRICT = 0
    LOOSE = 1
    OBJECT = 2
    TEXT = 3

    @property
    def form(self) -> Form:
        """What a reply says of it."""
        return _FORMS[self]


_FORMS: Final[Mapping[Rung, Form]] = {
    Rung.STRICT: "json_schema",
    Rung.LOOSE: "json_schema",
    Rung.OBJECT: "json_object",
    Rung.TEXT: "text",
}


class Way(NamedTuple):
    """How one call is put."""

    rung: Rung
    tokens_name: str


class Dialect:
    """What is known of a server so far.

    Args:
        tokens_name: what it most likely calls the most tokens of a reply.
        rungs: the ways that its API has.
    """

    def __init__(self, tokens_name: str, rungs: Sequence[Rung] = tuple(Rung)) -> None:
        self._tokens_name = tokens_name
        self._rungs = rungs
        self._lowest = rungs[0]
        self._of_schema: dict[str, Rung] = {}
        # Whether calls without and with a schema are known to work.
        self._proven = {False: False, True: False}
        self._probes: dict[bool, asyncio.Future[None]] = {}

    def way(self, schema: Mapping[str, Any] | None) -> Way:
        """The best way that is not known to fail."""
        if schema is None:
            return Way(Rung.TEXT, self._tokens_name)
        return Way(max(self._lowest, self._start(schema)), self._tokens_name)

    def next_way(self, way: Way, refusal: Refusal, schema: Mapping[str, Any] | None) -> Way:
        """Learn from a refusal; returns the way to try next, the same one where the refusal is about something else."""
        # A number in it says that the most is too many, and the other name would only hide that.
        if refusal.names(way.tokens_name) and refusal.is_unsupported and not _NUMBER.search(refusal.message):
            self._tokens_name = OLD_NAME if way.tokens_name == NEW_NAME else NEW_NAME
            return way._replace(tokens_name=self._tokens_name)
        if schema is None or way.rung is Rung.TEXT or not _FORM.search(f"{refusal.message} {refusal.param}"):
            return way
        if way.rung < Rung.OBJECT and _SCHEMA.search(f"{refusal.message} {refusal.code}"):
            # The server knows schemas, and does not take this one: no other need suffer for it.
            rung = next(one for one in self._rungs if one > way.rung)
            self._of_schema[_text(schema)] = rung
        else:
            rung = Rung.OBJECT if way.rung < Rung.OBJECT else Rung.TEXT
            self._lowest = max(self._lowest, rung)
        return way._replace(rung=rung)

    def works(self, schema: Mapping[str, Any] | None) -> None:
        """Remember that a call was answered."""
        self._proven[schema is not None] = True

    def turn(self, schema: Mapping[str, Any] | None) -> AbstractAsyncContextManager[None]:
        """Let the first call of a kind go ahead of the others, so that they need not all be refused."""
        kind = schema is not None
        return _NO_WAIT if self._proven[kind] else self._first(kind)

    @asynccontextmanager
    async def _first(self, kind: bool) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        give_up = loop.time() + PROBE_WAIT_S
        while (other := self._probes.get(kind)) is not None and (left := give_up - loop.time()) > 0:
            await asyncio.wait([other], timeout=left)
        if self._proven[kind] or kind in self._probes:
            yield
            return
        mine = self._probes[kind] = loop.create_future()
        try:
            yield
        finally:
            del self._probes[kind]
            mine.set_result(None)

    def _start(self, schema: Mapping[str, Any]) -> Rung:
        text = _text(schema)
        rung = self._of_schema.get(text)
        if rung is None:
            if len(self._of_schema) >= _MAX_SCHEMAS:
                self._of_schema.clear()
            strict = Rung.LOOSE not in self._rungs or fits_strict(schema)
            rung = self._of_schema[text] = Rung.STRICT if strict else Rung.LOOSE
        return rung


@once_by_content
def _text(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, sort_keys=True)
