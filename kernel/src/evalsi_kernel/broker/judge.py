"""Answer a question with one judge model: from the cache, or by a call whose reply is validated against the schema."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, NamedTuple

from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.batches import Batches
from evalsi_kernel.broker.connector import Connector, may_be_billed
from evalsi_kernel.broker.judge_cache import JudgeCache
from evalsi_kernel.broker.judge_key import JudgeKey, judge_key
from evalsi_kernel.broker.model_client import NOTHING, CallFailed, ModelClient, Spent
from evalsi_kernel.broker.prices import input_tokens_bound
from evalsi_kernel.broker.settings import ModelSettings
from evalsi_kernel.broker.verdict import VerdictError, parse_verdict, repair_ask
from evalsi_protocol.errors import WireError

REF_CHARS = 16


class Resolved(NamedTuple):
    """An answered question: the reply, the validated value, the usage, and whether it was cached."""

    key: JudgeKey
    reply: Reply
    value: Any
    spent: Spent
    cached: bool

    @property
    def ref(self) -> str:
        """Reference of the reply in results."""
        return self.key.digest[:REF_CHARS]


class Unresolved(Exception):
    """A question without a valid answer, with the usage of its calls and the invalid reply, if any."""

    def __init__(self, error: WireError, key: JudgeKey, spent: Spent, reply: Reply | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.key = key
        self.spent = spent
        self.reply = reply
        self.is_booked = False

    @property
    def ref(self) -> str:
        """Reference of the invalid reply in results; "" where there is none."""
        return self.key.digest[:REF_CHARS] if self.reply is not None else ""


class Judge:
    """A model bound to a judge role.

    Args:
        model: settings of the model.
        connector: makes one call.
        client: applies budget, rate limit and retries.
        cache: the reply cache; None disables caching.
        batches: the batch API to use; None makes single calls.
    """

    def __init__(
        self,
        model: ModelSettings,
        connector: Connector,
        client: ModelClient,
        cache: JudgeCache | None,
        batches: Batches | None = None,
    ) -> None:
        self.model = model
        self.connector = connector
        self.client = client
        self.batches = batches
        self._cache = cache

    def key(self, ask: Ask) -> JudgeKey:
        """Return the key of the question, used in the cache and in results."""
        return judge_key(self.connector.identity, ask)

    async def cached(self, ask: Ask, key: JudgeKey) -> Resolved | None:
        """Return the cached answer; None where there is none that fits the schema."""
        reply = None if self._cache is None else await self._cache.get(key.digest)
        if reply is None:
            return None
        try:
            return Resolved(key, reply, _value(ask, reply), NOTHING, cached=True)
        except VerdictError:
            return None

    async def resolve(self, ask: Ask, key: JudgeKey) -> Resolved:
        """Return the answer from the cache or a call; a reply that does not fit the schema is requested once more.

        Raises:
            Unresolved: there is no valid answer.
        """
        found = await self.cached(ask, key)
        if found is not None:
            return found
        with nullcontext() if self.batches is None else self.batches.question(key.digest):
            return await self._answered(ask, key)

    async def _answered(self, ask: Ask, key: JudgeKey) -> Resolved:
        reply, spent = await self._call(ask, key, NOTHING)
        try:
            value = _value(ask, reply)
        except VerdictError as problem:
            second = self._second_ask(ask, reply, problem)
            if second is None:
                raise Unresolved(problem.error, key, spent, reply) from problem
            reply, spent = await self._call(second, key, spent, reply)
            try:
                value = _value(ask, reply)
            except VerdictError as again:
                raise Unresolved(again.error, key, spent, reply) from again
        if self._cache is not None:
            self._cache.put(key, reply)
        return Resolved(key, reply, value, spent, cached=False)

    def _second_ask(self, ask: Ask, reply: Reply, problem: VerdictError) -> Ask | None:
        """Return the request to make after an invalid reply; None where asking again does not help."""
        if problem.code == "judge.empty" and self.batches is None:
            return ask
        # A batch identifies requests by their content, so that the same request would return the same reply.
        if problem.code in ("judge.empty", "judge.unparsable") and ask.schema is not None:
            return repair_ask(ask, reply.text, problem.message)
        return None

    async def _call(self, ask: Ask, key: JudgeKey, before: Spent, last: Reply | None = None) -> tuple[Reply, Spent]:
        """Make one call; return its reply and the usage so far. `last` is the invalid reply before it, if any."""
        try:
            reply, spent = await self.client.call(
                lambda: self._reply(ask, key), input_tokens_bound(ask), ask.max_tokens
            )
        except CallFailed as failure:
            raise Unresolved(failure.error, key, before.plus(failure.spent), last) from failure
        return reply, spent if before is NOTHING else before.plus(spent)

    async def _reply(self, ask: Ask, key: JudgeKey) -> Reply:
        if self.batches is not None:
            return await self.batches.ask(ask, self.key(ask).digest, key.digest)
        with may_be_billed():
            return await self.connector.complete(ask)


def _value(ask: Ask, reply: Reply) -> Any:
    """Return the validated value of a reply; raise `VerdictError` where there is none."""
    return parse_verdict(reply.text, ask.schema, reply.form, reply.finish, ask.messages)
