"""Owns what the batches of both APIs have in common: rows of JSON, and the join of results with what was asked.

It must not know the form of any row.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final

from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.broker.reply_body import MAX_REPLY_BYTES, ReplyTooLarge

from .bodies import read_json
from .chat_reply import bad_reply
from .failure import failure
from .who import Who

PRICE_FACTOR: Final = 0.5
"""Both providers take half the price for what is asked in a batch."""
PAGE: Final = 100
"""So many batches stand on a page of a list; both APIs allow no more."""
MAX_ROW_BYTES: Final = 2**20
"""Of a result on average; the longest replies of today's models take about half."""
MAX_STRAY_LINES: Final = 10_000
"""Lines of a file of results beyond one for each ask."""
ReadRow = Callable[[Mapping[str, Any], Ask], Reply]


async def json_lines(chunks: AsyncIterator[bytes], asks: int) -> AsyncIterator[Mapping[str, Any]]:
    """Yield the objects on the lines of a file of results.

    A line that holds no object is passed over, and what it was about counts as missing.

    Args:
        chunks: of the file.
        asks: how many results it should hold.

    Raises:
        ReplyTooLarge: a line is longer than any reply may be, or there are far more lines than results.
    """
    parts: list[bytes] = []
    size, lines_left = 0, MAX_STRAY_LINES + asks
    async for chunk in chunks:
        first, *others = chunk.split(b"\n")
        size += len(first)
        parts.append(first)
        if others:
            rest = others.pop()
            # Empty lines are dropped by `filter`, without a step of the loop for each.
            for line in filter(None, (b"".join(parts), *others)):
                lines_left -= 1
                if lines_left < 0:
                    raise ReplyTooLarge(file_limit_bytes(asks))
                value, _ = read_json(line)
                if isinstance(value, Mapping):
                    yield value
            parts, size = [rest], len(rest)
        if size > MAX_REPLY_BYTES:
            raise ReplyTooLarge(MAX_REPLY_BYTES)
    value, _ = read_json(b"".join(parts))
    if isinstance(value, Mapping):
        yield value


def file_limit_bytes(asks: int) -> int:
    """The most that a file of so many results may hold."""
    return MAX_REPLY_BYTES + asks * MAX_ROW_BYTES


def listed_rows(body: Mapping[str, Any], who: Who) -> list[Mapping[str, Any]]:
    """The rows of a page of a list; raises `ProviderError` for what is no list."""
    rows = body.get("data")
    if not isinstance(rows, list):
        raise bad_reply(who, f"{who} listed batches in a form that is none of its API.")
    return [row for row in rows if isinstance(row, Mapping)]


class Join:
    """Joins the rows of results with the asks, by their custom ids.

    Args:
        asks: what was handed in.
        read: reads the reply of a row, or raises the `ProviderError` that stands in it.
        who: the model that was asked.
    """

    def __init__(self, asks: Mapping[str, Ask], read: ReadRow, who: Who) -> None:
        self._left = dict(asks)
        self._read = read
        self._who = who

    def told(self, row: Mapping[str, Any]) -> tuple[str, Reply | ProviderError] | None:
        """What a row tells; None for a row of nobody, or a second one of somebody."""
        name = row.get("custom_id")
        ask = self._left.pop(name, None) if isinstance(name, str) else None
        if ask is None or not isinstance(name, str):
            return None
        try:
            return name, self._read(row, ask)
        except ProviderError as error:
            return name, error

    def missing(self, batch_id: str) -> list[tuple[str, ProviderError]]:
        """An error for each ask that no row told of."""
        message = f"{self._who} tells nothing of this request in the results of the batch {batch_id}."
        return [(name, failure("provider.bad_reply", message, "Ask again.")) for name in self._left]


def not_done(who: Who, batch_id: str, how: str) -> ProviderError:
    """The error for an ask that a batch ended without working on: `expired` or `canceled`."""
    if how == "expired":
        message = f"{who} did not get to this request before the batch {batch_id} ran out of time."
        return failure("provider.timeout", message, "Ask again, or without --judge-batch.")
    return failure("provider.failed", f"The batch {batch_id} of {who} was cancelled before this request.", "Ask again.")
