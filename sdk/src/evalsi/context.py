"""The `ctx` of an evaluator: calls to judges, embedding models and other capabilities of the kernel.

The kernel makes these calls, so that a pack needs no API key and no network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from evalsi.judging import AskError, JudgeReply, Message, Question, ask_body, replies_of

if TYPE_CHECKING:
    from concurrent.futures import Future

    from evalsi.record import Record


class Asker(Protocol):
    """Sends requests to the kernel. An implementation that also has `ask_in_loop` returns asyncio futures."""

    def ask(self, method: str, body: dict[str, Any]) -> Future[dict[str, Any]]: ...


class Context:
    """Gives an evaluator with an argument `ctx` access to judges and embedding models.

    Args:
        asker: sends requests to the kernel.
        session: session of the evaluator.
        record_id: id of the record being scored, to which usage is attributed.
    """

    def __init__(self, asker: Asker, session: int = 0, record_id: str = "") -> None:
        self._asker = asker
        self._session = session
        self._record_id = record_id

    def of(self, record: Record) -> Context:
        """Return a context for one record of one trial."""
        return Context(self._asker, self._session, record.wire.get("id", ""))

    async def judge(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, **settings: Any
    ) -> JudgeReply:
        """Ask the judge one question.

        Args:
            messages: chat messages, each `{"role": …, "content": text}`.
            schema: JSON Schema of the answer, with an object at the top level; None asks for plain text.
            settings: other fields of `Question`.

        Raises:
            AskError: no judge is configured ("capability.not_bound"), the call failed ("provider.…"), or the reply is
                not a valid answer ("judge.…"). Do not catch it: the outcome becomes an error that states the reason.
        """
        return _one(await self.judge_all([Question(messages, schema, **settings)]))

    async def judge_all(self, questions: Sequence[Question]) -> list[JudgeReply | AskError]:
        """Ask several questions at once. Return the replies in order; a failed question gives an `AskError`.

        Raises:
            AskError: the whole request failed.
        """
        if not questions:
            return []
        body = ask_body(self._session, self._record_id, questions)
        return replies_of(await self.ask("judge.ask", body), len(questions))

    def judge_and_wait(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, **settings: Any
    ) -> JudgeReply:
        """Ask the judge one question from a synchronous evaluator, and block until the reply. See `judge`."""
        body = ask_body(self._session, self._record_id, [Question(messages, schema, **settings)])
        return _one(replies_of(self.ask_and_wait("judge.ask", body), 1))

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the embedding vectors of texts, in the same order.

        Raises:
            AskError: no embedding model is configured ("capability.not_bound"), or the call failed.
        """
        body = {"session": self._session, "record": self._record_id, "texts": list(texts)}
        vectors: list[list[float]] = (await self.ask("embed.ask", body))["vectors"]
        return vectors

    async def ask(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        """Call a capability of the kernel by its protocol name, such as "judge.ask".

        Raises:
            AskError: the kernel answered with an error, such as "capability.not_bound" if no judge is configured.
        """
        ask_in_loop = getattr(self._asker, "ask_in_loop", None)
        if ask_in_loop is not None:
            answer: dict[str, Any] = await ask_in_loop(method, body)
            return answer
        import asyncio  # Imported late: it takes 50 ms.

        return await asyncio.wrap_future(self._asker.ask(method, body))

    def ask_and_wait(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        """Call a capability from a synchronous evaluator. The wait does not count towards the record's timeout."""
        return self._asker.ask(method, body).result()


def _one(replies: Sequence[JudgeReply | AskError]) -> JudgeReply:
    (reply,) = replies
    if isinstance(reply, AskError):
        raise reply
    return reply
