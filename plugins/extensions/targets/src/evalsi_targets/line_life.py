"""One life of a process that talks in JSON lines: what it is asked, what it answers, and that it broke.

It must not know what is done once it has.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

from .child_process import ChildProcess, Program, ending
from .leash import Leash
from .line_stream import LineStream, TooLong
from .quoting import excerpt, last_lines

MAX_LINE_BYTES = 32 * 2**20
_LOOK_S = 0.002


class Asked(NamedTuple):
    """A call in flight.

    Args:
        key: tells the same call again.
        since_s: when it was made, by the loop's clock.
        answer: of it.
    """

    key: Hashable
    since_s: float
    answer: asyncio.Future[dict[str, Any]]

    def fail(self, error: Exception) -> None:
        """Have it fail, unless nobody waits for it any more."""
        if not self.answer.done():
            self.answer.set_exception(error)


class Life:
    """The process from its start to its end.

    Args:
        on_broken: gets this life, the calls that were in flight, at least one, and a phrase that says what happened.
        tells_ready: its first line has no id and says whether it is ready.

    Attributes:
        waiting: the calls in flight, by their ids.
        ready: what its first line says; None where it ended before it wrote one.
        up: done once it has started, or will not: it tells so with its first line, or else begins to read.
        up_s: when it had, by the loop's clock, as far as that can be seen.
        is_over: nothing can be asked of it any more.
        answers: how many calls it has answered.
    """

    def __init__(self, on_broken: Callable[[Life, list[Asked], str], None], *, tells_ready: bool) -> None:
        self.waiting: dict[str, Asked] = {}
        self.ready: asyncio.Future[dict[str, Any] | None] = asyncio.get_running_loop().create_future()
        self.up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.up_s = 0.0
        self.is_over = False
        self.answers = 0
        self._on_broken = on_broken
        self._tells_ready = tells_ready
        self._lines = LineStream(MAX_LINE_BYTES)
        self._number = 0
        self._child: ChildProcess

    async def start(self, program: Program, leash: Leash) -> None:
        """Start it on a leash; raises `OSError` where it cannot be."""
        self._child = await leash.start(program, self._take, is_echoed=True)
        self._child.gone.add_done_callback(self._ended)

    @property
    def is_unasked(self) -> bool:
        """Whether nothing was asked of it."""
        return not self._number

    def ask(self, body: Mapping[str, Any], asked: Asked) -> str:
        """Write a call; returns its id."""
        self._number += 1
        number = str(self._number)
        self.waiting[number] = asked
        line = json.dumps({"id": number, **body}, ensure_ascii=False).encode() + b"\n"
        self._child.write(line)
        if not self.up.done() and self._number == 1:
            self._look(len(line))
        return number

    def over(self) -> list[Asked]:
        """End it at once; returns the calls that were in flight."""
        self.is_over = True
        self._is_up()
        asked = list(self.waiting.values())
        self.waiting.clear()
        self._child.kill()
        return asked

    async def stop(self) -> None:
        """Let it leave, and end it where it does not."""
        self.is_over = True
        self._is_up()
        self.waiting.clear()
        # Who broke a call off may be gone from those that wait, and the process still works on it.
        await self._child.stop(is_busy=self.answers < self._number)

    def ending(self) -> str:
        """How it ended, and what it wrote to stderr last."""
        said = last_lines(self._child.stderr_tail)
        how = ending(self._child.gone.result()) if self._child.gone.done() else "ended"
        return f'{how}, and wrote "{said}"' if said else how

    def _take(self, data: bytes) -> None:
        if self.is_over:
            return
        try:
            for line in self._lines.fed(data):
                if line.strip():
                    self._take_line(line)
        except TooLong:
            self._break(f"wrote a line of more than {MAX_LINE_BYTES // 2**20} MiB")

    def _take_line(self, line: bytes) -> None:
        if self.is_over:
            return
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            self._break(f"wrote a line to stdout that is no answer: {excerpt(line)}")
            return
        if self._tells_ready and not self.ready.done():
            self.up_s = asyncio.get_running_loop().time()
            self._is_up()
            self.ready.set_result(value)
            return
        asked = self.waiting.pop(str(value.pop("id", "")), None)
        if asked is None:
            self._break(f"wrote an answer to no call that waits for one: {excerpt(line)}")
            return
        self._is_up()
        self.answers += 1
        if not asked.answer.done():
            asked.answer.set_result(value)

    def _look(self, sent_bytes: int) -> None:
        """See whether it has begun to read its first line, now and again; until then it starts."""
        if self.up.done():
            return
        self.up_s = asyncio.get_running_loop().time()
        if self._child.unread_bytes() < sent_bytes:
            self._is_up()
        else:
            asyncio.get_running_loop().call_later(_LOOK_S, self._look, sent_bytes)

    def _is_up(self) -> None:
        if not self.up.done():
            self.up.set_result(None)

    def _ended(self, _: asyncio.Future[int]) -> None:
        if not self.ready.done():
            self.ready.set_result(None)
        self._break(self.ending())

    def _break(self, what: str) -> None:
        if self.is_over:
            return
        asked = self.over()
        if asked:
            self._on_broken(self, asked, what)
