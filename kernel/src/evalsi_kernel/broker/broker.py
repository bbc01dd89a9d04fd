"""Answer the model requests of packs and book each call on the evaluator and record that made it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.embedder import Embedder
from evalsi_kernel.broker.judge import REF_CHARS, Judge, Resolved, Unresolved
from evalsi_kernel.broker.judge_cache import JudgeCache
from evalsi_kernel.broker.judge_key import JudgeKey
from evalsi_kernel.broker.ledger import Entry, Ledger
from evalsi_kernel.broker.model_client import NOTHING, CallFailed
from evalsi_kernel.broker.preview import Preview
from evalsi_kernel.broker.prices import PriceTable, input_tokens_bound
from evalsi_kernel.broker.reply_log import ReplyLog
from evalsi_kernel.broker.settings import EMBED
from evalsi_kernel.broker.shared_calls import SharedCalls
from evalsi_kernel.broker.verdict import VerdictError, check_schema
from evalsi_kernel.broker.wire import Asker, BadAsk, ask_of, asker_of, requests_of, role_of, texts_of
from evalsi_kernel.supervision.connection import RequestFailed, not_bound
from evalsi_protocol.errors import WireError


class Broker:
    """Answers `judge.ask` and `embed.ask`.

    Args:
        judges: role → judge model.
        embedder: the embedding model; None where there is none.
        cache: the reply cache, closed at the end; None where there is none.
        ledger: records the usage of every call.
        prices: the price table that costs are computed from.
        replies: log of raw replies; None keeps none.
        preview: counts calls instead of making them (dry run); None makes them.

    Attributes:
        error: why raw replies are no longer logged; None while they are.
        over_budget: number of questions that the budget did not cover.
        questions: number of questions put to judges.
        unanswered: number of questions that got no reply.
        truncated: number of replies that were cut off at `max_tokens`.
        filtered: number of questions that the model or a content filter refused.
    """

    def __init__(
        self,
        judges: Mapping[str, Judge],
        embedder: Embedder | None,
        *,
        cache: JudgeCache | None,
        ledger: Ledger,
        prices: PriceTable,
        replies: ReplyLog | None = None,
        preview: Preview | None = None,
    ) -> None:
        self.judges = judges
        self.embedder = embedder
        self.ledger = ledger
        self.prices = prices
        self.replies = replies
        self.preview = preview
        self.error: OSError | None = None
        self.over_budget = self.questions = self.unanswered = 0
        self.truncated = self.filtered = 0
        self._cache = cache
        self._shared_calls: SharedCalls[tuple[str, str], Resolved] = SharedCalls()

    async def answer(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        """Handle a request of a pack.

        Raises:
            RequestFailed: the request is invalid, or no model is configured for it.
        """
        try:
            if method == "judge.ask" and self.judges:
                return await self._judge(body)
            if method == "embed.ask" and self.embedder is not None:
                return await self._embed(self.embedder, body)
        except BadAsk as bad:
            raise RequestFailed(bad.error) from bad
        return await not_bound(method, body)

    @property
    def broken(self) -> WireError | None:
        """The error that stopped all calls to a model, such as a wrong key; None while all models are in use."""
        return next((why for model in self._models().values() if (why := model.client.broken)), None)

    @property
    def keeps_replies(self) -> bool:
        """Whether replies are cached, so that repeating the same questions costs nothing."""
        return self._cache is not None

    @property
    def is_in_trouble(self) -> bool:
        """Whether a question was not asked because its model is unavailable or the budget does not cover it."""
        return self.over_budget > 0 or self.broken is not None

    @property
    def is_incomplete(self) -> bool:
        """Whether a question was not asked, or no question got a reply."""
        return self.is_in_trouble or self.questions == self.unanswered > 0

    @property
    def overshoots(self) -> list[str]:
        """Return one sentence for each budget limit that was exceeded."""
        budgets = {id(model.client.budget): model.client.budget for model in self._models().values()}
        return [sentence for budget in budgets.values() for sentence in budget.overshoots]

    def calls_of(self, record_ids: Sequence[str], sessions: Iterable[int]) -> dict[int, list[list[str]]]:
        """Remove the entries of some records from the ledger and return the references of their replies, by session."""
        return {
            session: [
                [ref for entry in self.ledger.take(session, record) if (ref := entry.ref)] for record in record_ids
            ]
            for session in sessions
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the models and their usage as JSON for the manifest, without secrets."""
        return {
            "roles": {
                role: {
                    **judge.connector.identity,
                    "effort": judge.model.effort,
                    "max_tokens": judge.model.max_tokens,
                    "temperature": judge.model.temperature,
                    "batch": isinstance(judge, Judge) and judge.batches is not None,
                }
                for role, judge in self._models().items()
            },
            "prices": self.prices.version,
            "cache": self._cache is not None,
            **self.ledger.whole()._asdict(),
        }

    def stop(self) -> None:
        """Start no batch that would outlast the run, which is about to end."""
        for judge in self.judges.values():
            if judge.batches is not None:
                judge.batches.stop()

    async def close(self) -> None:
        """Close batches and connections, and wait until the cache is written."""
        for judge in self.judges.values():
            if judge.batches is not None:
                await judge.batches.close()
        await asyncio.gather(*(model.connector.close() for model in self._models().values()))
        if self._cache is not None:
            await self._cache.close()

    def _models(self) -> dict[str, Judge | Embedder]:
        return {**self.judges, **({} if self.embedder is None else {EMBED: self.embedder})}

    # -- judge.ask ------------------------------------------------------------------------------------------------

    async def _judge(self, body: Mapping[str, Any]) -> dict[str, Any]:
        asker, requests = asker_of(body), requests_of(body)
        if len(requests) == 1:
            return {"replies": [await self._one(asker, requests[0])]}
        return {"replies": await asyncio.gather(*(self._one(asker, request) for request in requests))}

    async def _one(self, asker: Asker, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            role = role_of(request)
            judge = self._judge_of(role)
            ask = ask_of(request, judge.model)
            if ask.schema is not None:
                check_schema(ask.schema)
        except (BadAsk, VerdictError) as bad:
            return {"error": bad.error.to_body()}
        key = judge.key(ask)
        self.questions += 1
        try:
            if self.preview is not None:
                resolved, shared = await self._previewed(judge, ask, key), False
            else:
                resolved, shared = await self._shared_calls.share((role, key.digest), lambda: judge.resolve(ask, key))
        except Unresolved as failure:
            self._book_failure(asker, role, failure)
            return {"error": failure.error.to_body()}
        except asyncio.CancelledError as left:
            if isinstance(left.__cause__, Unresolved):
                self._book_failure(asker, role, left.__cause__)
            raise
        cached = shared or resolved.cached
        spent = NOTHING if cached else resolved.spent
        self.ledger.book(*asker, Entry(resolved.ref, *spent, cached=cached))
        self._keep(key, role, resolved.reply)
        return {
            "value": resolved.value,
            "text": resolved.reply.text,
            "ref": resolved.ref,
            "model": resolved.reply.model,
            "cached": cached,
            "cost_usd": spent.cost_usd,
        }

    def _judge_of(self, role: str) -> Judge:
        judge = self.judges.get(role)
        if judge is None:
            raise BadAsk(f"Unknown judge role {role!r}; this run has: {', '.join(self.judges)}.")
        return judge

    async def _previewed(self, judge: Judge, ask: Ask, key: JudgeKey) -> Resolved:
        """Count the call of a dry run and return the cached answer; raise `Unresolved` where there is none."""
        assert self.preview is not None
        found = await judge.cached(ask, key)
        if found is None:
            self.preview.count(key, *_most(judge, ask))
            raise Unresolved(DRY_RUN, key, NOTHING)
        self.preview.count_cached(key)
        return found

    def _book_failure(self, asker: Asker, role: str, failure: Unresolved) -> None:
        """Book a question without an answer; the cost of a shared call is booked once, on the first that gets it."""
        self.over_budget += failure.error.code == "judge.budget"
        self.truncated += failure.error.code == "judge.truncated"
        self.filtered += failure.error.code == "judge.refused"
        self.unanswered += failure.reply is None
        spent = failure.spent if failure.spent.calls and not failure.is_booked else NOTHING
        failure.is_booked = True
        self.ledger.book(*asker, Entry(failure.ref, *spent, failed=True))
        if failure.reply is not None:
            self._keep(failure.key, role, failure.reply, failure.error.message)

    def _keep(self, key: JudgeKey, role: str, reply: Reply, problem: str = "") -> None:
        if self.replies is None:
            return
        try:
            self.replies.add(key.digest[:REF_CHARS], key, role, reply, problem)
        except OSError as error:
            # The disk is full. The scores matter more than the raw replies; the results file reports the loss.
            self.error, self.replies = error, None

    # -- embed.ask ------------------------------------------------------------------------------------------------

    async def _embed(self, embedder: Embedder, body: Mapping[str, Any]) -> dict[str, Any]:
        asker, texts = asker_of(body), texts_of(body)
        if self.preview is not None:
            raise RequestFailed(DRY_RUN)
        try:
            made = await embedder.embed(texts)
        except CallFailed as failure:
            self.over_budget += failure.error.code == "judge.budget"
            self.ledger.book(*asker, Entry("", *failure.spent, failed=True))
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise asyncio.CancelledError from failure
            raise RequestFailed(failure.error) from failure
        self.ledger.book(*asker, Entry("", *made.spent, cached=made.cached))
        return {"vectors": made.vectors}


def _most(judge: Judge, ask: Ask) -> tuple[int, float | None]:
    """Return an upper bound of what a question uses without a repair.

    Returns:
        Tokens, and USD or None where the price is unknown.
    """
    bound = input_tokens_bound(ask)
    return bound + ask.max_tokens, judge.client.worst_case_usd(bound, ask.max_tokens)


DRY_RUN = WireError("judge.dry_run", "No call was made, because this is a dry run.", "", "config")
