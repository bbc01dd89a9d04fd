"""One batch as a run sees it: who waits for which of its replies, what came, and whether all of it has been used.

It must not know a provider, a file or a clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from evalsi_kernel.broker.ask import NO_TOKENS, UNKNOWN_TOKENS, Ask, Reply
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.broker.retries import renewed

from .store import BatchFile

End = Reply | ProviderError
MAYBE_BILLED = "provider.bad_reply"
"""An ask of which nothing is heard may have been worked on; no provider bills one that failed in another way."""


class Batch:
    """The asks of a batch, each with its end once it came.

    Args:
        file: what is noted of it.
        is_found: an earlier run, or another process, handed it in.

    Attributes:
        is_read: the ends of all asks came.
        handed_in: set once it is known whether the provider has it.
        error: why it is followed no further; None while it is.
        used: set once every ask was used to its end, so that nothing is lost with the file.
        task: follows it.
    """

    def __init__(self, file: BatchFile, *, is_found: bool) -> None:
        self.file = file
        self.is_found = is_found
        self.is_read = False
        self.handed_in = asyncio.Event()
        self.used = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        self.error: ProviderError | None = None
        self._untold = dict(file.asks)
        self._unused = set(file.asks)
        self._asked: set[str] = set()
        self._waiting: dict[str, asyncio.Future[Reply]] = {}
        self._ends: dict[str, End] = {}

    @property
    def untold(self) -> Mapping[str, Ask]:
        """The asks of which no end came yet."""
        return dict(self._untold)

    @property
    def unused(self) -> Mapping[str, End]:
        """The ends that came and were not used."""
        return dict(self._ends)

    def is_asked(self, custom_id: str) -> bool:
        """Whether a question of this run needs the ask still."""
        return custom_id in self._asked

    def wait_for(self, custom_id: str, future: asyncio.Future[Reply]) -> None:
        """Have a future told the end of an ask."""
        self._asked.add(custom_id)
        end = self._ends.get(custom_id, self.error)
        if end is None:
            self._waiting[custom_id] = future
        else:
            tell(future, end)

    def take(self, custom_id: str, end: End) -> None:
        """Take in how an ask ended."""
        if isinstance(end, ProviderError) and end.tokens == UNKNOWN_TOKENS and end.error.code != MAYBE_BILLED:
            end.tokens = NO_TOKENS
        self._untold.pop(custom_id, None)
        self._ends[custom_id] = end
        future = self._waiting.pop(custom_id, None)
        if future is not None:
            tell(future, end)

    def fail(self, error: ProviderError) -> None:
        """End all asks that have no end with one error; whoever asks later is told it too."""
        self.error = error
        for future in self._waiting.values():
            tell(future, error)
        self._waiting.clear()

    def give_back(self) -> dict[str, asyncio.Future[Reply]]:
        """Who waits, each of whom must be told elsewhere from now on."""
        waiting, self._waiting = self._waiting, {}
        return waiting

    def finish(self, custom_id: str) -> None:
        """Take in that nobody needs an ask's end any more."""
        self._asked.discard(custom_id)
        self._unused.discard(custom_id)
        self._ends.pop(custom_id, None)
        if not self._unused:
            self.used.set()


def tell(future: asyncio.Future[Reply], end: End) -> None:
    """Tell a future an end, unless nobody waits for it any more."""
    if future.done():
        return
    if isinstance(end, Reply):
        future.set_result(end)
    else:
        # Many may be told of one fault, and each raises an exception of its own.
        future.set_exception(renewed(end, end.error.message, end.calls, end.tokens))
