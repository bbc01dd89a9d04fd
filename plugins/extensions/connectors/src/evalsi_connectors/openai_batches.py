"""Batches of OpenAI's API: a file of requests goes in, files of replies and of errors come out.

It must not know when anyone asks after a batch.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.connector import BatchState, ListedBatch, ProviderError
from evalsi_kernel.broker.reply_body import ReplyTooLarge

from .batch_rows import PAGE, Join, file_limit_bytes, json_lines, listed_rows, not_done
from .bodies import count_or_none
from .chat_reply import bad_reply, read_object, reply_of
from .chat_request import chat_request
from .connection import connection_error
from .dialect import Dialect
from .failure import failure
from .refusal import Refusal, refusal_of
from .status import refused, status_error
from .transport import Answer, ApiClient
from .unsupported import refused_setting
from .who import Who

MAX_ASKS: Final = 50_000
SETTINGS: Final = (("temperature", "temperature"), ("seed", "seed"), ("reasoning_effort", "effort"))
_TAG: Final = "evalsi"
_ENDPOINT: Final = "/v1/chat/completions"
_ENDED: Final = ("completed", "failed", "expired", "cancelled")
# That the account waits for too many tokens already is no fault of the requests.
_FULL: Final = "token_limit_exceeded"


class OpenAIBatches:
    """The batches of one model.

    Args:
        api: makes the calls.
        who: the model.
        dialect: how its server takes a request.
    """

    def __init__(self, api: ApiClient, who: Who, dialect: Dialect) -> None:
        self._api = api
        self._who = who
        self._dialect = dialect

    async def submit(self, asks: Mapping[str, Ask], tag: str) -> str:
        """Upload the asks and start a batch, with a tag unless it is ""; returns its id."""
        content = b"".join(map(self._line, asks, asks.values()))
        uploaded = await self._api.upload("/files", "requests.jsonl", content, {"purpose": "batch"})
        body: dict[str, Any] = {
            "input_file_id": self._id(self._object(uploaded), "took a file"),
            "endpoint": _ENDPOINT,
            "completion_window": "24h",
        }
        if tag:
            body["metadata"] = {_TAG: tag}
        started = await self._api.post("/batches", json.dumps(body).encode())
        return self._id(self._object(started), "started a batch")

    async def recent(self, since_s: float) -> list[ListedBatch]:
        """The batches that were made since then, of this model and of others."""
        found: list[ListedBatch] = []
        after = ""
        while True:
            body = self._object(await self._api.get(f"/batches?limit={PAGE}{after}"))
            rows = [row for row in listed_rows(body, self._who) if count_or_none(row.get("created_at")) is not None]
            found += [_listed(row) for row in rows if row["created_at"] >= since_s]
            if body.get("has_more") is not True or not rows or rows[-1]["created_at"] < since_s:
                return found
            after = f"&after={_part(str(rows[-1].get('id')))}"

    async def state(self, batch_id: str) -> BatchState:
        """How far a batch is."""
        batch = await self._batch(batch_id)
        counts = batch.get("request_counts")
        counts = counts if isinstance(counts, Mapping) else {}
        done = sum(count_or_none(counts.get(name)) or 0 for name in ("completed", "failed"))
        word = str(batch.get("status"))
        return BatchState(word in _ENDED, count_or_none(counts.get("total")) or 0, done, word)

    async def results(self, batch_id: str, asks: Mapping[str, Ask]) -> AsyncIterator[tuple[str, Reply | ProviderError]]:
        """What became of each ask, once the batch has ended."""
        batch = await self._batch(batch_id)
        word = batch.get("status")
        if word not in _ENDED:
            raise failure("provider.failed", f"The batch {batch_id} of {self._who} has not ended ({word}).", "Wait.")
        if word == "failed":
            for name in asks:
                yield name, self._refused(batch_id, batch)
            return
        join = Join(asks, lambda row, ask: self._reply(batch_id, row, ask), self._who)
        for kind in ("output_file_id", "error_file_id"):
            if isinstance(file_id := batch.get(kind), str):
                lines = self._api.stream(f"/files/{_part(file_id)}/content", file_limit_bytes(len(asks)))
                try:
                    async for row in json_lines(lines, len(asks)):
                        if told := join.told(row):
                            yield told
                except ReplyTooLarge as cause:
                    raise connection_error(cause, self._who) from cause
        for missing in join.missing(batch_id):
            yield missing

    async def cancel(self, batch_id: str) -> None:
        """Have no further ask worked on."""
        self._object(await self._api.post(f"/batches/{_part(batch_id)}/cancel", b""))

    def _line(self, name: str, ask: Ask) -> bytes:
        body = chat_request(self._who.model, ask, self._dialect.way(ask.schema))
        row = {"custom_id": name, "method": "POST", "url": _ENDPOINT, "body": body}
        return json.dumps(row).encode() + b"\n"

    async def _batch(self, batch_id: str) -> Mapping[str, Any]:
        return self._object(await self._api.get(f"/batches/{_part(batch_id)}"))

    def _object(self, answer: Answer) -> Mapping[str, Any]:
        if answer.is_success:
            return read_object(answer.content, answer.headers, self._who)
        error = status_error(answer.status, answer.headers, answer.content, self._who)
        if answer.status in (404, 405) and not self._who.address.is_home:
            raise failure(
                "provider.unsupported",
                f"{self._who} seems to have no batches, or not this one ({answer.status}).",
                "Leave out --judge-batch.",
                is_final=True,
            ) from error
        raise error

    def _id(self, body: Mapping[str, Any], what: str) -> str:
        name = body.get("id")
        if not isinstance(name, str):
            raise bad_reply(self._who, f"{self._who} {what} without telling its id.")
        return name

    def _refused(self, batch_id: str, batch: Mapping[str, Any]) -> ProviderError:
        """The error for all asks of a batch that was refused as a whole."""
        errors = batch.get("errors")
        entries = errors.get("data") if isinstance(errors, Mapping) else None
        entry = entries[0] if isinstance(entries, list) and entries else None
        first = refusal_of(entry) if isinstance(entry, Mapping) else None
        said = self._who.quoted(first.message or first.code) if first else "it does not say why"
        message = f"{self._who} refused the batch {batch_id}: {said.rstrip('.')}."
        if first and _FULL in first.code:
            return failure("provider.rate_limited", message, "Wait until other batches have ended.")
        return failure("provider.bad_request", message, "Try without --judge-batch, which names each fault by itself.")

    def _reply(self, batch_id: str, row: Mapping[str, Any], ask: Ask) -> Reply:
        error, response = row.get("error"), row.get("response")
        if isinstance(error, Mapping):
            code = str(error.get("code"))
            if code.startswith("batch_"):
                raise not_done(self._who, batch_id, code.removeprefix("batch_"))
            raise self._row_error(500, refusal_of(error), ask)
        body = response.get("body") if isinstance(response, Mapping) else None
        if not isinstance(response, Mapping) or not isinstance(body, Mapping):
            raise bad_reply(self._who, f"{self._who} answered a request of a batch without a body.")
        status = count_or_none(response.get("status_code")) or 200
        if status != 200:
            raise self._row_error(status, refusal_of(body), ask)
        return reply_of(body, {}, self._who, self._dialect.way(ask.schema).rung.form)

    def _row_error(self, status: int, refusal: Refusal, ask: Ask) -> ProviderError:
        if status in (400, 422) and (found := refused_setting(ask, refusal, self._who, SETTINGS)):
            return found
        said = self._who.quoted(refusal.message or refusal.code).rstrip(".")
        return refused(status, refusal, f'{self._who} answered {status} in a batch: "{said}".', {}, self._who)


def _listed(row: Mapping[str, Any]) -> ListedBatch:
    counts, metadata = row.get("request_counts"), row.get("metadata")
    total = count_or_none(counts.get("total")) if isinstance(counts, Mapping) else None
    tag = metadata.get(_TAG) if isinstance(metadata, Mapping) else None
    return ListedBatch(str(row.get("id")), row["created_at"], total or 0, str(tag or ""))


def _part(name: str) -> str:
    """An id as one part of a path, whatever is in it."""
    return quote(name, safe="")
