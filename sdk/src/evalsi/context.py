"""What an evaluator may ask of the kernel while it scores: a judge, embeddings, a sandbox, blobs.

A pack holds no key and needs no network; whatever it asks for goes through here. It must not know a provider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from evalsi.judging import AskError, JudgeReply, Message, Question, ask_body, replies_of

if TYPE_CHECKING:
    from concurrent.futures import Future

    from evalsi.record import Record


class Asker(Protocol):
    """Whoever can put a request on the wire; one that has `ask_in_loop` too gives what a task can await."""

    def ask(self, method: str, body: dict[str, Any]) -> Future[dict[str, Any]]: ...


class Context:
    """Handed to an evaluator that takes `ctx`.

    Args:
        asker: puts requests on the wire.
        session: of the evaluator.
        record_id: of the record that is being scored, so that what it costs is booked on it.
    """

    def __init__(self, asker: Asker, session: int = 0, record_id: str = "") -> None:
        self._asker = asker
        self._session = session
        self._record_id = record_id

    def of(self, record: Record) -> Context:
        """The same for one record, by the id that tells it from its other trials too."""
        return Context(self._asker, self._session, record.wire.get("id", ""))

    async def judge(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, **settings: Any
    ) -> JudgeReply:
        """Ask the judge one question.

        Args:
            messages: chat messages, each `{"role": …, "content": text}`.
            schema: JSON Schema of the answer, an object at its top; None asks for plain text.
            settings: further fields of a `Question`.

        Raises:
            AskError: there is no judge ("capability.not_bound"), it failed ("provider.…"), or what it said is no answer
                ("judge.…"). Let it through: the outcome is then an error that says why, and never a score.
        """
        return _one(await self.judge_all([Question(messages, schema, **settings)]))

    async def judge_all(self, questions: Sequence[Question]) -> list[JudgeReply | AskError]:
        """Ask several questions at once; the replies stand in their order, and one that failed is its `AskError`.

        Raises:
            AskError: none could be asked.
        """
        if not questions:
            return []
        body = ask_body(self._session, self._record_id, questions)
        return replies_of(await self.ask("judge.ask", body), len(questions))

    def judge_and_wait(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, **settings: Any
    ) -> JudgeReply:
        """Ask the judge from an evaluator that is not async; otherwise as `judge`. Such a pack has one call open."""
        body = ask_body(self._session, self._record_id, [Question(messages, schema, **settings)])
        return _one(replies_of(self.ask_and_wait("judge.ask", body), 1))

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of some texts, in their order.

        Raises:
            AskError: there is no embedding model ("capability.not_bound"), or it failed.
        """
        body = {"session": self._session, "record": self._record_id, "texts": list(texts)}
        vectors: list[list[float]] = (await self.ask("embed.ask", body))["vectors"]
        return vectors

    async def ask(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        """Ask for a capability by its protocol name, such as "judge.ask".

        Raises:
            AskError: the kernel answered with an error, "capability.not_bound" when the user named no judge.
        """
        ask_in_loop = getattr(self._asker, "ask_in_loop", None)
        if ask_in_loop is not None:
            answer: dict[str, Any] = await ask_in_loop(method, body)
            return answer
        import asyncio  # 50 ms that a pack without async evaluators need not pay.

        return await asyncio.wrap_future(self._asker.ask(method, body))

    def ask_and_wait(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        """The same for an evaluator that is not async; the record's clock stands still meanwhile."""
        return self._asker.ask(method, body).result()


def _one(replies: Sequence[JudgeReply | AskError]) -> JudgeReply:
    (reply,) = replies
    if isinstance(reply, AskError):
        raise reply
    return reply
