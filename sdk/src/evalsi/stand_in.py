"""Whoever answers an evaluator in a test, in the kernel's place: a judge and an embedding model that the test writes.

What no kernel would answer fails the test, whatever the evaluator makes of it. It must not know an evaluator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from evalsi.judging import AskError, JudgeReply, Question
from evalsi.rehearsal import Answers
from evalsi.reply_check import misfit, schema_fault
from evalsi.score import finite
from evalsi_protocol.error_codes import ERROR_CODES
from evalsi_protocol.errors import WireError
from evalsi_protocol.values import check_value

Judge = Callable[[Question], Any] | Sequence[Any]
Embed = Callable[[str], Sequence[float]]
_ROLES = ("system", "user", "assistant")


class ImpossibleReply(AssertionError):
    """No judge could answer so: the test proves nothing. The sentence says what does not fit."""


def failure(code: str, message: str = "") -> AskError:
    """What a judge gives in a test when it gives no answer: `failure("judge.refused")`.

    Args:
        code: of the error, one of the reference's.
        message: what the error says; "" takes the code's own meaning.

    Raises:
        ValueError: there is no such code.
    """
    known = ERROR_CODES.get(code)
    if known is None:
        raise ValueError(f"There is no error code {code!r}. Take one of docs/reference/error-codes.md.")
    return AskError(WireError(code, message or known.meaning, "", known.source, known.retry))


class StandIn:
    """Answers what an evaluator asks, and remembers it.

    Args:
        judge: a function from the question to its answer, or a list of answers in order. An answer is a JSON value that
            fits the question's schema, a text where it has none, a whole `JudgeReply`, or a `failure`, also raised.
        embed: from a text to its vector.
    """

    def __init__(self, judge: Judge | None = None, embed: Embed | None = None) -> None:
        self.questions: list[Question] = []
        self.texts: list[str] = []
        self.fault: BaseException | None = None
        self._embed = embed
        self.answers: Answers = {
            **({} if judge is None else {"judge.ask": self._judged}),
            **({} if embed is None else {"embed.ask": self._embedded}),
        }
        self._judge: Callable[[Question], Any] = judge if callable(judge) else _InOrder(judge or ())

    def ask(self, method: str, body: dict[str, Any]) -> Future[dict[str, Any]]:
        """Answer at once; what fails otherwise than by an `AskError` is kept as the test's own `fault`."""
        future: Future[dict[str, Any]] = Future()
        try:
            if method not in self.answers:
                raise _not_bound(method)
            future.set_result(self.answers[method](body))
        except AskError as error:
            future.set_exception(error)
        except BaseException as fault:  # noqa: BLE001 -- it is raised again, once the evaluator has had its turn.
            self.fault = self.fault or fault
            future.set_exception(fault)
        return future

    def raise_fault(self) -> None:
        """Fail the test by what failed in answering, where that is so."""
        fault, self.fault = self.fault, None
        if fault is not None:
            raise fault

    def _judged(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"replies": [self._replied(Question(**request)) for request in body["requests"]]}

    def _replied(self, question: Question) -> dict[str, Any]:
        self.questions.append(question)
        for message in question.messages:
            _check_message(message)
        fault = "" if question.schema is None else schema_fault(question.schema)
        if fault:
            return {"error": failure("judge.schema", fault).error.to_body()}
        try:
            answer = self._judge(question)
        except AskError as error:
            answer = error
        if isinstance(answer, AskError):
            return {"error": answer.error.to_body()}
        return _reply(question, answer)._asdict()

    def _embedded(self, body: dict[str, Any]) -> dict[str, Any]:
        assert self._embed is not None
        self.texts += body["texts"]
        vectors = [[finite(part, "a vector") for part in self._embed(text)] for text in body["texts"]]
        if len({len(vector) for vector in vectors}) > 1:
            raise ImpossibleReply("The vectors are not of one length. Correct `embed`.")
        return {"vectors": vectors}


class _InOrder:
    """A judge with a list of answers, one a question."""

    def __init__(self, answers: Sequence[Any]) -> None:
        if isinstance(answers, str | Mapping):
            raise TypeError(f"judge is {answers!r}. Write a list of answers, or a function from the question to one.")
        self._count = len(answers)
        self._left = iter(answers)

    def __call__(self, question: Question) -> Any:
        for answer in self._left:
            return answer
        raise ImpossibleReply(f"A further question came after {self._count} answers: {question!r:.400}")


def _reply(question: Question, answer: Any) -> JudgeReply:
    """An answer as a whole reply; raises `ImpossibleReply` when the kernel could not give it."""
    whole = isinstance(answer, JudgeReply)
    if question.schema is None:
        text = answer.text if whole else answer
        if not isinstance(text, str) or (whole and answer.value is not None):
            raise ImpossibleReply(f"The question has no schema, and the answer is {answer!r:.80}. Answer with a text.")
        return answer if whole else JudgeReply(None, text)
    value = answer.value if whole else answer
    check_value(value)
    wrong = misfit(question.schema, value)
    if wrong:
        raise ImpossibleReply(f"{wrong}. For a judge that answers off its schema give failure('judge.unparsable').")
    return answer if whole else JudgeReply(value, json.dumps(value, ensure_ascii=False))


def _check_message(message: Mapping[str, Any]) -> None:
    fits = set(message) == {"role", "content"} and message["role"] in _ROLES and isinstance(message["content"], str)
    if not fits:
        raise TypeError(f"A message is {message!r:.80}. Write {{'role': {' or '.join(_ROLES)}, 'content': text}}.")


def _not_bound(method: str) -> AskError:
    argument = {"judge.ask": "judge", "embed.ask": "embed"}.get(method)
    hint = f"Use run_pack(…, answers={{{method!r}: …}})." if argument is None else f"Use Bench({argument}=…)."
    return AskError(WireError("capability.not_bound", f"Nothing answers {method!r} here.", hint, "config"))
