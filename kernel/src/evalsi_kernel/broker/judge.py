"""One model under one role: a question answered from the cache, or by a call whose reply is held to the schema.

It must not know who asks, nor on whose bill it goes.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, NamedTuple

from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.batches import Batches
from evalsi_kernel.broker.caller import NOTHING, Caller, CallFailed, Spent
from evalsi_kernel.broker.connector import Connector, may_be_billed
from evalsi_kernel.broker.judge_cache import JudgeCache
from evalsi_kernel.broker.judge_key import JudgeKey, judge_key
from evalsi_kernel.broker.prices import input_tokens_bound
from evalsi_kernel.broker.settings import ModelSettings
from evalsi_kernel.broker.verdict import VerdictError, parse_verdict, repair_ask
from evalsi_protocol.errors import WireError

REF_CHARS = 16


class Resolved(NamedTuple):
    """A question answered: the reply, the value that fits the schema, and what it took."""

    key: JudgeKey
    reply: Reply
    value: Any
    spent: Spent
    cached: bool

    @property
    def ref(self) -> str:
        """Under which results hold the reply."""
        return self.key.digest[:REF_CHARS]


class Unresolved(Exception):
    """A question without an answer: why, what it took all the same, and the reply that was none."""

    def __init__(self, error: WireError, key: JudgeKey, spent: Spent, reply: Reply | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.key = key
        self.spent = spent
        self.reply = reply
        self.is_booked = False

    @property
    def ref(self) -> str:
        """Under which results hold the reply; "" where there was none."""
        return self.key.digest[:REF_CHARS] if self.reply is not None else ""


class Judge:
    """A model under a role.

    Args:
        model: what the user says of it.
        connector: makes one call.
        caller: makes it within budget and pace.
        cache: of replies; None asks anew each time.
        batches: answer instead of single calls; None makes these.
    """

    def __init__(
        self,
        model: ModelSettings,
        connector: Connector,
        caller: Caller,
        cache: JudgeCache | None,
        batches: Batches | None = None,
    ) -> None:
        self.model = model
        self.connector = connector
        self.caller = caller
        self.batches = batches
        self._cache = cache

    def key(self, ask: Ask) -> JudgeKey:
        """What the question is known by, in the cache and in results."""
        return judge_key(self.connector.identity, ask)

    async def cached(self, ask: Ask, key: JudgeKey) -> Resolved | None:
        """The answer that the cache holds; one that does not fit the schema is none."""
        reply = None if self._cache is None else await self._cache.get(key.digest)
        if reply is None:
            return None
        try:
            return Resolved(key, reply, _value(ask, reply), NOTHING, cached=True)
        except VerdictError:
            return None

    async def resolve(self, ask: Ask, key: JudgeKey) -> Resolved:
        """The answer: from the cache, or from a call, and from a second one when the first reply does not fit.

        Raises:
            Unresolved: there is none.
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
        """Return what to ask after a reply that is no answer; None where asking again would not help."""
        if problem.code == "judge.empty" and self.batches is None:
            return ask
        # A batch knows its questions by their content, so that the same one would bring the same reply.
        if problem.code in ("judge.empty", "judge.unparsable") and ask.schema is not None:
            return repair_ask(ask, reply.text, problem.message)
        return None

    async def _call(self, ask: Ask, key: JudgeKey, before: Spent, last: Reply | None = None) -> tuple[Reply, Spent]:
        """One reply, with what has been spent on the question until then; `last` is the reply that was none."""
        try:
            reply, spent = await self.caller.call(
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
    """The value of a reply; raises `VerdictError` where there is none that fits."""
    return parse_verdict(reply.text, ask.schema, reply.form, reply.finish, ask.messages)
