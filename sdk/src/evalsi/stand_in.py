"""A scripted judge and embedding model that answer an evaluator in a test, in place of the kernel.

Answers that no kernel would give fail the test.
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
    """A scripted answer is one that no judge could give. The message says what is wrong with it."""


def failure(code: str, message: str = "") -> AskError:
    """Return an error for a scripted judge to give instead of an answer: `failure("judge.refused")`.

    Args:
        code: error code, listed in docs/reference/error-codes.md.
        message: error message; "" takes the description of the code.

    Raises:
        ValueError: the code is unknown.
    """
    known = ERROR_CODES.get(code)
    if known is None:
        raise ValueError(f"There is no error code {code!r}. Use one of docs/reference/error-codes.md.")
    return AskError(WireError(code, message or known.meaning, "", known.source, known.retry))


class StandIn:
    """Answer an evaluator's requests, and record them.

    Args:
        judge: a function from a question to its answer, or a list of answers in order. An answer is a JSON value that
            matches the question's schema, a text if there is no schema, a `JudgeReply`, or a returned or raised
            `failure`.
        embed: a function from a text to its vector.
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
        """Answer a request at once. Exceptions other than `AskError` are kept in `fault`."""
        future: Future[dict[str, Any]] = Future()
        try:
            if method not in self.answers:
                raise _not_bound(method)
            future.set_result(self.answers[method](body))
        except AskError as error:
            future.set_exception(error)
        except BaseException as fault:  # noqa: BLE001 -- raised again after the evaluator has run.
            self.fault = self.fault or fault
            future.set_exception(fault)
        return future

    def raise_fault(self) -> None:
        """Raise the exception that answering raised, if any."""
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
            raise ImpossibleReply("The vectors differ in length. Correct `embed`.")
        return {"vectors": vectors}


class _InOrder:
    """A judge with a list of answers, one for each question."""

    def __init__(self, answers: Sequence[Any]) -> None:
        if isinstance(answers, str | Mapping):
            raise TypeError(
                f"judge is {answers!r}. Pass a list of answers, or a function from a question to an answer."
            )
        self._count = len(answers)
        self._left = iter(answers)

    def __call__(self, question: Question) -> Any:
        for answer in self._left:
            return answer
        raise ImpossibleReply(
            f"All {self._count} answers are used up, and there is another question: {question!r:.400}"
        )


def _reply(question: Question, answer: Any) -> JudgeReply:
    """Return an answer as a `JudgeReply`. Raise `ImpossibleReply` if the kernel could not give it."""
    whole = isinstance(answer, JudgeReply)
    if question.schema is None:
        text = answer.text if whole else answer
        if not isinstance(text, str) or (whole and answer.value is not None):
            raise ImpossibleReply(f"The question has no schema, but the answer is {answer!r:.80}. Answer with a text.")
        return answer if whole else JudgeReply(None, text)
    value = answer.value if whole else answer
    check_value(value)
    wrong = misfit(question.schema, value)
    if wrong:
        raise ImpossibleReply(f"{wrong}. For an answer that violates the schema, use failure('judge.unparsable').")
    return answer if whole else JudgeReply(value, json.dumps(value, ensure_ascii=False))


def _check_message(message: Mapping[str, Any]) -> None:
    fits = set(message) == {"role", "content"} and message["role"] in _ROLES and isinstance(message["content"], str)
    if not fits:
        raise TypeError(f"A message is {message!r:.80}. Write {{'role': {' or '.join(_ROLES)}, 'content': text}}.")


def _not_bound(method: str) -> AskError:
    argument = {"judge.ask": "judge", "embed.ask": "embed"}.get(method)
    hint = f"Use run_pack(…, answers={{{method!r}: …}})." if argument is None else f"Use Bench({argument}=…)."
    return AskError(WireError("capability.not_bound", f"Nothing answers {method!r} here.", hint, "config"))
