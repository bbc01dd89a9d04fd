"""Batches of Anthropic's API, through its SDK: messages go in together, lines of results come out.

It must not know when anyone asks after a batch.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final

import anthropic

from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.connector import BatchState, ListedBatch, ProviderError
from evalsi_kernel.broker.reply_body import ReplyTooLarge

from .batch_rows import PAGE, Join, file_limit_bytes, json_lines, listed_rows, not_done
from .bodies import count_or_none
from .chat_reply import bad_reply, read_object
from .connection import connection_error
from .dialect import Rung
from .failure import failure
from .messages_reply import message_of
from .messages_request import messages_request, version_for
from .refusal import refusal_of
from .status import refused, status_error
from .transport import FAULTS, UPLOAD_TIMEOUT_S, Answer, Turns, download, larger_reply
from .unsupported import refused_setting, unsupported_setting
from .who import Who

MAX_ASKS: Final = 100_000
SETTINGS: Final = (("temperature", "temperature"), ("effort", "effort"), ("output_config", "effort"))
# The HTTP status that an error of a row would have had by itself.
_STATUS: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
}
_FAILED: Final = 500


class AnthropicBatches:
    """The batches of one model.

    Args:
        client: the SDK.
        turns: let calls be made.
        who: the model.
        rung: how a request's structure is asked for.
    """

    def __init__(self, client: anthropic.AsyncAnthropic, turns: Turns, who: Who, rung: Callable[[Ask], Rung]) -> None:
        self._raw = client.messages.batches.with_raw_response
        self._streamed = client.messages.batches.with_streaming_response
        self._turns = turns
        self._who = who
        self._rung = rung

    async def submit(self, asks: Mapping[str, Ask], tag: str) -> str:
        """Start a batch; returns its id. The API keeps no tags."""
        for ask in asks.values():
            refuse_seed(ask, self._who)
        rows: list[Any] = [
            {"custom_id": name, "params": messages_request(self._who.model, ask, self._rung(ask))}
            for name, ask in asks.items()
        ]
        version = version_for([row["params"] for row in rows])
        send = partial(self._raw.create, requests=rows, timeout=UPLOAD_TIMEOUT_S, **version)
        batch = await self._object(send, timeout_s=UPLOAD_TIMEOUT_S)
        if not isinstance(batch_id := batch.get("id"), str):
            raise bad_reply(self._who, f"{self._who} started a batch without telling its id.")
        return batch_id

    async def recent(self, since_s: float) -> list[ListedBatch]:
        """The batches that were made since then, of this model and of others; the API keeps no tags."""
        found: list[ListedBatch] = []
        after: dict[str, Any] = {}
        while True:
            body = await self._object(partial(self._raw.list, limit=PAGE, **after))
            listed = [one for row in listed_rows(body, self._who) if (one := _listed(row)) is not None]
            found += [one for one in listed if one.created_s >= since_s]
            if body.get("has_more") is not True or not listed or listed[-1].created_s < since_s:
                return found
            after = {"after_id": listed[-1].batch_id}

    async def state(self, batch_id: str) -> BatchState:
        """How far a batch is."""
        batch = await self._object(partial(self._raw.retrieve, batch_id))
        counts = _counts(batch)
        total = sum(counts.values())
        word = str(batch.get("processing_status"))
        return BatchState(word == "ended", total, total - counts.get("processing", 0), word)

    async def results(self, batch_id: str, asks: Mapping[str, Ask]) -> AsyncIterator[tuple[str, Reply | ProviderError]]:
        """What became of each ask, once the batch has ended."""
        state = await self.state(batch_id)
        if not state.has_ended:
            word = state.word
            raise failure("provider.failed", f"The batch {batch_id} of {self._who} has not ended ({word}).", "Wait.")
        join = Join(asks, lambda row, ask: self._reply(batch_id, row, ask), self._who)
        try:
            async for row in json_lines(self._lines(batch_id, file_limit_bytes(len(asks))), len(asks)):
                if told := join.told(row):
                    yield told
        except ReplyTooLarge as cause:
            raise connection_error(cause, self._who) from cause
        for missing in join.missing(batch_id):
            yield missing

    async def cancel(self, batch_id: str) -> None:
        """Have no further ask worked on."""
        await self._object(partial(self._raw.cancel, batch_id))

    async def _lines(self, batch_id: str, limit_bytes: int) -> AsyncIterator[bytes]:
        try:
            opening = self._streamed.results(batch_id)
            with larger_reply(limit_bytes):
                response = await opening.__aenter__()
            try:
                async for chunk in download(response.iter_bytes(), self._turns.timeout_s):
                    yield chunk
            finally:
                await opening.__aexit__(None, None, None)
        except anthropic.APIStatusError as refusal:
            answer = refusal.response
            raise status_error(answer.status_code, answer.headers, await answer.aread(), self._who) from refusal
        except (*FAULTS, anthropic.APIConnectionError) as cause:
            raise connection_error(cause, self._who) from cause

    async def _object(self, call: Callable[[], Awaitable[Any]], timeout_s: float | None = None) -> Mapping[str, Any]:
        answer = await self._turns.take(partial(whole_answer, call), timeout_s)
        if not answer.is_success:
            raise status_error(answer.status, answer.headers, answer.content, self._who)
        return read_object(answer.content, answer.headers, self._who)

    def _reply(self, batch_id: str, row: Mapping[str, Any], ask: Ask) -> Reply:
        result = row.get("result")
        how = result.get("type") if isinstance(result, Mapping) else None
        if not isinstance(result, Mapping) or how not in ("succeeded", "errored", "canceled", "expired"):
            raise bad_reply(self._who, f"{self._who} answered a request of a batch without a result.")
        if how in ("canceled", "expired"):
            raise not_done(self._who, batch_id, how)
        if how == "errored":
            raise self._row_error(result.get("error"), ask)
        message = result.get("message")
        return message_of(message if isinstance(message, Mapping) else {}, self._who, self._rung(ask).form)

    def _row_error(self, error: object, ask: Ask) -> ProviderError:
        refusal = refusal_of(error if isinstance(error, Mapping) else {})
        status = _STATUS.get(refusal.code.split(" ")[0], _FAILED)
        if status == 400 and (found := refused_setting(ask, refusal, self._who, SETTINGS)):
            return found
        said = self._who.quoted(refusal.message or refusal.code).rstrip(".")
        return refused(status, refusal, f'{self._who} failed in a batch ({refusal.code}): "{said}".', {}, self._who)


def _counts(batch: Mapping[str, Any]) -> dict[str, int]:
    counts = batch.get("request_counts")
    return {name: count_or_none(count) or 0 for name, count in counts.items()} if isinstance(counts, dict) else {}


def _listed(batch: Mapping[str, Any]) -> ListedBatch | None:
    """A batch of a list; None for one of which it is not told when it was made."""
    try:
        created_s = datetime.fromisoformat(str(batch.get("created_at"))).timestamp()
    except ValueError:
        return None
    return ListedBatch(str(batch.get("id")), created_s, sum(_counts(batch).values()), None)


def refuse_seed(ask: Ask, who: Who) -> None:
    """Raise the error for an ask with a seed, which the API does not have."""
    if ask.seed is not None:
        raise unsupported_setting(who, "seed", "seed", ask.seed, "its API has none")


async def whole_answer(call: Callable[[], Awaitable[Any]]) -> Answer:
    """The answer that a call of the SDK brings, whatever its status.

    Args:
        call: of a method of the SDK's `with_raw_response`.
    """
    try:
        answer = (await call()).http_response
    except anthropic.APIStatusError as refusal:
        answer = refusal.response
    return Answer(answer.status_code, answer.headers, await answer.aread())
